"""Measures how much longer an iteration takes with k actions per state: the paper's table over N.

Complete iterations of CoachAgent, roll-out and updates, on eight slow devices. Time is virtual: waits for devices are
drawn from a heavy-tailed latency and skipped, computing is measured in processor time. The latency is scaled until
devices take 1.7 times as long as inference in roll-outs like the paper's (its Figure 1). All k play the same episodes
with the same latencies: learning rates are zero, and the likeliest response is executed; all others are sampled as
    usual.
All k take turns, so that other load on the machine affects them alike.

    python -m benchmarks.k_scaling --seeds 0 1 2 --json benchmarks/results/k_scaling.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (after the number of threads is set)
from torch import Tensor  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SETTINGS  # noqa: E402
from benchmarks.latency_ratio import DEVICE_TO_INFERENCE, calibrated, slow_envs  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.agents.generation import sampling  # noqa: E402
from coach_gym.agents.generation.generator import OnFirst  # noqa: E402
from coach_gym.agents.generation.transformers import TransformersGenerator  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.envs.latency import Latency  # noqa: E402
from coach_gym.episode import Candidate  # noqa: E402

DEVICES = 8  # as in the paper, with one episode each
CANDIDATES = (1, 2, 4, 8)
PAPER = {1: 1.0, 2: 1.22, 4: 1.62, 8: 2.18}
PARTS = ("seconds", "rollout", "wait", "steps")
VARIANTS: dict[str, dict[str, Any]] = {
    "drawn in the roll-out": {},
    "with the pocket PRM": {"reward_model": "pocket"},
    "resampled in phase 4": {"resample": True},
}


def _likeliest_first(logprobs: Tensor, draws: int, draw: Any = sampling.inverse_cdf) -> Tensor:
    drawn: Tensor = draw(logprobs, draws)
    drawn[..., 0] = logprobs.argmax(-1)
    return drawn


class LikeliestFirst(TransformersGenerator):
    """A generator whose first candidate in roll-outs is the likeliest response."""

    def sample(self, *args: Any, on_first: OnFirst | None = None, **kwargs: Any) -> list[list[Candidate]]:
        """Samples candidates. See `TransformersGenerator.sample`."""
        draw = _likeliest_first if on_first else sampling.inverse_cdf
        with mock.patch.object(sampling, "inverse_cdf", draw):
            return super().sample(*args, on_first=on_first, **kwargs)


class Training:
    """An agent with its own devices, whose iterations are timed."""

    def __init__(self, k: int, latency: Latency, seed: int, devices: int = DEVICES, **arguments: Any) -> None:
        self.k = k
        self.envs = slow_envs(devices, latency, seed)
        self.agent = CoachAgent(
            Policy.load("pocket"), self.envs, 0.0, k=k, critic="pocket", critic_learning_rate=0.0, batch_size=devices,
            max_new_tokens=SETTINGS["max_new_tokens"], max_prompt_length=SETTINGS["max_prompt_length"], seed=seed,
            generation=LikeliestFirst, **arguments,
        )  # fmt: skip

    def iterate(self) -> dict[str, float]:
        """Runs an iteration; returns its seconds, those of its roll-out, those of waiting, and its steps."""
        clock, waited = self.envs.clock, self.envs.clock.waited
        begun = clock.now
        groups = self.agent.collect_rollouts()
        assert groups is not None
        collected = clock.now
        self.agent.train(groups)
        return {
            "k": self.k, "seconds": clock.now - begun, "rollout": collected - begun, "wait": clock.waited - waited,
            "steps": sum(episode.length for group in groups for episode in group),
        }  # fmt: skip


def measure(latency: Latency, seeds: Sequence[int], iterations: int, **arguments: Any) -> list[dict[str, float]]:
    """Measures iterations of every k in turns, after one to warm up."""
    rows = []
    for seed in seeds:
        trainings = [Training(k, latency, seed, **arguments) for k in CANDIDATES]
        for number in range(iterations + 1):
            timed = [training.iterate() for training in trainings]
            rows += [{"seed": seed, **row} for row in timed] if number else []
        for training in trainings:
            training.envs.close()
    return rows


def ratios(rows: list[dict[str, float]], k: int) -> tuple[float, float]:
    """Returns the time of iterations with k candidates over that with one: mean over seeds, and spread."""
    seeds = sorted({row["seed"] for row in rows})
    values = [_seconds(rows, k, seed) / _seconds(rows, 1, seed) for seed in seeds]
    return mean(values), stdev(values) if len(values) > 1 else 0.0


def _seconds(rows: list[dict[str, float]], k: int, seed: float) -> float:
    return sum(row["seconds"] for row in rows if row["k"] == k and row["seed"] == seed)


def main() -> None:
    """Measures all variants and prints the tables."""
    arguments = _arguments()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    latency = calibrated(DEVICES)
    results = {}
    command = f"python -m benchmarks.k_scaling {shlex.join(sys.argv[1:])}"
    for name in arguments.variants:
        print(f"\nCoachAgent, candidates {name} ({DEVICE})", flush=True)
        results[name] = measure(latency, arguments.seeds, arguments.iterations, **VARIANTS[name])
        print_table(results[name])
        if arguments.json:
            arguments.json.write_text(json.dumps(_report(command, latency, results), indent=1) + "\n", "utf-8")
    print(f"\nrerun: {command}")


def print_table(rows: list[dict[str, float]]) -> None:
    """Prints mean seconds of the parts of an iteration, and the ratio to one candidate."""
    print(f"{'k':>3s}{'iteration s':>13s}{'roll-out s':>12s}{'waiting s':>11s}{'steps':>7s}{'ratio':>16s}{'paper':>7s}")
    for k in CANDIDATES:
        mine = [row for row in rows if row["k"] == k]
        seconds, rollout, wait, steps = (mean(row[key] for row in mine) for key in PARTS)
        ratio, spread = ratios(rows, k)
        parts = f"{k:3d}{seconds:13.2f}{rollout:12.2f}{wait:11.2f}{steps:7.1f}"
        print(f"{parts}{ratio:9.3f} ± {spread:.3f}{PAPER[k]:7.2f}")


def _report(command: str, latency: Latency, results: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    summary = {name: {f"k{k}": ratios(rows, k) for k in CANDIDATES[1:]} for name, rows in results.items()}
    return {
        "benchmark": "k_scaling",
        "headline": {name: ratio for name, (ratio, _) in next(iter(summary.values())).items()},
        "command": command,
        "model": "pocket policy, critic and PRM, float32",
        "device": f"{DEVICE}, {DEVICES} with one episode each, latencies on a virtual clock",
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "device_to_inference": DEVICE_TO_INFERENCE,
        "latency": vars(latency),
        "ratios_and_spreads": summary,
        "rows": results,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.k_scaling", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int, default=3, help="iterations per k and seed, after one to warm up")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    if options.iterations < 1:
        parser.error(f"--iterations {options.iterations} leaves nothing to time; pass 1 or more")
    return options


if __name__ == "__main__":
    main()
