"""Experts of the tasks in the Clock app."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import time
from typing import Any

from coach_gym.envs.tasks.pickers import pick_time
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

_KEYS = re.compile("00|.")


def open_tab(s: Screen, tab: str) -> Iterator[str]:
    """Opens the Clock app, which starts with its alarms, and a tab of it."""
    yield from s.open("Clock")
    if tab != "Alarm":
        yield s.tap(tab)


@expert("ClockStopWatchRunning")
def run_stopwatch(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Stopwatch")
    yield s.tap("Start")
    yield s.finish()


@expert("ClockStopWatchPausedVerify")
def pause_stopwatch(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Stopwatch")
    if s.has("Pause"):
        yield s.tap("Pause")
    yield s.finish()


def type_duration(s: Screen, hours: int, minutes: int, seconds: int) -> Iterator[str]:
    """Types a timer's length on the keypad."""
    for digits in _KEYS.findall(f"{hours:02d}{minutes:02d}{seconds:02d}".lstrip("0")):
        yield s.tap(digits)


@expert("ClockTimerEntry")
def enter_timer(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Timer")
    yield from type_duration(s, p["hours"], p["minutes"], p["seconds"])
    yield s.finish()


# alarms


def add_alarm(s: Screen, at: str) -> Iterator[str]:
    """Adds an alarm, which then lies unfolded."""
    yield from open_tab(s, "Alarm")
    yield s.tap("Add alarm")
    yield from pick_time(s, time.fromisoformat(at))


def unfold(s: Screen, name: str) -> Iterator[str]:
    """Unfolds the alarm of a label or a time."""
    yield from open_tab(s, "Alarm")
    yield from s.scroll_to(_row(name))
    yield s.tap(_row(name))


def _row(name: str) -> Callable[[Element], bool]:
    """The row of an alarm, not its switch."""
    return lambda element: name in element.label.split(", ") and element.id != "onoff"


def write_label(s: Screen, label: str) -> Iterator[str]:
    """Gives the unfolded alarm its first label."""
    yield s.tap("Add label")
    yield from s.fill("Label", label)
    yield s.tap("OK")


@expert("ClockAddAlarm")
def add_plain_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from add_alarm(s, p["time"])
    yield s.finish()


@expert("ClockAddAlarmWithLabel")
def add_labelled_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from add_alarm(s, p["time"])
    yield from write_label(s, p["label"])
    yield s.finish()


@expert("ClockAddRepeatingAlarm")
def add_repeating_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from add_alarm(s, p["time"])
    for day in p["days"].replace(" and ", ", ").split(", "):
        yield s.tap(day)
    yield s.finish()


@expert("ClockDeleteAlarm")
def delete_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, p["time"])
    yield from s.scroll_to("Delete")
    yield s.tap("Delete")
    yield s.finish()


@expert("ClockSwitchAlarm")
def switch_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    yield from s.scroll_to(p["time"])
    yield from s.toggle(p["time"], p["on_or_off"] == "on")
    yield s.finish()


@expert("ClockMoveAlarm")
def move_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, p["label"])
    yield s.tap(lambda element: element.id == "digital_clock")
    yield from pick_time(s, time.fromisoformat(p["new_time"]))
    yield s.finish()


@expert("ClockLabelAlarm")
def label_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, p["time"])
    yield from write_label(s, p["new_label"])
    yield s.finish()


@expert("ClockAlarmTime")
def tell_alarm_time(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    yield from s.scroll_to(_row(p["label"]))
    yield s.finish(s.find(_row(p["label"])).label.split(", ")[0])


@expert("ClockCountAlarms")
def count_alarms(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    seen: dict[str, bool] = {}
    while True:
        seen |= {e.label: e.checked for e in s.elements if e.id == "onoff"}
        before = s.text
        if not any(e.scrollable for e in s.elements):
            break
        yield s.scroll("down")
        if s.text == before:
            break
    yield s.finish(str(list(seen.values()).count(p["on_or_off"] == "on")))


# timers, settings, cities


@expert("ClockStartTimer")
def start_timer(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Timer")
    yield from type_duration(s, 0, p["minutes"], 0)
    yield s.tap("Start")
    yield s.finish()


@expert("ClockSnoozeLength")
def set_snooze(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    yield s.tap("More options")
    yield s.tap("Settings")
    yield s.tap("Snooze length")
    yield s.tap(f"{p['minutes']} minutes")
    yield s.finish()


@expert("ClockAddCity")
def add_city(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    yield s.tap("Add city")
    yield from s.fill("Search for a city", p["city"])
    yield s.tap(lambda element: element.label == p["city"] and not element.editable)
    yield s.finish()


@expert("ClockCityTime")
def tell_city_time(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    yield from s.scroll_to(p["city"])
    yield s.finish(s.find(p["city"]).label.split(", ")[-1])
