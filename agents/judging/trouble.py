"""What becomes of a judge's exceptions: a server in trouble leaves verdicts unknown, wrong code ends the training."""

import warnings
from collections.abc import Callable
from typing import Literal

from coach_gym.bugs import is_bug

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
        return ask()
    except Exception as error:  # hours of training must not end because a server is busy
        if errors == "raise" and is_bug(error):
            error.add_note(f"The {judge} raised this; mend it, or go on without verdicts by judge_errors='unknown'")
            raise
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"the {judge} gave no verdict on {number} {what}: {reason}", stacklevel=3)
        return [None] * number
