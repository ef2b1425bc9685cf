"""The Clock app's alarms."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import time, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.data import DAYS, Alarm
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.app import Choice, Prompt, Screen
from coach_gym.envs.phone.pickers import TimePicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    CheckItem,
    Column,
    Empty,
    Fab,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Switch,
    Text,
)

SOUNDS = ("Argon", "Bright Morning", "Carbon", "Cuckoo Clock", "Helium", "Krypton", "Neon", "Oxygen")


class Alarms(Screen):
    """The list of alarms; one of them may be unfolded to be changed."""

    def __init__(self) -> None:
        super().__init__()
        self.unfolded = 0  # id of an alarm

    def build(self) -> View:
        rows = [self._card(alarm) if alarm.id == self.unfolded else self._row(alarm) for alarm in self._alarms()]
        return ListView([*rows, View(height=80)], "alarms") if rows else Empty("No alarms", "alarm")

    def fab(self) -> View:
        return Fab("plus", "Add alarm", self._add)

    # rows

    def _row(self, alarm: Alarm) -> View:
        texts = [Text(alarm.time, 30, _color(alarm))]
        texts += [Text(text, 13, theme.SECONDARY, max_lines=1) for text in (alarm.label, self._when(alarm)) if text]
        return Row(
            [Column(texts, flex=1), self._switch(alarm)], pad=(16, 8, 16, 8), important=True,
            on_tap=partial(self._unfold, alarm.id),
        )  # fmt: skip

    def _card(self, alarm: Alarm) -> View:
        heading = Row(
            [
                Text(alarm.time, 40, _color(alarm), on_tap=partial(self._pick_time, alarm), id="digital_clock"),
                View(flex=1),
                IconButton("chevron_up", "Collapse alarm", partial(self._unfold, 0)),
                self._switch(alarm),
            ],
            pad=(16, 4, 16, 0), gap=6,
        )  # fmt: skip
        label, sound = partial(self._ask_label, alarm), partial(self._pick_sound, alarm)
        days = [self._day(alarm, day) for day in self._week()]
        rows = [
            heading,
            Text(self._when(alarm), 13, theme.SECONDARY, pad=(16, 0, 16, 6), important=False),
            ListItem(alarm.label or "Add label", on_tap=label, leading=Icon("label_outline")),
            Row(days, pad=(10, 6, 10, 6), gap=4, justify="center"),
            ListItem("Alarm sound", alarm.sound, sound, leading=Icon("bell_ring_outline")),
            CheckItem("Vibrate", alarm.vibrate, partial(self._change, alarm, vibrate=not alarm.vibrate)),
            ListItem("Delete", on_tap=partial(self._delete, alarm.id), leading=Icon("delete_outline")),
        ]
        return Column(rows, bg=theme.SURFACE_VARIANT)

    def _switch(self, alarm: Alarm) -> View:
        return Switch(alarm.enabled, partial(self._switched, alarm), alarm.time, "onoff")

    def _day(self, alarm: Alarm, day: int) -> View:
        on = bool(alarm.days >> day & 1)
        letter = Text(DAYS[day][0], 14, theme.ON_PRIMARY if on else theme.TEXT, align="center", important=False)
        return View(
            "android.widget.CheckBox", [letter], desc=DAYS[day], checkable=True, checked=on, width=42, height=42,
            radius=21, justify="center", bg=theme.PRIMARY if on else theme.SURFACE, border=theme.OUTLINE,
            on_tap=partial(self._change, alarm, days=alarm.days ^ 1 << day),
        )  # fmt: skip

    def _when(self, alarm: Alarm) -> str:
        """The days on which an alarm repeats, or when it rings."""
        if alarm.days == 0b1111111:
            return "Every day"
        if alarm.days:
            return ", ".join(DAYS[day][:3] for day in self._week() if alarm.days >> day & 1)
        if not alarm.enabled:
            return "Not scheduled"
        return "Today" if alarm.rings(self.now).date() == self.now.date() else "Tomorrow"

    def _week(self) -> list[int]:
        """Places of the days in `DAYS`, in the order in which the settings start a week."""
        values = preferences.load(self.phone.storage, clock_data.PREFERENCES)
        first = {"Saturday": 5, "Sunday": 6, "Monday": 0}[str(values.get("week_start", "Sunday"))]
        return [(first + i) % 7 for i in range(7)]

    # what touches do

    def _unfold(self, id: int) -> None:
        self.unfolded = id

    def _add(self) -> None:
        self.push(TimePicker(self.now.time(), self._added))

    def _added(self, at: time) -> None:
        self.unfolded = self._save(Alarm(at.hour, at.minute))

    def _pick_time(self, alarm: Alarm) -> None:
        self.push(TimePicker(time(alarm.hour, alarm.minute), partial(self._timed, alarm)))

    def _timed(self, alarm: Alarm, at: time) -> None:
        self._save(replace(alarm, hour=at.hour, minute=at.minute, enabled=True))

    def _switched(self, alarm: Alarm) -> None:
        self._save(replace(alarm, enabled=not alarm.enabled))

    def _change(self, alarm: Alarm, **changes: Any) -> None:
        clock_data.save(self._db, replace(alarm, **changes), self.now)

    def _ask_label(self, alarm: Alarm) -> None:
        self.push(Prompt("Add label", partial(self._labelled, alarm), alarm.label, hint="Label"))

    def _labelled(self, alarm: Alarm, label: str) -> None:
        self._change(alarm, label=label.strip())

    def _pick_sound(self, alarm: Alarm) -> None:
        self.push(Choice("Alarm sound", SOUNDS, partial(self._sounded, alarm), alarm.sound))

    def _sounded(self, alarm: Alarm, sound: str) -> None:
        self._change(alarm, sound=sound)

    def _delete(self, id: int) -> None:
        clock_data.delete(self._db, id)
        self.notify("Alarm deleted")

    # data

    @property
    def _db(self) -> sqlite3.Connection:
        return self.phone.storage.database(clock_data.ALARMS)

    def _alarms(self) -> list[Alarm]:
        return clock_data.alarms(self._db)

    def _save(self, alarm: Alarm) -> int:
        """Stores an alarm and says when it rings. Returns its id."""
        id = clock_data.save(self._db, alarm, self.now)
        if alarm.enabled:
            self.notify(f"Alarm set for {_span(alarm.rings(self.now) - self.now)} from now.")
        return id


def _color(alarm: Alarm) -> str:
    return theme.TEXT if alarm.enabled else theme.SECONDARY


def _span(time: timedelta) -> str:
    """A span of time in words, in whole minutes."""
    minutes = int(time.total_seconds()) // 60
    parts = ((minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute"))
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " and ".join(words) or "less than 1 minute"
