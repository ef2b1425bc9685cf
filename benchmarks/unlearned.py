"""Was a family unlearned? Success of the base and of trained agents in each of the demo's families, on test instances.

A mean hides a family that was lost while others improved. All play the same instances, greedy and sampled, and a family
counts as lost if it falls by more than 10 points.

    python -m benchmarks.demo
    python -m benchmarks.unlearned --agents runs/demo/seed_0/agent --json benchmarks/results/unlearned.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SCREEN, SUITE, TASKS  # noqa: E402
from benchmarks.generalisation import load_player  # noqa: E402
from coach_gym.agents.evaluation import Evaluation, evaluate, families_lost  # noqa: E402

NUM_ENVS = 16
HOW = {"greedy": True, "sampled": False}
BASE = "pocket"


def main() -> None:
    """Runs the benchmark."""
    options = _arguments()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    print(f"success in every family, {options.episodes} test instances each ({DEVICE})")
    played = {policy: {how: play(policy, how, options.episodes) for how in HOW} for policy in (BASE, *options.agents)}
    agents = {policy: report(played[BASE], found, options.episodes) for policy, found in played.items()}
    print_table(agents)
    command = f"python -m benchmarks.unlearned {shlex.join(sys.argv[1:])}"
    print(f"rerun: {command}")
    if options.json:
        lost = [family for each in agents.values() for how in HOW for family in each[how]["lost"]]
        results = {"benchmark": "unlearned", "device": DEVICE, "suite": SUITE, "split": "test", "command": command,
                   "episodes": options.episodes, "headline": {"lost": len(lost)}, "agents": agents}  # fmt: skip
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def play(policy: str, how: str, episodes: int) -> Evaluation:
    """Plays the same instances of every family."""
    player = load_player(policy, max_new_tokens=48, max_prompt_length=3072)
    torch.manual_seed(0)
    results = []
    for task in TASKS:
        envs = gym.make_vec(
            "coach_gym:AndroidWorld-v0", num_envs=min(NUM_ENVS, episodes), vectorization_mode="vector_entry_point",
            suite=SUITE, tasks=(task,), screen_size=SCREEN, split="test",
        )  # fmt: skip
        results += evaluate(player, envs, episodes, deterministic=HOW[how]).results
        envs.close()
    return Evaluation(results)


def report(before: dict[str, Evaluation], after: dict[str, Evaluation], episodes: int) -> dict[str, Any]:
    """Returns success by family, and which families are lost, greedy and sampled."""
    return {
        how: {
            "success": {family: solved / judged for family, (solved, judged) in after[how].success_per_task.items()},
            "lost": families_lost(before[how], after[how], n_least=episodes),
        }
        for how in HOW
    }


def print_table(agents: dict[str, dict[str, Any]]) -> None:
    """Prints success by family, and what is lost in brackets."""
    for policy, found in agents.items():
        for how in HOW:
            print(f"\n{policy}, {how}")
            for family, share in found[how]["success"].items():
                print(f"  {family:28s}{share:6.0%}{'  lost' if family in found[how]['lost'] else ''}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unlearned", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--agents", nargs="+", required=True, help="folders of saved agents")
    parser.add_argument("--episodes", type=int, default=50, help="instances of a family")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
