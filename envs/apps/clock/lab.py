"""The Clock app of AndroidLab's phone: a later version of Google's, on a 12-hour clock and with a bedtime.

Its judges read elements in a certain order and nesting: within an alarm the label, time, days, switch and what is
unfolded below them lie flat in the list, and the switch with its time is an element of its own.
"""

from __future__ import annotations

import math
from datetime import datetime, time, timedelta
from functools import lru_cache, partial
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.apps.clock import app as clock
from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.alarms import Alarms
from coach_gym.envs.apps.clock.cities import WorldClock, difference, time_in
from coach_gym.envs.apps.clock.data import Alarm
from coach_gym.envs.apps.clock.timers import Stopwatch, Timers
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.app import Choice, Menu, Screen
from coach_gym.envs.phone.pickers import HalfDayPicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Icon,
    IconButton,
    ListItem,
    Picture,
    Row,
    Scaffold,
    Space,
    Switch,
    Text,
)

TABS = (*clock.TABS, ("bed", "Bedtime"))
TODAY = datetime(2024, 5, 10, 12)  # when AndroidLab's tasks begin
HERE = 8  # hours that the phone's clock is ahead of UTC: its zone is Shanghai's
THIN = "\u200a"  # stands between a time and AM or PM
ALARMS = (
    Alarm(7, 30, clock.WEEKDAYS), Alarm(9, 0, enabled=False), Alarm(11, 15, clock.WEEKEND, enabled=False),
    Alarm(16, 0, 0b0010101, label="gym"),
)  # fmt: skip
SLEEP_SOUNDS = ("None", "Deep space", "Ocean waves", "Rainfall", "Windy leaves")
ZONES = (
    "(GMT-8:00) Pacific Time", "(GMT-5:00) Eastern Time", "(GMT+0:00) London", "(GMT+2:00) Barcelona, Paris",
    "(GMT+3:00) Moscow", "(GMT+5:30) Mumbai", "(GMT+8:00) Shanghai", "(GMT+9:00) Osaka, Tokyo",
    "(GMT+10:00) Sydney",
)  # fmt: skip


def half_day(at: time) -> str:
    """A time as this app writes it, such as 3:00 PM."""
    return f"{at.hour % 12 or 12}:{at.minute:02d}{THIN}{'PM' if at.hour >= 12 else 'AM'}"


class LabClock(clock.Clock):
    def install(self) -> None:
        db = self.database(clock_data.ALARMS, clock_data.SCHEMA)
        clock_data.replace_all(db, ALARMS, TODAY)

    def main(self) -> Screen:
        return Main()


class Main(Screen):
    """The five tabs."""

    def __init__(self) -> None:
        super().__init__()
        self.current = "Alarm"
        self.tabs: dict[str, Any] = {
            "Alarm": LabAlarms(), "Clock": LabWorldClock(), "Timer": Timers(), "Stopwatch": Stopwatch(),
            "Bedtime": Bedtime(),
        }  # fmt: skip

    def build(self) -> View:
        tab = self.tabs[self.current]
        tab.app = self.app
        more = IconButton("dots_vertical", "More options", self._menu)
        bottom = Row([self._tab(*entry) for entry in TABS], bg=theme.SURFACE_VARIANT)
        return Scaffold(self.current, tab.build(), actions=[more], fab=tab.fab(), bottom=bottom)

    def _tab(self, icon: str, label: str) -> View:
        chosen = label == self.current
        color = theme.PRIMARY if chosen else theme.SECONDARY
        parts = [Icon(icon, 22, color), Text(label, 11, color, align="center", max_lines=1, important=False)]
        return View(
            "android.widget.FrameLayout", parts, desc=label, selected=chosen, focusable=True, flex=1, height=56,
            on_tap=None if chosen else partial(self._select, label), justify="center", gap=2,
        )  # fmt: skip

    def _select(self, label: str) -> None:
        self.current = label

    def _menu(self) -> None:
        self.push(Menu([("Settings", self._settings)]))

    def _settings(self) -> None:
        self.push(LabClockSettings())


