"""AndroidLab's four metrics, computed by its own formulas, quirks included.

    run = Run(info["judged"], info["judged_steps"], info["human_steps"], reasonable_operations(screenshots))
    report([run])

A result is a judge's last word: `complete`, and one entry for each sub-goal. Rates are in percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

TASKS = 138
SAME = 0.999  # screens that agree in more of their values than this count as equal


@dataclass(frozen=True)
class Run:
    """One run of one task.

    Attributes:
        result: What the judge said last.
        steps: How many steps were judged (those that a judge stumbled over do not count).
        human_steps: How many steps a person took.
        operations: The run's reasonable operation ratio, see `reasonable_operations`.
    """

    result: Mapping[str, Any]
    steps: int
    human_steps: int
    operations: float = 1.0


def sub_goals(result: Mapping[str, Any]) -> float:
    """Returns the share of sub-goals reached; 1 for a completed task, whatever its sub-goals say."""
    if result.get("complete") is True:
        return 1.0
    marks = [bool(value) for key, value in result.items() if key not in ("complete", "judge_page")]
    return sum(marks) / len(marks) if marks else 0.0


def reversed_redundancy(run: Run) -> float | None:
    """Returns a person's steps over the agent's, which may exceed 1; None if the task was not completed."""
    return run.human_steps / run.steps if run.result.get("complete") and run.steps else None


def reasonable_operations(screenshots: Sequence[np.ndarray]) -> float:
    """Returns the share of actions after which the screen looked different.

    Like upstream, this leaves out the pair of the last two screens, though it divides by the number of all pairs, and
    ignores values that are white in both screens, so entirely white screens never agree.

    Args:
        screenshots: The screen before each step; uint8 arrays.
    """
    idle = [same_screen(before, after) for before, after in zip(screenshots, screenshots[1:], strict=False)]
    return operation_ratio(idle)


def operation_ratio(idle: Sequence[bool]) -> float:
    """Returns the reasonable operation ratio, from whether each screen equals the next one; 1 for a single screen."""
    return 1 - sum(idle[:-1]) / len(idle) if idle else 1.0


def same_screen(before: np.ndarray, after: np.ndarray) -> bool:
    """Returns whether an action had no effect, from the screens before and after it."""
    if before.shape != after.shape:
        return False
    counted = (before != 255) | (after != 255)
    total = np.count_nonzero(counted)
    return bool(total and np.count_nonzero((before == after) & counted) / total > SAME)


def report(runs: Iterable[Run], total: int = TASKS) -> dict[str, float]:
    """Returns SR, Sub-SR, RRR and ROR over all apps.

    Tasks that were not run count as failed in SR and Sub-SR. RRR is a mean over the completed tasks. Like upstream, ROR
    is summed over the runs and divided by the number of all tasks.

    Args:
        runs: One run of each task.
        total: How many tasks there are, run or not.
    """
    done = list(runs)
    ratios = [ratio for run in done if (ratio := reversed_redundancy(run)) is not None]
    completed = sum(run.result.get("complete") is True for run in done)
    return {
        "SR": 100 * completed / total,
        "Sub-SR": 100 * sum(sub_goals(run.result) for run in done) / total,
        "RRR": 100 * sum(ratios) / completed if completed else 0.0,
        "ROR": 100 * sum(run.operations for run in done) / total,
    }
