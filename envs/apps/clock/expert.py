"""Experts of AndroidWorld's families in the Clock app."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

_KEYS = re.compile("00|.")


def open_tab(s: Screen, tab: str) -> Iterator[str]:
    """Opens the Clock app, which starts with its alarms, and a tab of it."""
    yield from s.open("Clock")
    if tab != "Alarm":
        yield s.tap(tab)


@expert("ClockStopWatchRunning")
def _run_stopwatch(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Stopwatch")
    yield s.tap("Start")


@expert("ClockStopWatchPausedVerify")
def _pause_stopwatch(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Stopwatch")
    if s.has("Pause"):
        yield s.tap("Pause")


def type_duration(s: Screen, hours: int, minutes: int, seconds: int) -> Iterator[str]:
    """Types a timer's length on the keypad."""
    for digits in _KEYS.findall(f"{hours:02d}{minutes:02d}{seconds:02d}".lstrip("0")):
        yield s.tap(digits)


@expert("ClockTimerEntry")
def _enter_timer(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Timer")
    yield from type_duration(s, p["hours"], p["minutes"], p["seconds"])