class LabAlarms(Alarms):
    """The list of alarms, flat."""

    def _row(self, alarm: Alarm) -> View:
        texts = [Text(alarm.label, 13, theme.SECONDARY, max_lines=1, desc="Label")] if alarm.label else []
        texts.append(self._time(alarm, 30))
        texts.append(Text(self._when(alarm), 13, theme.SECONDARY, max_lines=1))
        unfold = IconButton("chevron_down", "Expand alarm", partial(self._unfold, alarm.id))
        return Row([Column(texts, flex=1), unfold, self._switch(alarm)], 6, (16, 8, 16, 8))

    def _card(self, alarm: Alarm) -> View:
        label = Text(
            alarm.label or "Add label", 15, flex=1, desc="Label" if alarm.label else "",
            on_tap=partial(self._ask_label, alarm),
        )  # fmt: skip
        fold = IconButton("chevron_up", "Collapse alarm", partial(self._unfold, 0))
        sound = Text(alarm.sound, 15, desc="Ringtone", on_tap=partial(self._pick_sound, alarm), flex=1)
        vibrate = self._mark("Vibrate", alarm.vibrate, partial(self._change, alarm, vibrate=not alarm.vibrate))
        delete = Text("Delete", 15, on_tap=partial(self._delete, alarm.id), flex=1)
        rows = [
            Row([Icon("label_outline"), label, fold], 14),
            Row([self._time(alarm, 40), Space(flex=1), self._switch(alarm)]),
            Text(self._when(alarm), 13, theme.SECONDARY),
            Row([self._day(alarm, day) for day in self._week()], 4, (0, 6, 0, 6), justify="center"),
            Row([Icon("bell_ring_outline"), sound], 14, (0, 8, 0, 8)),
            vibrate,
            Row([Icon("delete_outline"), delete], 14, (0, 10, 0, 10)),
        ]
        return Column(rows, 2, (16, 8, 16, 8), bg=theme.SURFACE_VARIANT)

    def _time(self, alarm: Alarm, size: float) -> View:
        color = theme.TEXT if alarm.enabled else theme.SECONDARY
        text = half_day(time(alarm.hour, alarm.minute))
        return Text(text, size, color, id="digital_clock", on_tap=partial(self._pick_time, alarm))

    def _switch(self, alarm: Alarm) -> View:
        """An element of its own: the time that it is for, and its state."""
        then = partial(self._switched, alarm)
        color = theme.PRIMARY if alarm.enabled else theme.SECONDARY
        mark = Icon("alarm", 18, color, desc=half_day(time(alarm.hour, alarm.minute)))
        return View(
            "com.google.android.deskclock.widget.TimedSwitch", [mark, Switch(alarm.enabled, then)], axis="h",
            gap=6, align="center", checkable=True, checked=alarm.enabled, desc="Alarm", on_tap=then, id="onoff",
        )  # fmt: skip

    def _mark(self, text: str, on: bool, then: partial) -> View:
        box = Icon("checkbox_marked" if on else "checkbox_blank_outline", color=theme.PRIMARY)
        return View(
            "android.widget.CheckBox", [box, Text(text, 15, important=False)], axis="h", gap=14, align="center",
            text=text, checkable=True, checked=on, on_tap=then, min_height=theme.TOUCH,
        )  # fmt: skip

    def _add(self) -> None:
        self.push(HalfDayPicker(self.now.time(), self._added))

    def _pick_time(self, alarm: Alarm) -> None:
        self.push(HalfDayPicker(time(alarm.hour, alarm.minute), partial(self._timed, alarm)))


class LabWorldClock(WorldClock):
    """The phone's time and that of the chosen cities, on a 12-hour clock."""

    def build(self) -> View:
        style = preferences.load(self.phone.storage, clock_data.PREFERENCES).get("clock_style", "digital")
        reading = half_day(self.now.time())
        analog = Picture(_face(self.now.hour % 12, self.now.minute), reading, 140, id="analog_clock", whole=True)
        here = [
            analog if style == "analog" else Text(reading, 56, id="digital_clock"),
            Text(self.now.strftime("%a, %b %-d"), 14, theme.SECONDARY, id="date"),
        ]
        rows = [self._row(city) for city in self._cities()]
        return Column([Column(here, pad=(16, 4, 16, 12)), *rows])

    def _row(self, city: str) -> View:
        there = time_in(city, self.now - timedelta(hours=HERE))
        reading = Text(half_day(there.time()), 24)
        return ListItem(city, difference(self.now, there), on_long=partial(self._menu, city), trailing=reading)


