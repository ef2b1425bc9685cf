"""AndroidLab's official tasks on the embedded phone: loaded, left alone, and solved by experts through touch alone.

Upstream's own judges decide. An expert reads the screen text that an agent reads and yields an agent's actions.
Of the tasks that ask something, `answerable` counts those where the expert reads the answer off the screen and it
is upstream's standard answer, compared word by word. The figures are the embedded phone's: they say that the tasks
can be done on it, and nothing about a model or about Android.

    python -m benchmarks.conformance_android_lab --upstream ~/Android-Lab --json result.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
import coach_gym.envs.experts  # noqa: E402, F401
from coach_gym.actions import Action, format_action  # noqa: E402
from coach_gym.envs.experts.run import play  # noqa: E402
from coach_gym.envs.experts.screen import EXPERTS  # noqa: E402
from coach_gym.envs.suites import official_lab  # noqa: E402
from coach_gym.envs.suites.official_lab import checkout  # noqa: E402

SCREEN = (540, 1200)


@dataclass
class Row:
    """How one task went.

    Attributes:
        kind: "rule", or "answer" where the judge compares an answer.
        no_op: Whether saying "finished" at once succeeds.
        solved: Whether the expert succeeds.
        steps: How many actions it took.
        why_not: What kept the expert from it.
    """

    task: str
    app: str
    kind: str
    no_op: bool
    solved: bool
    steps: int
    why_not: str = ""


def check(env: gym.Env, definition: checkout.Definition) -> Row:
    """Does nothing on one task, then lets its expert play."""
    kind = "answer" if definition.answered else "rule"
    env.reset(options={"task": definition.id})
    info = env.step(format_action(Action("finished")))[-1]
    row = Row(definition.id, definition.app, kind, bool(info["is_success"]), False, 0, info.get("fault", ""))
    if definition.id not in EXPERTS:
        row.why_not = "no expert"
        return row
    try:
        shown = play(env, *env.reset(options={"task": definition.id}))
    except LookupError as error:
        row.why_not = f"the expert misses something: {error}"[:200]
        return row
    row.steps, row.solved = len(shown.steps), shown.reward == 1.0
    if not row.solved:
        row.why_not = shown.info.get("fault") or f"judged {shown.info.get('judged')}"
    return row


def commit_of(folder: Path) -> str:
    """The commit that a checkout stands at, as far as git knows."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def run(folder: Path, judges: official_lab.Judges, tasks: Sequence[str] | None = None) -> dict[str, Any]:
    """Checks all tasks of a checkout, or those named."""
    definitions = [d for d in checkout.load(folder) if not tasks or d.id in tasks]
    suite = official_lab.suite(folder, judges=judges)
    env = gym.make("AndroidLab-v0", suite=suite, screen_size=SCREEN, disable_env_checker=True)
    rows = []
    for definition in definitions:
        rows.append(check(env, definition))
        print(line(rows[-1]), flush=True)
    env.close()
    count = {kind: sum(row.solved for row in rows if row.kind == kind) for kind in ("rule", "answer")}
    return {
        "headline": {"loaded": len(rows), "solved": count["rule"], "answerable": count["answer"]},
        "device": "embedded phone", "judges": judges, "upstream": commit_of(folder), "screen": SCREEN,
        "no_op_passes": [row.task for row in rows if row.no_op],
        "tasks": [asdict(row) for row in rows],
    }  # fmt: skip


def line(row: Row) -> str:
    """A row of the table."""
    marks = f"{'yes' if row.no_op else '-':>6} {'yes' if row.solved else 'NO':>7} {row.steps:>6}"
    return f"{row.task:<13} {row.kind:<7} {marks}  {row.why_not}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", help=f"AndroidLab's checkout; by default the one that {checkout.VARIABLE} names")
    parser.add_argument("--judges", default="upstream", choices=("upstream", "fixed"))
    parser.add_argument("--tasks", nargs="*", help="only these tasks")
    parser.add_argument("--json", type=Path, help="where to write the result")
    given = parser.parse_args()
    print(f"{'task':<13} {'kind':<7} {'no-op':>6} {'solved':>7} {'steps':>6}   (embedded phone)")
    result = run(checkout.find(given.upstream), given.judges, given.tasks)
    print(*(f"{name}: {value} (embedded phone)" for name, value in result["headline"].items()), sep="\n")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
