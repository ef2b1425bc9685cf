"""Times as Android's databases store them. The phone's clock carries no zone and is read as UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta

_START = datetime(1970, 1, 1)
_FIRST, _LAST = datetime(1, 12, 31), datetime(9998, 1, 1)  # months around them exist, too

Moved = Callable[[datetime], datetime]
"""What turns times on the phone's clock into those of the time zone that is set, or back."""


def unmoved(at: datetime) -> datetime:
    """Returns the same time, where the phone's clock is in the time zone that is set."""
    return at


def to_seconds(at: datetime) -> int:
    """Returns the seconds since 1970 of a time on the phone's clock."""
    return (at - _START) // timedelta(seconds=1)


def to_millis(at: datetime) -> int:
    """Returns the milliseconds since 1970 of a time on the phone's clock."""
    return (at - _START) // timedelta(milliseconds=1)


def from_seconds(seconds: float) -> datetime:
    """Returns the time on the phone's clock of a number of seconds since 1970; of ages away, the nearest that is known.

    Databases hold what clients write into them, and Java's dates reach further than Python's.
    """
    return _START + timedelta(seconds=min(to_seconds(_LAST), max(to_seconds(_FIRST), seconds)))


def midnight(day: date) -> datetime:
    """Returns the start of a day."""
    return datetime.combine(day, time())
