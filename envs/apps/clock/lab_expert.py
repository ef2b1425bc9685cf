"""Experts of AndroidLab's families in the Clock app, on AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import time
from functools import partial
from itertools import takewhile
from typing import Any

from coach_gym.envs.apps.clock.data import DAYS, half_day
from coach_gym.envs.apps.clock.expert import type_duration
from coach_gym.envs.tasks.pickers import pick_half_day_time
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Clock"


def open_tab(s: Screen, name: str) -> Iterator[str]:
    """Opens the Clock app and shows a tab of it."""
    yield from s.open(APP)
    tab = s.find(lambda e: e.label == name and e.cls == "FrameLayout")
    if not tab.selected:
        yield s.tap(tab)


# in the list of alarms follow one another: label, time, days, arrow and switch of the first, of the second, ...


def _is_time(element: Element) -> bool:
    """Returns whether an element is the time of an alarm."""
    return element.id == "digital_clock"


def is_switch(element: Element) -> bool:
    """Returns whether an element is the switch of an alarm."""
    return element.id == "onoff"


def _is_arrow(element: Element) -> bool:
    """Returns whether an element unfolds an alarm."""
    return element.label == "Expand alarm"


def _is_at(at: time, element: Element) -> bool:
    return _is_time(element) and element.label == half_day(at)


def _show_alarm(s: Screen, at: time) -> Iterator[str]:
    """Shows the alarms and scrolls until all of one is to be seen."""
    yield from open_tab(s, "Alarm")
    yield from s.scroll_to(partial(_is_at, at))
    if not _reachable(s, at):
        yield s.scroll("down")
    if not s.has(partial(_is_at, at)):  # a low screen has gone past it
        yield s.scroll("up")
        x, y = s.find(partial(_is_at, at)).center
        yield s.drag(partial(_is_at, at), (x, y - (s.find("Add alarm").bounds[3] - s.find("Add alarm").bounds[1])))


def _reachable(s: Screen, at: time) -> bool:
    """Returns whether the switch of an alarm is on the screen and not below the button that adds alarms."""
    top = s.find("Add alarm").bounds[1]
    return any(is_switch(element) and element.bounds[3] <= top for element in _after(s, at))


def _after(s: Screen, at: time) -> list[Element]:
    """Returns what follows the time of an alarm, up to the next alarm's."""
    place = s.elements.index(s.find(partial(_is_at, at)))
    return list(takewhile(lambda e: not _is_time(e), s.elements[place + 1 :]))


def part_of(s: Screen, at: time, what: Callable[[Element], bool]) -> Element:
    """Returns a part of the alarm at a time."""
    return next(filter(what, _after(s, at)))


def _time_of(s: Screen, label: str) -> Iterator[str]:
    """Scrolls to a label and to the time below it."""
    yield from open_tab(s, "Alarm")
    yield from s.scroll_to(label)
    if not any(map(_is_time, s.elements[s.elements.index(s.find(label)) :])):
        yield s.scroll("down")


def _read_time(s: Screen, label: str) -> str:
    return next(filter(_is_time, s.elements[s.elements.index(s.find(label)) :])).label


def _parsed(text: str) -> time:
    """Reads a time such as 3:00 PM."""
    hours, _, rest = text.partition(":")
    return time(int(hours) % 12 + 12 * rest.endswith("PM"), int(rest[:2]))


def new_alarm(s: Screen, at: time) -> Iterator[str]:
    """Adds an alarm, which then lies unfolded."""
    yield from open_tab(s, "Alarm")
    yield s.tap("Add alarm")
    yield from pick_half_day_time(s, at)


def unfold(s: Screen, at: time) -> Iterator[str]:
    """Unfolds the alarm at a time."""
    yield from _show_alarm(s, at)
    yield s.tap(part_of(s, at, _is_arrow))


def switch(s: Screen, at: time, on: bool) -> Iterator[str]:
    """Turns an alarm that is shown on or off, if it is not so already."""
    if part_of(s, at, is_switch).checked != on:
        yield s.tap(part_of(s, at, is_switch))


def write_label(s: Screen, text: str) -> Iterator[str]:
    """Gives the unfolded alarm its first label."""
    yield from s.follow("Add label")
    yield from s.fill("Label", text)
    yield s.tap("OK")


def repeat_on(s: Screen, days: tuple[str, ...]) -> Iterator[str]:
    """Lets the unfolded alarm repeat on some days."""
    yield from s.scroll_to(days[-1])
    for day in days:
        yield from s.toggle(day, True)


expert("ClockAddAlarm")(lambda s, p: new_alarm(s, time.fromisoformat(p["time"])))


@expert("ClockAddAlarmWithLabel")
def _add_labelled_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_alarm(s, time.fromisoformat(p["time"]))
    yield from write_label(s, p["label"])


@expert("ClockAddRepeatingAlarm")
def _add_repeating_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_alarm(s, time.fromisoformat(p["time"]))
    yield from repeat_on(s, tuple(day for day in DAYS if day in p["days"]))


@expert("ClockDeleteAlarm")
def _delete_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, time.fromisoformat(p["time"]))
    yield from s.follow("Delete")


@expert("ClockSwitchAlarm")
def _switch_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    at = time.fromisoformat(p["time"])
    yield from _show_alarm(s, at)
    yield from switch(s, at, p["on_or_off"] == "on")


@expert("ClockMoveAlarm")
def _move_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _time_of(s, p["label"])
    yield s.tap(partial(_is_at, _parsed(_read_time(s, p["label"]))))
    yield from pick_half_day_time(s, time.fromisoformat(p["new_time"]))


@expert("ClockLabelAlarm")
def _label_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, time.fromisoformat(p["time"]))
    yield from write_label(s, p["new_label"])


@expert("ClockAlarmTime")
def _tell_alarm_time(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _time_of(s, p["label"])
    yield s.finish(f"{_parsed(_read_time(s, p['label'])):%H:%M}")


@expert("ClockCountAlarms")
def _count_alarms(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    seen: dict[str, bool] = {}

    def look() -> None:
        shown = [_parsed(e.label) for e in s.elements if _is_time(e)]
        switches = {half_day(at): list(filter(is_switch, _after(s, at))) for at in shown}
        seen.update({at: found[0].checked for at, found in switches.items() if found})

    yield from s.sweep(look)
    yield s.finish(str(list(seen.values()).count(p["on_or_off"] == "on")))


# timers, settings, cities


@expert("ClockStartTimer")
def _start_timer(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Timer")
    yield from type_duration(s, 0, p["minutes"], 0)
    yield s.tap("Start")


def choose_setting(s: Screen, setting: str, option: str) -> Iterator[str]:
    """Chooses an option of one of the app's settings."""
    yield from open_tab(s, "Alarm")
    yield from s.follow("More options", "Settings", setting, option)


expert("ClockSnoozeLength")(lambda s, p: choose_setting(s, "Snooze length", f"{p['minutes']} minutes"))


def add_one_city(s: Screen, city: str) -> Iterator[str]:
    """Adds a city to those of the world clock, which is shown."""
    yield s.tap("Add city")
    yield from s.fill("Search for a city", city)
    yield s.tap(lambda element: element.label == city and not element.editable)


@expert("ClockAddCity")
def _add_city(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    yield from add_one_city(s, p["city"])


@expert("ClockCityTime")
def _tell_city_time(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    yield s.finish(f"{_parsed(s.find(p['city']).label.split(', ')[-1]):%H:%M}")
