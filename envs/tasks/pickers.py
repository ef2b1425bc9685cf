"""Hands for date pickers and time pickers, for experts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from functools import partial

from coach_gym.envs.tasks.screen import Screen
from coach_gym.ui import Element


def pick_date(s: Screen, day: date) -> Iterator[str]:
    """Turns the date picker to the month, touches the day and OK."""
    while months := _months(s.find(_is_month).label, day):
        yield s.tap("Next month" if months > 0 else "Previous month")
    yield from s.follow(f"{day:%d %B %Y}", "OK")


def _is_month(element: Element) -> bool:
    return _month(element.label) is not None


def _months(shown: str, day: date) -> int:
    """Returns how many months lie between the month shown and that of a day."""
    month = _month(shown)
    return 0 if month is None else 12 * (day.year - month.year) + day.month - month.month


def _month(label: str) -> date | None:
    try:
        return datetime.strptime(label, "%B %Y").date()
    except ValueError:
        return None


def pick_time(s: Screen, at: time) -> Iterator[str]:
    """Touches hour and minute in the time picker, or types them if the minute is not on the dial; then OK."""
    return _pick(s, at.hour, at.minute)


def pick_half_day_time(s: Screen, at: time) -> Iterator[str]:
    """Sets a time on a 12-hour clock: AM or PM, then the hour and the minute, or both typed; then OK."""
    yield s.tap("PM" if at.hour >= 12 else "AM")
    yield from _pick(s, at.hour % 12 or 12, at.minute)


def _pick(s: Screen, hour: int, minute: int) -> Iterator[str]:
    if minute % 5:
        yield s.tap("Switch to text input")
        yield from s.fill("Hour", str(hour))
        yield from s.fill("Minute", str(minute))
    else:
        yield s.tap(partial(_on_dial, f"{hour} hours"))
        if not s.has(partial(_shown, f"{minute:02d} minutes")):
            yield s.tap(partial(_on_dial, f"{minute} minutes"))
    yield s.tap("OK")


def _on_dial(value: str, element: Element) -> bool:
    return element.desc == value and not element.checkable


def _shown(value: str, element: Element) -> bool:
    """Returns whether this is the time above the dial, which has the same name as a number on it but can be checked."""
    return element.desc == value and element.checkable
