"""What becomes of a judge's exceptions: a server in trouble leaves verdicts unknown, wrong code ends the training."""

import warnings
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Literal

from coach_gym.bugs import is_bug
from coach_gym.checks import float_or_infinite

JudgeErrors = Literal["raise", "unknown"]
Verdicts = list[float | None]


def verdicts_of(judge: str, ask: Callable[[], Verdicts], number: int, what: str, errors: JudgeErrors) -> Verdicts:
    """Asks a judge, possibly a user's own. If it is in trouble, its verdicts are unknown, and a warning says why.

    Args:
        judge: What it is called in messages.
        ask: Returns the verdicts.
        number: How many there are.
        what: What it judges.
        errors: `"raise"` to raise what a mistake in its code raises, see `coach_gym.bugs`; `"unknown"` for nothing.
    """
    try:
        return _readable(judge, ask(), number, what)
    except Exception as error:  # hours of training must not end because a server is busy
        if errors == "raise" and is_bug(error):
            error.add_note(f"The {judge} raised this; mend it, or go on without verdicts by judge_errors='unknown'")
            raise
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"the {judge} gave no verdict on {number} {what}: {reason}", stacklevel=3)
        return [None] * number


def _readable(judge: str, verdicts: Any, number: int, what: str) -> Verdicts:
    """Replaces what is no verdict by None; all, if their number is wrong, since nobody knows which is whose."""
    if isinstance(verdicts, str | bytes) or not isinstance(verdicts, Sequence) or len(verdicts) != number:
        found = f"{len(verdicts)} verdicts" if isinstance(verdicts, list | tuple) else type(verdicts).__name__
        warnings.warn(f"the {judge} returned {found} for {number} {what}, so they stay without", stacklevel=4)
        return [None] * number
    wrong = [value for value in verdicts if value is not None and not _is_verdict(value)]
    if wrong:
        warnings.warn(
            f"the {judge} returned {wrong[0]!r:.60}, which is no verdict, for {len(wrong)} of {number} {what}, so they "
            f"stay without; return a number from 0 to 1, or None for unknown",
            stacklevel=4,
        )
    numbers: list[Any] = [value if _is_verdict(value) else None for value in verdicts]
    return [each if isinstance(each, float | None) else float(each) for each in numbers]  # a `Verdict` is a float


def _is_verdict(value: Any) -> bool:
    return isinstance(value, Real) and 0 <= float_or_infinite(value) <= 1
