"""Measures the speed of the embedded phone: screenshot and screen text in every step, through `gym.make`, on one core.

The workload is real: scripted experts solve every task family; their actions are recorded first and replayed under the
clock. The goals are 500 steps/s and a median reset of 2 ms at 270x600, and 60 steps/s at 1080x2400, on an idle core.
The columns in core seconds show the speed without other programs on the machine.

    python -m benchmarks.phone --seeds 0 1 2 --json phone.json
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
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
from coach_gym.envs.suites.play import play  # noqa: E402

SCREENS = ((270, 600), (1080, 2400))
SUITES = ("AndroidWorld-v0", "AndroidLab-v0")
WALL, CORE = 0, 1  # the two clocks


@dataclass
class Timing:
    """Seconds of every reset and every step, in wall-clock and in processor time."""

    resets: list[tuple[float, float]] = field(default_factory=list)
    steps: list[tuple[float, float]] = field(default_factory=list)

    def steps_per_s(self, clock: int = WALL) -> float:
        """Returns steps per second, without resets."""
        return len(self.steps) / sum(step[clock] for step in self.steps)

    def reset_ms(self, clock: int = WALL) -> float:
        """Returns the median time of a reset in milliseconds."""
        return 1e3 * median(reset[clock] for reset in self.resets)


@contextmanager
def timed(into: list[tuple[float, float]]) -> Iterator[None]:
    """Times a `with` block by both clocks."""
    wall, core = time.perf_counter(), time.process_time()
    yield
    into.append((time.perf_counter() - wall, time.process_time() - core))


def record(env: gym.Env, seed: int) -> list[tuple[dict[str, Any], list[str]]]:
    """Records the expert's actions on one instance of every family."""
    episodes = []
    for task in env.unwrapped.suite.families:  # type: ignore[attr-defined]
        options = {"task": task, "params_seed": seed}
        observation, info = env.reset(options=options)
        episodes.append((options, play(env, observation, info).actions))
    return episodes


def replay(env: gym.Env, episodes: list[tuple[dict[str, Any], list[str]]], timing: Timing) -> None:
    """Replays recorded episodes under the clock."""
    for options, actions in episodes:
        with timed(timing.resets):
            env.reset(options=options)
        for action in actions:
            with timed(timing.steps):
                env.step(action)


def measure(screen: tuple[int, int], seed: int) -> Timing:
    """Measures both suites at one screen size, each with a warm phone."""
    timing = Timing()
    for suite in SUITES:
        env = gym.make(suite, screen_size=screen)
        replay(env, record(env, seed), timing)
        env.close()
    return timing


def report(timings: dict[tuple[int, int], list[Timing]]) -> dict[str, float]:
    """Prints the table and returns the headline numbers, means over seeds by the wall clock."""
    print(f"{'screen':>10} {'steps/s':>15} {'reset ms':>13} {'steps/core s':>15} {'reset core ms':>13} {'steps':>7}")
    for (width, height), runs in timings.items():
        cells = [
            _spread(values)
            for clock in (WALL, CORE)
            for values in ([run.steps_per_s(clock) for run in runs], [run.reset_ms(clock) for run in runs])
        ]
        steps = sum(len(run.steps) for run in runs)
        print(f"{f'{width}x{height}':>10} {cells[0]:>15} {cells[1]:>13} {cells[2]:>15} {cells[3]:>13} {steps:>7}")
    small, large = (timings[screen] for screen in SCREENS)
    return {
        "steps_per_s": mean(run.steps_per_s() for run in small),
        "reset_ms": mean(run.reset_ms() for run in small),
        "steps_per_s_1080x2400": mean(run.steps_per_s() for run in large),
        "reset_ms_1080x2400": mean(run.reset_ms() for run in large),
    }


def _spread(values: list[float]) -> str:
    return f"{mean(values):.1f} ± {stdev(values) if len(values) > 1 else 0.0:.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.phone", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds of the task instances")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    timings = {screen: [measure(screen, seed) for seed in options.seeds] for screen in SCREENS}
    headline = report(timings)
    command = f"python -m benchmarks.phone --seeds {' '.join(map(str, options.seeds))}"
    print(f"rerun: {command}")
    if options.json:
        core = {f"{w}x{h}": [run.steps_per_s(CORE) for run in runs] for (w, h), runs in timings.items()}
        result = {
            "headline": headline, "steps_per_core_s": core, "command": command, "python": sys.version,
            "machine": platform.platform(),
        }  # fmt: skip
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
