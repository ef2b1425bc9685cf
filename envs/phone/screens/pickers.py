"""Dialogs that ask for a date or a time."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date, time
from functools import partial
from typing import Any

from coach_gym.envs.phone.app import Dialog
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import DIGITS, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Column, Grid, IconButton, Row, Space, Text, TextField


class DatePicker(Dialog):
    """A month with its days. `then` is called with the chosen `date` on OK."""

    def __init__(self, day: date, then: Callable[[date], Any]) -> None:
        super().__init__()
        self.day, self.month, self.then = day, day.replace(day=1), then

    def content(self) -> Sequence[View]:
        """Returns the chosen date, the month and its days."""
        heading = Text(self.day.strftime("%a, %b %-d"), 24, pad=(20, 14, 20, 6), id="date_picker_header_date")
        month = Row(
            [
                Text(self.month.strftime("%B %Y"), 14, bold=True, flex=1, pad=(8, 0, 0, 0)),
                IconButton("chevron_left", "Previous month", partial(self._turn, -1)),
                IconButton("chevron_right", "Next month", partial(self._turn, 1)),
            ],
            pad=(12, 0, 12, 0),
        )
        names = [Text(name, 12, theme.SECONDARY, align="center", important=False) for name in "SMTWTFS"]
        return [heading, month, Grid([*names, *self._days()], 7, pad=(12, 0, 12, 8))]

    def _days(self) -> list[View]:
        first = (self.month.weekday() + 1) % 7  # weeks start on Sunday
        last = calendar.monthrange(self.month.year, self.month.month)[1]
        return [Space(32) for _ in range(first)] + [self._day(self.month.replace(day=n)) for n in range(1, last + 1)]

    def _day(self, day: date) -> View:
        chosen = day == self.day
        return View(
            "android.view.View", text=str(day.day), desc=day.strftime("%d %B %Y"), on_tap=partial(self._pick, day),
            height=34, align="center", size=13, radius=17, bg=theme.PRIMARY if chosen else None, selected=chosen,
            color=theme.ON_PRIMARY if chosen else theme.TEXT,
        )  # fmt: skip

    def _pick(self, day: date) -> None:
        self.day = day

    def _turn(self, months: int) -> None:
        index = self.month.year * 12 + self.month.month - 1 + months
        self.month = date(index // 12, index % 12 + 1, 1)

    def buttons(self) -> Sequence[View]:
        """Returns Cancel and OK."""
        return [self.button("Cancel"), self.button("OK", lambda: self.then(self.day))]


class TimePicker(Dialog):
    """A clock of 24 hours: first the hour, then the minute, or both typed. `then` is called with the `time` on OK."""

    def __init__(self, at: time, then: Callable[[time], Any], title: str = "Select time") -> None:
        super().__init__(title)
        self.hour, self.minute, self.then = at.hour, at.minute, then
        self.choosing, self.typing = "hour", False
        self.hour_input, self.minute_input = TextInput(allowed=DIGITS), TextInput(allowed=DIGITS)

    def content(self) -> Sequence[View]:
        """Returns the time and the numbers to choose from, or the fields to type in."""
        if self.typing:
            return [self._fields()]
        shown = Row([self._part("hour"), Text(":", 30), self._part("minute")], justify="center", gap=4)
        values = range(24) if self.choosing == "hour" else range(0, 60, 5)
        return [shown, Grid([self._cell(value) for value in values], 6, gap=2, pad=(16, 8, 16, 4))]

    def _fields(self) -> View:
        return Row(
            [
                Column([TextField(self.hour_input, "Hour", "input_hour")], width=90),
                Text(":", 30),
                Column([TextField(self.minute_input, "Minute", "input_minute")], width=90),
            ],
            justify="center", gap=6, pad=(16, 8, 16, 8),
        )  # fmt: skip

    def _part(self, part: str) -> View:
        value, chosen = self._text(part), part == self.choosing
        return View(
            "android.widget.RadioButton", text=value, desc=f"{value} {part}s", size=34, radius=8, pad=(14, 6, 14, 6),
            checkable=True, checked=chosen, bg="#d3e3fd" if chosen else theme.SURFACE_VARIANT,
            on_tap=partial(self._choose, part),
        )  # fmt: skip

    def _text(self, part: str) -> str:
        return f"{getattr(self, part):02d}"

    def _choose(self, part: str) -> None:
        self.choosing = part

    def _cell(self, value: int) -> View:
        chosen = value == getattr(self, self.choosing)
        unit = "hours" if self.choosing == "hour" else "minutes"
        return View(
            "android.widget.TextView", text=f"{value:02d}", desc=f"{value} {unit}", size=14, height=36, radius=18,
            align="center", bg=theme.PRIMARY if chosen else None, color=theme.ON_PRIMARY if chosen else theme.TEXT,
            selected=chosen, on_tap=partial(self._pick, value),
        )  # fmt: skip

    def _pick(self, value: int) -> None:
        setattr(self, self.choosing, value)
        self.choosing = "minute"

    def buttons(self) -> Sequence[View]:
        """Returns the switch between clock and fields, Cancel and OK."""
        label = "Switch to clock" if self.typing else "Switch to text input"
        toggle = IconButton("clock_outline" if self.typing else "keyboard_outline", label, self._toggle)
        return [toggle, Space(flex=1), self.button("Cancel"), self.button("OK", self._done)]

    def _toggle(self) -> None:
        self._read_fields()
        self.typing = not self.typing

    def _read_fields(self) -> None:
        if self.hour_input.text.isdecimal() and int(self.hour_input.text) < 24:
            self.hour = int(self.hour_input.text)
        if self.minute_input.text.isdecimal() and int(self.minute_input.text) < 60:
            self.minute = int(self.minute_input.text)

    def _done(self) -> None:
        self._read_fields()
        self.then(time(self.hour, self.minute))


class HalfDayPicker(TimePicker):
    """A clock of 12 hours, with a choice of AM or PM."""

    def content(self) -> Sequence[View]:
        """Returns the time, the half of the day, and the numbers or fields."""
        halves = [self._half("AM", self.hour < 12), self._half("PM", self.hour >= 12)]
        chooser = Row(halves, justify="center", gap=8, pad=(16, 4, 16, 8))
        if self.typing:
            return [self._fields(), chooser]
        shown = Row([self._part("hour"), Text(":", 30), self._part("minute")], justify="center", gap=4)
        values = [0, *range(1, 12)] if self.choosing == "hour" else list(range(0, 60, 5))
        return [shown, chooser, Grid([self._cell(value) for value in values], 6, gap=2, pad=(16, 8, 16, 4))]

    def _half(self, name: str, chosen: bool) -> View:
        return View(
            "android.widget.RadioButton", text=name, size=16, radius=8, pad=(18, 8, 18, 8), checkable=True,
            checked=chosen, bg="#d3e3fd" if chosen else theme.SURFACE_VARIANT, on_tap=partial(self._turn_to, name),
        )  # fmt: skip

    def _turn_to(self, name: str) -> None:
        self._read_fields()
        self.hour = self.hour % 12 + (12 if name == "PM" else 0)

    def _text(self, part: str) -> str:
        return str(self.hour % 12 or 12) if part == "hour" else f"{self.minute:02d}"

    def _cell(self, value: int) -> View:
        hours = self.choosing == "hour"
        chosen = value == (self.hour % 12 if hours else self.minute)
        text = str(value or 12) if hours else f"{value:02d}"
        return View(
            "android.widget.TextView", text=text, desc=f"{text if hours else value} {'hours' if hours else 'minutes'}",
            size=14, height=36, radius=18, align="center", bg=theme.PRIMARY if chosen else None,
            color=theme.ON_PRIMARY if chosen else theme.TEXT, selected=chosen, on_tap=partial(self._pick, value),
        )  # fmt: skip

    def _pick(self, value: int) -> None:
        super()._pick(value + (12 if self.choosing == "hour" and self.hour >= 12 else 0))

    def _read_fields(self) -> None:
        hour, after_noon = self.hour_input.text, self.hour >= 12
        if hour.isdecimal() and 1 <= int(hour) <= 12:
            self.hour = int(hour) % 12 + (12 if after_noon else 0)
        if self.minute_input.text.isdecimal() and int(self.minute_input.text) < 60:
            self.minute = int(self.minute_input.text)