@lru_cache(maxsize=8)
def _face(hour: int, minute: int) -> np.ndarray:
    """The face of a clock with two hands: 280 x 280 x 3 uint8."""
    image = Image.new("RGB", (280, 280), theme.SURFACE)
    draw = ImageDraw.Draw(image)
    draw.ellipse((10, 10, 270, 270), outline=theme.TEXT, width=8)
    for turn, length, width in ((hour / 12 + minute / 720, 70, 10), (minute / 60, 105, 6)):
        angle = 2 * math.pi * turn
        draw.line((140, 140, 140 + length * math.sin(angle), 140 - length * math.cos(angle)), theme.TEXT, width)
    return np.array(image)


class Bedtime(Screen):
    """When to sleep and to wake up, and what to hear meanwhile; kept in the app's preferences."""

    def build(self) -> View:
        bed, wake = (self._moment(key) for key in ("bedtime", "wakeup"))
        on = bool(self._get("wakeup_alarm", False))
        switch = Switch(on, partial(self._put, "wakeup_alarm", not on), "Sunrise alarm", "wakeup_switch")
        caption = Text("Sunrise alarm", 12, theme.SECONDARY, important=False)
        schedule = [
            Text("BEDTIME", 12, theme.SECONDARY),
            self._shown(bed, "Bedtime", "bedtime"),
            Text("WAKE UP", 12, theme.SECONDARY),
            Row([self._shown(wake, "Wake-up", "wakeup"), Space(flex=1), caption, switch], 10),
        ]
        card = View(
            "android.view.ViewGroup", schedule, desc="Schedule", gap=6, pad=(16, 12, 16, 12), radius=12,
            bg=theme.SURFACE_VARIANT,
        )  # fmt: skip
        return Column([Column([card], pad=(16, 8, 16, 16)), self._sounds()])

    def fab(self) -> View | None:
        return None

    def _shown(self, at: time, name: str, key: str) -> View:
        text = half_day(at)
        return Text(text, 32, desc=f"{name} {text}", on_tap=partial(self._ask, key, at))

    def _sounds(self) -> View:
        sound = str(self._get("sleep_sound", SLEEP_SOUNDS[0]))
        name = Text(
            sound, 16, desc=f"sleep sound {sound}", on_tap=self._ask_sound, pad=(0, 10, 0, 10), flex=1,
        )  # fmt: skip
        heading = Text("Listen to sleep sounds", 13, theme.SECONDARY, pad=(16, 4, 16, 0))
        return Column([heading, Row([Icon("music_note"), name], 14, (16, 0, 16, 0))])

    def _moment(self, key: str) -> time:
        return time.fromisoformat(str(self._get(key, {"bedtime": "23:00", "wakeup": "07:00"}[key])))

    def _ask(self, key: str, at: time) -> None:
        self.app.phone.push(self.app, HalfDayPicker(at, partial(self._set, key)))

    def _set(self, key: str, at: time) -> None:
        self._put(key, f"{at:%H:%M}")

    def _ask_sound(self) -> None:
        self.push(Choice("Sleep sounds", SLEEP_SOUNDS, partial(self._put, "sleep_sound")))

    def _get(self, key: str, default: preferences.Value) -> preferences.Value:
        return preferences.load(self.phone.storage, clock_data.PREFERENCES).get(key, default)

    def _put(self, key: str, value: preferences.Value) -> None:
        preferences.update(self.phone.storage, clock_data.PREFERENCES, {key: value})


class LabClockSettings(clock.ClockSettings):
    """With a style of the clock and a home time zone before what there was."""

    def rows(self) -> list[View]:
        zones = {zone: zone for zone in ZONES}
        return [
            self._choice("Style", "clock_style", {"Digital": "digital", "Analog": "analog"}, "digital"),
            self._choice("Home time zone", "home_time_zone", zones, ZONES[6]),
            *super().rows(),
        ]


APP = LabClock
