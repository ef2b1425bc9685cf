"""Measures how throughput grows when embedded phones run in processes: `workers="process"` against one environment.

Experts' actions are recorded first and replayed under the clock, by one environment in this process and by two in
processes of their own. `of_linear` is the processor time of a step without processes over that with them, this
process's share included: the part of linear growth that is left when every core is busy. Other programs lower it, as
they empty the caches of processes that wait for one another; `speedup`, by the wall clock, suffers more.

    python -m benchmarks.workers --seeds 0 1 2 --json workers.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
from benchmarks.phone import record  # noqa: E402
from coach_gym.envs.vector import AndroidVectorEnv  # noqa: E402

SCREENS = ((270, 600), (1080, 2400))
SUITE = "AndroidWorld-v0"
PROCESSES = 2


@dataclass
class Cost:
    """Seconds that steps took.

    Attributes:
        steps: Number of steps.
        core: Processor seconds, of this process and of those of the environments.
        wall: Seconds by the clock on the wall.
    """

    steps: int = 0
    core: float = 0.0
    wall: float = 0.0

    @contextmanager
    def counting(self, elsewhere: Sequence[float] = ()) -> Iterator[list[float]]:
        """Times a `with` block, which gets the clocks of other processes and replaces them by what they show later."""
        clocks = list(elsewhere)
        core, wall = time.process_time(), time.perf_counter()
        yield clocks
        self.wall += time.perf_counter() - wall
        self.core += time.process_time() - core + sum(clocks) - sum(elsewhere)


class Clocked(gym.Wrapper):
    """Says how much processor time its process has used."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(**kwargs)
        return observation, {**info, "core": time.process_time()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        *results, info = super().step(action)
        observation, reward, terminated, truncated = results
        return observation, reward, terminated, truncated, {**info, "core": time.process_time()}


def alone(env: gym.Env, options: dict[str, Any], actions: list[str], cost: Cost) -> None:
    """Replays an episode in an environment of this process."""
    env.reset(options=options)
    with cost.counting():
        for action in actions:
            env.step(action)
    cost.steps += len(actions)


def together(envs: AndroidVectorEnv, options: dict[str, Any], actions: list[str], cost: Cost) -> None:
    """Replays an episode in every environment of a vector at once."""
    infos = envs.reset(options=options)[1]
    with cost.counting(infos["core"]) as clocks:
        for action in actions:
            envs.send([action] * envs.num_envs)
            for arrival in envs.recv(envs.num_envs):
                clocks[arrival.env_id] = arrival.info["core"]
    cost.steps += envs.num_envs * len(actions)


def measure(screen: tuple[int, int], seed: int) -> dict[str, float]:
    """Measures at one screen size, in an environment alone and in processes."""
    env = gym.make(SUITE, screen_size=screen)
    envs = AndroidVectorEnv(
        [lambda: Clocked(gym.make(SUITE, screen_size=screen).unwrapped)] * PROCESSES, workers="process"
    )
    episodes = record(env, seed)
    for options, actions in episodes[:5]:  # warm
        together(envs, options, actions, Cost())
    one, many = Cost(), Cost()
    for options, actions in episodes:  # by turns, because a shared machine is faster at one time than at another
        alone(env, options, actions, one)
        together(envs, options, actions, many)
    env.close()
    envs.close()
    ms = {"alone_core_ms": 1e3 * one.core / one.steps, "process_core_ms": 1e3 * many.core / many.steps}
    speedup = (many.steps / many.wall) / (one.steps / one.wall)
    return {**ms, "of_linear": ms["alone_core_ms"] / ms["process_core_ms"], "speedup": speedup, "steps": many.steps}


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds of the task instances")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    command = f"python -m benchmarks.workers --seeds {' '.join(map(str, options.seeds))}"
    names = ("alone_core_ms", "process_core_ms", "of_linear", "speedup")
    print(f"{'screen':>10}" + "".join(f"{name:>18}" for name in names) + f"{'steps':>8}")
    runs, headline = {}, {}
    for width, height in SCREENS:
        screen = f"{width}x{height}"
        runs[screen] = [measure((width, height), seed) for seed in options.seeds]
        cells = [[run[name] for run in runs[screen]] for name in names]
        print(f"{screen:>10}" + "".join(f"{_spread(cell):>18}" for cell in cells) + f"{runs[screen][0]['steps']:>8}")
        headline[f"of_linear_{screen}"] = mean(cells[2])
    print(f"rerun: {command}")
    if options.json:
        result = {
            "headline": headline, "runs": runs, "processes": PROCESSES, "cores": os.cpu_count(), "command": command,
            "load": os.getloadavg(), "python": sys.version, "machine": platform.platform(),
        }  # fmt: skip
        options.json.write_text(json.dumps(result, indent=2) + "\n")


def _spread(values: list[float]) -> str:
    return f"{mean(values):.2f} ± {stdev(values) if len(values) > 1 else 0.0:.2f}"


if __name__ == "__main__":
    main()
