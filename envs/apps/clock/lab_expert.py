"""Experts of AndroidLab's tasks in the Clock app."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import time
from functools import partial
from typing import Any

from coach_gym.envs.apps.clock.expert import type_duration
from coach_gym.envs.tasks.pickers import pick_half_day_time
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Clock"
WORKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
WEEKEND = ("Saturday", "Sunday")
DAYS = (*WORKDAYS, *WEEKEND)


def _tab(s: Screen, name: str) -> Iterator[str]:
    yield from s.open(APP)
    tab = s.find(lambda e: e.label == name and e.cls == "FrameLayout")
    if not tab.selected:
        yield s.tap(tab)


def _new(s: Screen, at: time) -> Iterator[str]:
    """Adds an alarm, which then lies unfolded."""
    yield from _tab(s, "Alarm")
    yield s.tap("Add alarm")
    yield from pick_half_day_time(s, at)


def _spoken(at: time) -> str:
    return f"{at.hour % 12 or 12}:{at:%M}\u200a{at:%p}"


def _of(s: Screen, at: time, what: Callable[[Element], bool]) -> Element:
    """Of the alarm at a time: what stands at the height of its time, or right below."""
    shown = s.find(lambda e: e.id == "digital_clock" and e.label == _spoken(at))
    return min((e for e in s.elements if what(e)), key=lambda e: abs(e.center[1] - shown.center[1]))


def _is_switch(element: Element) -> bool:
    return element.id == "onoff"


def _unfold(s: Screen, at: time) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    yield s.tap(_of(s, at, lambda e: e.label == "Expand alarm"))


def _switch(s: Screen, at: time, on: bool) -> Iterator[str]:
    if _of(s, at, _is_switch).checked != on:
        yield s.tap(_of(s, at, _is_switch))


def _label(s: Screen, text: str) -> Iterator[str]:
    yield s.tap("Add label")
    yield from s.fill("Label", text)
    yield s.tap("OK")


def _repeat(s: Screen, days: tuple[str, ...]) -> Iterator[str]:
    for day in days:
        yield from s.toggle(day, True)


@expert("clock_1")
def meeting(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, time(15))
    yield from _label(s, "meeting")
    yield s.finish()


@expert("clock_2")
def silent_argon(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, time(6, 45))
    yield from s.toggle("Vibrate", False)
    yield s.tap("Ringtone")
    yield s.tap("Argon")
    yield s.finish()


@expert("clock_3")
def workdays(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, time(7))
    yield from _repeat(s, WORKDAYS)
    yield s.finish()


@expert("clock_4")
def every_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _unfold(s, time(9))
    yield from _repeat(s, DAYS)
    yield from _switch(s, time(9), True)
    yield s.finish()


@expert("clock_5")
def tomorrow(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, time(10, 30))
    yield s.finish()


@expert("clock_6")
def football(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, time(22, 30))
    yield from _repeat(s, WEEKEND)
    yield from _label(s, "Watch Football Games")
    yield s.finish()


@expert("clock_7")
def all_off(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    while on := [e for e in s.elements if _is_switch(e) and e.checked]:
        yield s.tap(on[0])
    yield s.finish()


@expert("clock_8")
def none_after_two(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    while late := [e for e in s.elements if e.id == "digital_clock" and _after_two(e.label)]:
        after = [e for e in s.elements if e.label == "Expand alarm" and e.center[1] > late[0].bounds[1]]
        yield s.tap(after[0])
        yield from s.scroll_to("Delete")
        yield s.tap("Delete")
    yield s.finish()


def _after_two(label: str) -> bool:
    hours, _, rest = label.partition(":")
    return rest.endswith("PM") and (int(hours) % 12, rest[:2]) > (2, "00")


def _switching_off(at: time) -> Callable[[Screen, Mapping[str, Any]], Iterator[str]]:
    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _tab(s, "Alarm")
        yield from _switch(s, at, False)
        yield s.finish()

    return play


expert("clock_9")(_switching_off(time(16)))
expert("clock_26")(_switching_off(time(7, 30)))


@expert("clock_27")
def three(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, time(15))
    yield s.finish()


# questions about alarms


@expert("clock_10")
def earliest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    switches = [e for e in s.elements if _is_switch(e)]
    first = next(e for e in switches if e.checked)
    times = [e for e in s.elements if e.id == "digital_clock"]
    yield s.finish(times[switches.index(first)].label.replace("\u200a", " "))


@expert("clock_11")
def rings_every_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    shown = s.elements.index(s.find(lambda e: e.id == "digital_clock" and e.label == _spoken(time(16))))
    yield s.finish("Yes" if s.elements[shown + 1].label == "Every day" else "No")


@expert("clock_12")
def vibrates(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _unfold(s, time(16))
    yield from s.scroll_to("Vibrate")
    yield s.finish("Yes" if s.find("Vibrate").checked else "No")


@expert("clock_13")
def how_many(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    yield s.finish(f"{sum(e.checked for e in s.elements if _is_switch(e))} alarms")


@expert("clock_14")
def nine_is_on(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Alarm")
    yield s.finish("Yes" if _of(s, time(9), _is_switch).checked else "No")


# cities, timers, bedtime


def _is_city(name: str, element: Element) -> bool:
    return element.label == name and not element.editable


def _is_described(start: str, element: Element) -> bool:
    return element.desc.startswith(start)


@expert("clock_15")
def two_cities(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Clock")
    for city in ("London", "Barcelona"):
        yield s.tap("Add city")
        yield from s.fill("Search for a city", city)
        yield s.tap(partial(_is_city, city))
    yield s.finish()


@expert("clock_16")
def barcelona(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Clock")
    yield s.finish(s.find("Barcelona").label.split(", ")[2])


@expert("clock_17")
def no_barcelona(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Clock")
    yield s.long_press("Barcelona")
    yield s.tap("Delete")
    yield s.finish()


@expert("clock_18")
def timer(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Timer")
    yield from type_duration(s, 1, 15, 0)
    yield s.finish()


@expert("clock_19")
def sleep_times(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Bedtime")
    for name, at in (("Bedtime", time(22)), ("Wake-up", time(7))):
        yield s.tap(partial(_is_described, f"{name} "))
        yield from pick_half_day_time(s, at)
    yield s.finish()


@expert("clock_20")
def deep_space(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Bedtime")
    yield s.tap(lambda e: e.desc.startswith("sleep sound"))
    yield s.tap("Deep space")
    yield s.finish()


@expert("clock_21")
def wake_up_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _tab(s, "Bedtime")
    yield from s.toggle("Sunrise alarm", True)
    yield s.finish()


# settings


def _choosing(setting: str, option: str) -> Callable[[Screen, Mapping[str, Any]], Iterator[str]]:
    """An expert that chooses an option of one of the app's settings."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _tab(s, "Alarm")
        yield s.tap("More options")
        yield s.tap("Settings")
        yield from s.scroll_to(setting)
        yield s.tap(setting)
        yield from s.scroll_to(option)
        yield s.tap(option)
        yield s.finish()

    return play


expert("clock_22")(_choosing("Style", "Analog"))
expert("clock_23")(_choosing("Home time zone", "Tokyo"))
expert("clock_24")(_choosing("Silence after", "5 minutes"))


@expert("clock_25")
def open_clock(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield s.finish()
