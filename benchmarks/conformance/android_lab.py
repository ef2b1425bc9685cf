"""Loads AndroidLab's official tasks on the embedded phone, leaves them alone, and has experts solve them by touch.

Upstream's own judges decide. An expert reads the screen text and yields actions, like an agent. `solved` counts tasks
with upstream's judges as they are, `solved_fixed` with those corrected that contradict their task. Of the tasks that
ask a question, `answerable` counts those whose answer the expert reads off the screen and which equals upstream's
standard answer word by word. The figures say that the tasks can be solved on the embedded phone, and nothing about a
model or about Android.

    python -m benchmarks.conformance.android_lab --upstream ~/Android-Lab --json result.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
from coach_gym.actions import Action, format_action  # noqa: E402
from coach_gym.envs.suites import official_lab  # noqa: E402
from coach_gym.envs.suites.official_lab import checkout  # noqa: E402
from coach_gym.envs.suites.play import play  # noqa: E402

SCREEN = (540, 1200)


@dataclass
class Row:
    """The result of one task.

    Attributes:
        kind: `"rule"`, or `"answer"` if the judge compares an answer.
        no_op: Whether saying "finished" at once succeeds, with upstream's judge.
        solved: Whether the expert succeeds, with upstream's judge.
        solved_fixed: The same with the judge that `judges="fixed"` has.
        steps: Number of the expert's actions.
        why_not: Why it did not succeed with upstream's judge.
    """

    task: str
    app: str
    kind: str
    no_op: bool = False
    solved: bool = False
    solved_fixed: bool = False
    steps: int = 0
    why_not: str = ""


def check(envs: dict[str, gym.Env], definition: checkout.Definition) -> Row:
    """Does nothing on a task, then has its expert play before either judge."""
    row = Row(definition.id, definition.app, "answer" if definition.answered else "rule")
    envs["upstream"].reset(options={"task": definition.id})
    row.no_op = bool(envs["upstream"].step(format_action(Action("finished")))[-1]["is_success"])
    try:
        expert = envs["upstream"].get_wrapper_attr("suite").expert(definition.id)
    except KeyError:
        row.why_not = "no expert"
        return row
    try:
        shown = {
            judges: play(env, *env.reset(options={"task": definition.id}), expert=expert)
            for judges, env in envs.items()
        }
    except LookupError as error:
        row.why_not = f"the expert misses something: {error}"[:200]
        return row
    row.solved, row.solved_fixed = (shown[judges].reward == 1.0 for judges in ("upstream", "fixed"))
    row.steps = len(shown["upstream"].steps)
    if not row.solved:
        info = shown["upstream"].info
        row.why_not = info.get("fault") or f"judged {info['judged']}"
    return row


def commit_of(folder: Path) -> str:
    """Returns the commit of a checkout, as far as git knows."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def run(folder: Path, tasks: Sequence[str] | None = None, commit: str | None = None) -> dict[str, Any]:
    """Checks all tasks of a checkout, or only those named."""
    envs: dict[str, gym.Env] = {}
    for judges in ("upstream", "fixed"):
        suite = official_lab.suite(folder, judges=judges)  # type: ignore[arg-type]
        envs[judges] = gym.make("AndroidLab-v0", suite=suite, screen_size=SCREEN, disable_env_checker=True)
    rows = []
    for definition in checkout.load(folder):
        if not tasks or definition.id in tasks:
            rows.append(check(envs, definition))
            print(line(rows[-1]), flush=True)
    for env in envs.values():
        env.close()
    rules = [row for row in rows if row.kind == "rule"]
    headline = {
        "loaded": len(rows), "solved": sum(row.solved for row in rules),
        "solved_fixed": sum(row.solved_fixed for row in rules),
        "answerable": sum(row.solved for row in rows if row.kind == "answer"),
    }  # fmt: skip
    return {
        "headline": headline, "device": "embedded phone", "upstream": commit or commit_of(folder), "screen": SCREEN,
        "rule_judged": len(rules), "no_op_passes": [row.task for row in rows if row.no_op],
        "tasks": [asdict(row) for row in rows],
    }  # fmt: skip


def line(row: Row) -> str:
    """Formats a row of the table."""
    solved, fixed = ("yes" if done else "NO" for done in (row.solved, row.solved_fixed))
    marks = f"{'yes' if row.no_op else '-':>6} {solved:>7} {fixed:>6} {row.steps:>6}"
    return f"{row.task:<13} {row.kind:<7} {marks}  {row.why_not}"


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", help=f"AndroidLab's checkout; by default the one that {checkout.VARIABLE} names")
    parser.add_argument("--commit", help="upstream's commit, if the folder is not a git checkout")
    parser.add_argument("--tasks", nargs="*", help="check only these tasks")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    given = parser.parse_args()
    print(f"{'task':<13} {'kind':<7} {'no-op':>6} {'solved':>7} {'fixed':>6} {'steps':>6}   (embedded phone)")
    result = run(checkout.find(given.upstream), given.tasks, given.commit)
    print(*(f"{name}: {value} (embedded phone)" for name, value in result["headline"].items()), sep="\n")
    print(f"rerun: python -m benchmarks.conformance.android_lab {shlex.join(sys.argv[1:])}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
