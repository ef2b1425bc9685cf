"""Measures steps through OpenEnv on the embedded phone, beside OpenEnv's echo environment with the same payload.

Experts' actions are recorded first and replayed under the clock: in Gymnasium; through our OpenEnv server; and as
messages to the environment that `openenv init` writes, which echoes them. A message is so long that its way there and
back, twice, has as many bytes as our actions and answers. Servers and clients live in this process, so processor time
counts both ends. It depends less on other programs than steps per second, by the wall clock, do.

    python -m benchmarks.openenv --seeds 0 1 2 --json openenv.json        # in the environment of make test-openenv
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
from coach_gym.envs.suites.play import play  # noqa: E402
from coach_gym.live.serving import listening  # noqa: E402

SCREENS = ((270, 600), (540, 1200))
FAMILIES = 20
WAYS = ("gymnasium", "openenv", "echo")
Episodes = list[tuple[dict[str, Any], list[str]]]
"""Options of a reset, and the actions after it."""


@dataclass
class Cost:
    """Seconds that steps took, by the wall clock and of this process."""

    steps: int = 0
    wall: float = 0.0
    core: float = 0.0

    def add(self, call: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """Times calls, and returns what they return."""
        wall, core = time.perf_counter(), time.process_time()
        results = [call(argument) for argument in arguments]
        self.wall += time.perf_counter() - wall
        self.core += time.process_time() - core
        self.steps += len(arguments)
        return results

    def row(self) -> dict[str, float]:
        """Returns steps per second and milliseconds of a core a step."""
        return {"steps_per_s": self.steps / self.wall, "core_ms": 1e3 * self.core / self.steps, "steps": self.steps}


def recorded(env: gym.Env, seed: int) -> Episodes:
    """Records the expert's actions on an instance of each of the first families."""
    episodes = []
    for task in list(env.unwrapped.suite.families)[:FAMILIES]:  # type: ignore[attr-defined]
        options = {"task": task, "params_seed": seed}
        episodes.append((options, play(env, *env.reset(options=options)).actions))
    return episodes


def echo_app(folder: Path) -> Any:
    """Returns the application of a new environment as `openenv init` writes it, which echoes messages."""
    if not (folder / "echo").is_dir():
        command = [sys.executable, "-m", "openenv.cli", "init", "echo", "--output-dir", str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        sys.path.insert(0, str(folder))
    return importlib.import_module("echo.server.app").app


def measure(screen: tuple[int, int], seed: int, folder: Path) -> dict[str, Any]:
    """Measures the three ways by turns, because a shared machine is faster at one time than at another."""
    from openenv.core import GenericEnvClient

    from coach_gym.bridges.openenv_server import make_app

    costs = {way: Cost() for way in WAYS}
    payload = 0
    with ExitStack() as stack:
        env = stack.enter_context(gym.make("AndroidWorld-v0", screen_size=screen))
        apps = (make_app("AndroidWorld-v0", 1, screen_size=screen), echo_app(folder))
        addresses = [stack.enter_context(listening(lambda _, app=app: app, 0)) for app in apps]  # type: ignore[misc]
        ours, echo = (stack.enter_context(GenericEnvClient(base_url=each).sync()) for each in addresses)
        echo.reset()
        for options, actions in recorded(env, seed):
            env.reset(options=options)
            costs["gymnasium"].add(env.step, actions)
            ours.reset(**options)
            results = costs["openenv"].add(ours.step, [{"text": action} for action in actions])
            sizes = [_size(action, result) for action, result in zip(actions, results, strict=True)]
            # one way there, and back as the observation and again in its metadata
            costs["echo"].add(echo.step, [{"message": "x" * (size // 3)} for size in sizes])
            payload += sum(sizes)
    rows = {way: cost.row() for way, cost in costs.items()}
    return {"seed": seed, **rows, "kilobytes": payload / costs["openenv"].steps / 1e3}


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.openenv", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds of the task instances")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    command = f"python -m benchmarks.openenv --seeds {' '.join(map(str, options.seeds))}"
    print(f"{'screen':>10}{'through':>12}{'core ms a step':>18}{'steps/s':>16}{'kB a step':>12}{'steps':>8}")
    runs, headline = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for width, height in SCREENS:
            screen = f"{width}x{height}"
            runs[screen] = [measure((width, height), seed, Path(folder)) for seed in options.seeds]
            for way in WAYS:
                core, rate = ([run[way][name] for run in runs[screen]] for name in ("core_ms", "steps_per_s"))
                size = "" if way == "gymnasium" else f"{mean(run['kilobytes'] for run in runs[screen]):.0f}"
                steps = sum(run[way]["steps"] for run in runs[screen])
                print(f"{screen:>10}{way:>12}{_spread(core):>18}{_spread(rate):>16}{size:>12}{steps:>8}")
                headline |= {f"{way}_core_ms_{screen}": mean(core), f"{way}_steps_per_s_{screen}": mean(rate)}
    print(f"rerun: {command}")
    if options.json:
        result = {
            "headline": headline, "runs": runs, "command": command, "load": os.getloadavg(), "cores": os.cpu_count(),
            "python": sys.version, "machine": platform.platform(),
        }  # fmt: skip
        options.json.write_text(json.dumps(result, indent=2) + "\n")


def _size(action: str, result: Any) -> int:
    """Bytes of an action and of the answer."""
    answer = {**result.observation, "metadata": result.metadata, "reward": result.reward, "done": result.done}
    return len(json.dumps(action)) + len(json.dumps(answer))


def _spread(values: list[float]) -> str:
    return f"{mean(values):.1f} ± {stdev(values) if len(values) > 1 else 0.0:.1f}"


if __name__ == "__main__":
    main()
