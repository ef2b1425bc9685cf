"""Experts of the Clock tasks that AndroidLab's authors publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import time
from functools import partial
from typing import Any

from coach_gym.envs.apps.clock.data import DAYS, half_day
from coach_gym.envs.apps.clock.expert import type_duration
from coach_gym.envs.apps.clock.lab_expert import (
    add_one_city,
    choose_setting,
    is_switch,
    new_alarm,
    open_tab,
    part_of,
    repeat_on,
    switch,
    unfold,
    write_label,
)
from coach_gym.envs.tasks.pickers import pick_half_day_time
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

WORKDAYS, WEEKEND = DAYS[:5], DAYS[5:]


@expert("clock_1")
def _meeting(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_alarm(s, time(15))
    yield from write_label(s, "meeting")


@expert("clock_2")
def _silent_argon(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_alarm(s, time(6, 45))
    yield from s.toggle("Vibrate", False)
    yield from s.follow("Ringtone", "Argon")


@expert("clock_3")
def _workdays(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_alarm(s, time(7))
    yield from repeat_on(s, WORKDAYS)


@expert("clock_4")
def _every_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, time(9))
    yield from repeat_on(s, DAYS)
    yield from switch(s, time(9), True)


expert("clock_5")(lambda s, p: new_alarm(s, time(10, 30)))
expert("clock_27")(lambda s, p: new_alarm(s, time(15)))


@expert("clock_6")
def _football(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_alarm(s, time(22, 30))
    yield from repeat_on(s, WEEKEND)
    yield from write_label(s, "Watch Football Games")


@expert("clock_7")
def _all_off(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    while on := [e for e in s.elements if is_switch(e) and e.checked]:
        yield s.tap(on[0])


@expert("clock_8")
def _none_after_two(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    while late := [e for e in s.elements if e.id == "digital_clock" and _after_two(e.label)]:
        after = [e for e in s.elements if e.label == "Expand alarm" and e.center[1] > late[0].bounds[1]]
        yield s.tap(after[0])
        yield from s.follow("Delete")


def _after_two(label: str) -> bool:
    hours, _, rest = label.partition(":")
    return rest.endswith("PM") and (int(hours) % 12, rest[:2]) > (2, "00")


def _switch_off(s: Screen, at: time) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    yield from switch(s, at, False)


expert("clock_9")(lambda s, p: _switch_off(s, time(16)))
expert("clock_26")(lambda s, p: _switch_off(s, time(7, 30)))


# questions about alarms


@expert("clock_10")
def _earliest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    switches = [e for e in s.elements if is_switch(e)]
    first = next(e for e in switches if e.checked)
    times = [e for e in s.elements if e.id == "digital_clock"]
    yield s.finish(times[switches.index(first)].label.replace("\u200a", " "))


@expert("clock_11")
def _rings_every_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    shown = s.elements.index(s.find(lambda e: e.id == "digital_clock" and e.label == half_day(time(16))))
    yield s.finish("Yes" if s.elements[shown + 1].label == "Every day" else "No")


@expert("clock_12")
def _vibrates(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from unfold(s, time(16))
    yield from s.scroll_to("Vibrate")
    yield s.finish("Yes" if s.find("Vibrate").checked else "No")


@expert("clock_13")
def _how_many(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    yield s.finish(f"{sum(e.checked for e in s.elements if is_switch(e))} alarms")


@expert("clock_14")
def _nine_is_on(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Alarm")
    yield s.finish("Yes" if part_of(s, time(9), is_switch).checked else "No")


# cities, timers, bedtime


def _is_described(start: str, element: Element) -> bool:
    return element.desc.startswith(start)


@expert("clock_15")
def _two_cities(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    for city in ("London", "Barcelona"):
        yield from add_one_city(s, city)


@expert("clock_16")
def _barcelona(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    yield s.finish(s.find("Barcelona").label.split(", ")[2])


@expert("clock_17")
def _no_barcelona(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Clock")
    yield s.long_press("Barcelona")
    yield s.tap("Delete")


@expert("clock_18")
def _timer(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Timer")
    yield from type_duration(s, 1, 15, 0)


@expert("clock_19")
def _sleep_times(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Bedtime")
    for name, at in (("Bedtime", time(22)), ("Wake-up", time(7))):
        yield s.tap(partial(_is_described, f"{name} "))
        yield from pick_half_day_time(s, at)


@expert("clock_20")
def _deep_space(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Bedtime")
    yield s.tap(lambda e: e.desc.startswith("sleep sound"))
    yield s.tap("Deep space")


@expert("clock_21")
def _wake_up_alarm(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_tab(s, "Bedtime")
    yield from s.toggle("Sunrise alarm", True)


# settings


expert("clock_22")(lambda s, p: choose_setting(s, "Style", "Analog"))
expert("clock_23")(lambda s, p: choose_setting(s, "Home time zone", "Tokyo"))
expert("clock_24")(lambda s, p: choose_setting(s, "Silence after", "5 minutes"))
expert("clock_25")(lambda s, p: s.open("Clock"))
