"""How good is the gradient that a roll-out yields, and what are more candidates of a state worth?

The policy plays instances of the demo's families, each several times, and draws 16 responses in every state. Forks of
the state tell whether each of them leads to success. From the same draws, this makes the gradient of the success rate
as different methods would: with the executed response alone and the baselines of REINFORCE, RLOO and PPO, with k
candidates and ACLOO's or other baselines, and with the shipped critic or a judge in place of what forks say. All that
use measurements are right on average; they differ in their noise, and a method with half of it needs half of the
episodes. Gradients are scaled as Adam scales them.

    python -m benchmarks.gradients --seeds 0 1 --json benchmarks/results/gradients.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any, get_args

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SETTINGS, TASKS  # noqa: E402
from benchmarks.gradients.draws import Played, play  # noqa: E402
from benchmarks.gradients.estimators import DRAWS, ESTIMATORS, TRUTH, estimates  # noqa: E402
from benchmarks.gradients.figure import plot  # noqa: E402
from benchmarks.gradients.noise import intervals, sums  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402

REFERENCE = "k = 4, leave-one-out"
JUDGE = "pocket-judge-demo"


def main() -> None:
    """Measures for all seeds, prints the table and writes the JSON."""
    options = _options()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    agent = CoachAgent(options.policy, None, device="cpu", **SETTINGS | {"reward_model": options.judge})
    setting = options.split, options.instances, options.group, DRAWS
    played = [episode for seed in options.seeds for episode in play(agent, seed, *setting)]
    results = summary(played, options)
    print_table(results)
    if options.figure:
        plot(results["rows"], options.figure)
    print(f"\nrerun: {results['command']}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def summary(played: list[Played], options: argparse.Namespace) -> dict[str, Any]:
    """Returns the figures of all estimators, and what was played."""
    instances = np.array([episode.instance for episode in played])
    truth = estimates(TRUTH, played).numpy().astype(float)
    found = {
        each.label: sums(estimates(each, played).numpy().astype(float), truth, instances, each.baseline == "group")
        for each in ESTIMATORS
    }
    unbiased = {each.label: each.unbiased for each in ESTIMATORS}
    rows = intervals(found, sums(truth, truth, instances), unbiased, REFERENCE)
    states = [draws for episode in played for draws in episode.states]
    return {
        "benchmark": "gradients",
        "device": DEVICE,
        "command": f"python -m benchmarks.gradients {shlex.join(sys.argv[1:])}",
        "seeds": options.seeds, "split": options.split, "policy": options.policy, "judge": options.judge,
        "tasks": list(TASKS), "episodes": len(played), "instances": len(set(instances.tolist())), "states": len(states),
        "distinct": float(np.mean([len(draws.gradients) for draws in states])),
        "success": float(np.mean([episode.outcome for episode in played])),
        "headline": {f"noise_{_name(label)}": row["noise"]["value"] for label, row in rows.items()},
        "rows": rows,
    }  # fmt: skip


def _name(label: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in label.lower().replace(" = ", ""))


def print_table(results: dict[str, Any]) -> None:
    """Prints a row for each estimator."""
    print(
        f"\n{results['episodes']} episodes of {results['instances']} instances, {results['success']:.0%} solved; "
        f"{results['states']} states with {results['distinct']:.1f} distinct responses among {DRAWS} draws ({DEVICE})"
    )
    print(f"{'':44s}{'noise':>20s}{'signal of 1,000 episodes':>30s}{'agreement':>24s}")
    for label, row in results["rows"].items():
        signal = {name: value and 1000 * value for name, value in row["signal"].items()}
        print(f"{label:44s}{_cell(row['noise']):>20s}{_cell(signal):>30s}{_cell(row['agreement']):>24s}")
    print(f"squared norms; noise over that of '{REFERENCE}', signal over that of the noise of 1,000 episodes' mean")


def _cell(figure: dict[str, float | None]) -> str:
    if figure["value"] is None:
        return "unknown"
    return f"{figure['value']:.2f} ({figure['low']:.2f} to {figure['high']:.2f})"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradients", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--policy", default="pocket", help="'pocket' or a directory")
    parser.add_argument("--judge", default=JUDGE, help="a shipped judge or a directory")
    parser.add_argument("--split", choices=get_args(Split), default="test")
    parser.add_argument("--instances", type=int, default=3, help="per family and seed")
    parser.add_argument("--group", type=int, default=4, help="episodes of an instance")
    parser.add_argument("--figure", type=Path, help="draw the noise to this file")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
