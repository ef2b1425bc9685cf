"""Times as Android's databases hold them. The phone's time zone is UTC, so its clock is UTC without a zone."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

_START = datetime(1970, 1, 1)


def to_seconds(at: datetime) -> int:
    """Seconds since 1970 of a time on the phone's clock."""
    return (at - _START) // timedelta(seconds=1)


def to_millis(at: datetime) -> int:
    """Milliseconds since 1970 of a time on the phone's clock."""
    return (at - _START) // timedelta(milliseconds=1)


def from_seconds(seconds: float) -> datetime:
    """The time on the phone's clock."""
    return _START + timedelta(seconds=seconds)


def midnight(day: date) -> datetime:
    """When a day starts."""
    return datetime.combine(day, time())
