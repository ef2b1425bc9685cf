"""Where the base errs: what it would answer in the states of experts' episodes, step by step.

A step's right answer either is the same in all instances of a family (which button deletes) or depends on the instance
(which row is the one that the goal names). The first kind is procedure, the second kind reading. On instances that the
policy never saw, the table tells which kind it fails at, and whether its own draws could find the right answer at all,
without which no method can learn from them. The expert's answer counts alone, although others may be as good.

    python -m benchmarks.controls.mistakes --json benchmarks/results/mistakes.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from tqdm import tqdm  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SCREEN, TASKS  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.pocket.demonstrations import Demonstration, demonstrate, to_sequence  # noqa: E402
from coach_gym.agents.pocket.sequences import batches, hidden_states  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402

COMMAND = "python -m benchmarks.controls.mistakes"
DRAWS = 8


@dataclass(frozen=True)
class Answer:
    """An expert's answer to a state, and how the policy takes it.

    Attributes:
        task: The task family.
        step: Number of the state in its episode.
        text: The answer.
        greedy: Whether the policy's most likely answer is the same.
        log_prob: Its log-probability under the policy, in nats.
    """

    task: str
    step: int
    text: str
    greedy: bool
    log_prob: float


def main() -> None:
    """Measures, prints a table, and writes it."""
    options = _arguments()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    policy, seeds = Policy.load(options.policy), range(options.instances)
    shown = demonstrate(policy, "AndroidWorld-v0", TASKS, seeds, SCREEN, slips=0.0, split=options.split)
    number = len(TASKS) * options.instances
    answers = [each for one in tqdm(shown, total=number, unit="episode") for each in compare(policy, one)]
    rows = {task: summarize(each for each in answers if each.task == task) for task in TASKS}
    rows["all"] = summarize(answers)
    print_table(rows)
    command = f"{COMMAND} {shlex.join(sys.argv[1:])}".strip()
    print(f"rerun: {command}")
    if options.json:
        options.json.write_text(json.dumps(report(rows, options, command), indent=1) + "\n", encoding="utf-8")


@torch.no_grad()
def compare(policy: Policy, shown: Demonstration) -> list[Answer]:
    """Returns the expert's answers of an episode, each as the policy takes it after the expert's earlier ones."""
    sequence = to_sequence(policy, shown)
    (batch,) = batches([sequence], 1, policy.chat.image_pad, random.Random(0))
    counted = batch.weights[0, 1:] > 0
    logits = policy.model.lm_head(hidden_states(policy.model.model, batch)[0, :-1][counted]).float()
    targets = batch.ids[0, 1:][counted]
    likely, told = logits.argmax(-1) == targets, logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]
    texts = [text for _, text, taught in shown.steps if taught]
    lengths = [len(policy.chat.encode_text(text)) + 1 for text in texts]
    parts = zip(texts, likely.split(lengths), told.split(lengths), strict=True)
    return [
        Answer(shown.task, step, text, bool(right.all()), float(log_probs.sum()))
        for step, (text, right, log_probs) in enumerate(parts)
    ]


def summarize(answers: Iterable[Answer]) -> dict[str, float | None]:
    """Returns the number of steps of either kind, and how often the policy agrees with the expert there.

    Returns:
        For `fixed` steps, whose answer is the same in all instances of the family, and `dependent` ones: their
        number; the share that the greedy policy answers alike (`_greedy`); and the share that the best of `DRAWS`
        draws would (`_drawn`, expected). None without such steps.
    """
    steps: dict[tuple[str, int], list[Answer]] = defaultdict(list)
    for each in answers:
        steps[each.task, each.step].append(each)
    kinds: dict[str, list[Answer]] = {"fixed": [], "dependent": []}
    for alike in steps.values():
        kinds["fixed" if len({each.text for each in alike}) == 1 else "dependent"] += alike
    row: dict[str, float | None] = {}
    for kind, found in kinds.items():
        drawn = [1 - (1 - np.exp(each.log_prob)) ** DRAWS for each in found]
        row[kind] = len(found)
        row[f"{kind}_greedy"] = round(float(np.mean([each.greedy for each in found])), 3) if found else None
        row[f"{kind}_drawn"] = round(float(np.mean(drawn)), 3) if found else None
    return row


def print_table(rows: dict[str, dict[str, float | None]]) -> None:
    """Prints a row for every family and one for all."""
    kinds = (("fixed", "same in all"), ("dependent", "depends"))
    print(f"{'agrees with the expert (' + DEVICE + ')':42s}" + "".join(f"{label:>14s}{'':18s}" for _, label in kinds))
    print(f"{'task family':42s}" + f"{'steps':>8s}{'greedy':>10s}{f'best of {DRAWS}':>12s}  " * 2)
    for name, row in rows.items():
        cells = ""
        for kind, _ in kinds:
            shares = [row[f"{kind}_greedy"], row[f"{kind}_drawn"]]
            cells += f"{row[kind]:8.0f}" + "".join(f"{'–' if x is None else f'{x:.2f}':>11s}" for x in shares) + "  "
        print(f"{name:42s}{cells}")


def report(rows: dict[str, dict[str, float | None]], options: argparse.Namespace, command: str) -> dict[str, Any]:
    """Returns everything as JSON."""
    headline = {name: value for name, value in rows["all"].items() if value is not None}
    return {
        "benchmark": "controls.mistakes", "headline": headline, "families": rows, "policy": options.policy,
        "split": options.split, "instances": options.instances, "device": DEVICE, "command": command,
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--policy", default="pocket", help="the base: 'pocket' or a directory")
    parser.add_argument("--instances", type=int, default=20, help="instances of every family: seeds 0, 1, ...")
    parser.add_argument("--split", choices=get_args(Split), default="validation")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
