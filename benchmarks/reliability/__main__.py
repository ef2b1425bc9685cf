"""Counts the episodes that are lost when devices fail, and checks that no verdict is ever made of a failure.

Episodes of 14 steps are played on embedded phones whose screen cannot be read with some probability, each time that it
is looked at. A fault must be told as one: without reward, and never as a success.

    python -m benchmarks.reliability --seeds 0 1 2 --json reliability.json
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402

import coach_gym  # noqa: E402, F401
from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.devices.phone import PhoneDevice  # noqa: E402
from coach_gym.envs.errors import DeviceError  # noqa: E402
from coach_gym.ui import Node  # noqa: E402

RATES = (0.0, 0.05, 0.2, 0.5)
"""Probabilities with which looking at the screen after a step fails."""

SIZE = (90, 200)
STEPS = 14  # of an episode, as long as those of many task families


class Flaky(PhoneDevice):
    """An embedded phone that fails to show its screen now and then."""

    def __init__(self, rate: float, rng: np.random.Generator) -> None:
        super().__init__(*SIZE)
        self._rate, self._rng = rate, rng

    def _perhaps(self, read: Callable[[], Any]) -> Any:
        if self._rng.random() < self._rate:
            raise DeviceError("the connection was reset")
        return read()

    def screenshot(self) -> np.ndarray:
        """Returns the screen, or fails."""
        return self._perhaps(super().screenshot)

    def ui(self) -> Node:
        """Returns the screen's tree; all failures are those of the picture, so that the rate is one a step."""
        return super().ui()


def play(rate: float, episodes: int, seed: int) -> tuple[int, int]:
    """Plays episodes of waiting.

    Returns:
        The numbers of episodes that were lost, and of those whose failure was told as a verdict.
    """
    rng = np.random.default_rng(seed)
    env: gym.Env = AndroidEnv(device=partial(Flaky, rate, rng), screen_size=SIZE, max_steps=STEPS)
    lost = lies = 0
    for episode in range(episodes):
        _, info = env.reset(seed=1000 * seed + episode)
        over = False
        reward = 0.0
        while not over:
            _, earned, terminated, truncated, info = env.step("wait()")
            reward += float(earned)
            over = terminated or truncated
        lost += "fault" in info
        lies += "fault" in info and (reward != 0 or info["is_success"])
    env.close()
    return lost, lies


def main() -> None:
    """Prints the share of lost episodes by the rate of failures."""
    parser = argparse.ArgumentParser("python -m benchmarks.reliability", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--episodes", type=int, default=50, help="episodes of each seed and rate")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    logging.getLogger("coach_gym").setLevel(logging.CRITICAL)  # every failure is one of thousands
    headline: dict[str, float] = {}
    rows = []
    print("failures a look   episodes lost (embedded phone)   without asking again   faults told as verdicts")
    for rate in RATES:
        played = [play(rate, options.episodes, seed) for seed in options.seeds]
        shares = [lost / options.episodes for lost, _ in played]
        spread = stdev(shares) if len(shares) > 1 else 0.0
        lies = sum(each for _, each in played)
        alone = 1 - (1 - rate) ** (STEPS + 1)  # the first look is the reset's
        print(f"{rate:>15.0%}   {mean(shares):>8.1%} ± {spread:<19.1%}   {alone:>20.1%}   {lies:>23}")
        rows.append({"rate": rate, "lost": shares, "expected_without_asking_again": alone, "lies": lies})
        headline[f"lost_at_{round(100 * rate)}_percent"] = mean(shares)
    headline["faults_told_as_verdicts"] = sum(row["lies"] for row in rows)  # type: ignore[misc]
    words = f"--seeds {' '.join(map(str, options.seeds))} --episodes {options.episodes}"
    command = f"python -m benchmarks.reliability {words}"
    print(f"rerun: {command}")
    if options.json:
        machine = f"{platform.machine()}, Python {sys.version.split()[0]}, 1 thread"
        result = {"benchmark": "reliability", "headline": headline, "rows": rows, "seeds": options.seeds}
        result |= {"command": command, "machine": machine, "steps": STEPS, "device": "embedded phone"}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
