"""Measures how throughput grows when embedded phones run in processes: `workers="process"` against one environment.

Experts' actions are recorded first and replayed under the clock, by one environment in this process and by two in
processes of their own, each served as soon as it is ready. All have played every episode before, so their caches are
full. The table gives the processor time of a step: `alone`, in the `children`, and in their `parent`, this process.
`of_linear` is the first over the sum of the others: the part of linear growth that is left when every core is busy.
`speedup` is that of throughput by the wall clock, which needs idle cores: 1.6 on two of them is 0.8 of linear. Other
programs lower both, as they empty the caches of processes that wait for one another.

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
from itertools import islice
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
        core: Processor seconds of this process.
        children: Processor seconds of the processes of environments.
        wall: Seconds by the clock on the wall.
    """

    steps: int = 0
    core: float = 0.0
    children: float = 0.0
    wall: float = 0.0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Times a `with` block in this process."""
        core, wall = time.process_time(), time.perf_counter()
        yield
        self.wall += time.perf_counter() - wall
        self.core += time.process_time() - core


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
    """Replays an episode in every environment of a vector, each at its own pace."""
    started = envs.reset(options=options)[1]["core"]
    clocks, left = list(started), [iter(actions[1:]) for _ in range(envs.num_envs)]
    with cost.counting():
        envs.send(actions[:1] * envs.num_envs)
        while envs.pending:
            for arrival in envs.recv():
                clocks[arrival.env_id] = arrival.info["core"]
                for action in islice(left[arrival.env_id], 1):
                    envs.send([action], [arrival.env_id])
    cost.children += sum(clocks) - sum(started)
    cost.steps += envs.num_envs * len(actions)


def measure(screen: tuple[int, int], seed: int) -> dict[str, float]:
    """Measures at one screen size, in an environment alone and in processes."""
    env = gym.make(SUITE, screen_size=screen)
    envs = AndroidVectorEnv(
        [lambda: Clocked(gym.make(SUITE, screen_size=screen).unwrapped)] * PROCESSES, workers="process"
    )
    episodes = [(options, actions) for options, actions in record(env, seed) if actions]
    for options, actions in episodes:  # warm
        together(envs, options, actions, Cost())
    one, many = Cost(), Cost()
    for options, actions in episodes:  # by turns, because a shared machine is faster at one time than at another
        alone(env, options, actions, one)
        together(envs, options, actions, many)
    env.close()
    envs.close()
    return {
        "alone_ms": 1e3 * one.core / one.steps,
        "children_ms": 1e3 * many.children / many.steps,
        "parent_ms": 1e3 * many.core / many.steps,
        "of_linear": (one.core / one.steps) / ((many.core + many.children) / many.steps),
        "speedup": (many.steps / many.wall) / (one.steps / one.wall),
        "steps": many.steps,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds of the task instances")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    command = f"python -m benchmarks.workers --seeds {' '.join(map(str, options.seeds))}"
    names = ("alone_ms", "children_ms", "parent_ms", "of_linear", "speedup")
    print(f"{'screen':>10}" + "".join(f"{name:>18}" for name in names) + f"{'steps':>8}")
    runs: dict[str, list[dict[str, float]]] = {}
    headline: dict[str, float] = {}
    for width, height in SCREENS:
        screen = f"{width}x{height}"
        runs[screen] = [measure((width, height), seed) for seed in options.seeds]
        columns = {name: [run[name] for run in runs[screen]] for name in names}
        cells = "".join(f"{_spread(column):>18}" for column in columns.values())
        print(f"{screen:>10}{cells}{runs[screen][0]['steps']:>8}")
        headline |= {f"of_linear_{screen}": mean(columns["of_linear"]), f"speedup_{screen}": mean(columns["speedup"])}
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
