"""Times as Android's databases store them. The phone's time zone is UTC; its clock carries no zone."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

_START = datetime(1970, 1, 1)


def to_seconds(at: datetime) -> int:
    """Returns the seconds since 1970 of a time on the phone's clock."""
    return (at - _START) // timedelta(seconds=1)


def to_millis(at: datetime) -> int:
    """Returns the milliseconds since 1970 of a time on the phone's clock."""
    return (at - _START) // timedelta(milliseconds=1)


def from_seconds(seconds: float) -> datetime:
    """Returns the time on the phone's clock of a number of seconds since 1970."""
    return _START + timedelta(seconds=seconds)


def midnight(day: date) -> datetime:
    """Returns the start of a day."""
    return datetime.combine(day, time())
