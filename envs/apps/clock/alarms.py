"""The Clock app's alarms."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import time, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.data import DAYS, Alarm
from coach_gym.envs.apps.clock.tab import Tab
from coach_gym.envs.phone.app import Choice, Prompt, Screen
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Empty, Fab, ListView, Text

SOUNDS = ("Argon", "Bright Morning", "Carbon", "Cuckoo Clock", "Helium", "Krypton", "Neon", "Oxygen")


@dataclass(frozen=True)
class Look:
    """How alarms are drawn, and how their times are picked.

    Attributes:
        row: Makes the row of a folded alarm.
        card: Makes what an unfolded alarm looks like.
        picker: Makes the dialog for a time of day, from the time at the start and what to call with the new one.
    """

    row: Callable[[Alarms, Alarm], View]
    card: Callable[[Alarms, Alarm], View]
    picker: Callable[[time, Callable[[time], Any]], Screen]


class Alarms(Tab):
    """The list of alarms; one of them may be unfolded to be changed."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look
        self.unfolded = 0  # id of an alarm

    def build(self) -> View:
        """Lists the alarms, by time of day."""
        rows = [self._view(alarm) for alarm in clock_data.alarms(self._db)]
        return ListView([*rows, View(height=80)], "alarms") if rows else Empty("No alarms", "alarm")

    def _view(self, alarm: Alarm) -> View:
        return self.look.card(self, alarm) if alarm.id == self.unfolded else self.look.row(self, alarm)

    def fab(self) -> View:
        """Returns the button that adds an alarm."""
        return Fab("plus", "Add alarm", lambda: self.push(self.look.picker(self.local_now.time(), self._added)))

    # parts of rows and cards

    def days(self, alarm: Alarm) -> list[View]:
        """Returns a box for each day of the week."""
        return [self._day(alarm, day) for day in self._week()]

    def _day(self, alarm: Alarm, day: int) -> View:
        on = bool(alarm.days >> day & 1)
        letter = Text(DAYS[day][0], 14, theme.ON_PRIMARY if on else theme.TEXT, align="center", important=False)
        return View(
            "android.widget.CheckBox", [letter], desc=DAYS[day], checkable=True, checked=on, width=42, height=42,
            radius=21, justify="center", bg=theme.PRIMARY if on else theme.SURFACE, border=theme.OUTLINE,
            on_tap=partial(self.change, alarm, days=alarm.days ^ 1 << day),
        )  # fmt: skip

    def when(self, alarm: Alarm) -> str:
        """Returns the days on which an alarm repeats, or when it rings."""
        if alarm.days == 0b1111111:
            return "Every day"
        if alarm.days:
            return ", ".join(DAYS[day][:3] for day in self._week() if alarm.days >> day & 1)
        if not alarm.enabled:
            return "Not scheduled"
        now = self.local_now
        return "Today" if alarm.rings(now).date() == now.date() else "Tomorrow"

    def _week(self) -> list[int]:
        """Places of the days in `DAYS`, in the order in which the settings start a week."""
        first = {"Saturday": 5, "Sunday": 6, "Monday": 0}[str(self.preferences.get("week_start", "Sunday"))]
        return [(first + i) % 7 for i in range(7)]

    # what touches do

    def unfold(self, id: int) -> None:
        """Unfolds the alarm of that id and folds the others; 0 folds all."""
        self.unfolded = id

    def _added(self, at: time) -> None:
        self.unfolded = self._save(Alarm(at.hour, at.minute))

    def pick_time(self, alarm: Alarm) -> None:
        """Asks for another time."""
        self.push(self.look.picker(time(alarm.hour, alarm.minute), partial(self._timed, alarm)))

    def _timed(self, alarm: Alarm, at: time) -> None:
        self._save(replace(alarm, hour=at.hour, minute=at.minute, enabled=True))

    def switched(self, alarm: Alarm) -> None:
        """Turns an alarm on or off."""
        self._save(replace(alarm, enabled=not alarm.enabled))

    def change(self, alarm: Alarm, **changes: Any) -> None:
        """Stores an alarm with some fields changed."""
        clock_data.save(self._db, replace(alarm, **changes), self.local_now)

    def ask_label(self, alarm: Alarm) -> None:
        """Asks for a label."""
        self.push(Prompt("Add label", lambda label: self.change(alarm, label=label.strip()), alarm.label, hint="Label"))

    def pick_sound(self, alarm: Alarm) -> None:
        """Asks for a sound."""
        self.push(Choice("Alarm sound", SOUNDS, lambda sound: self.change(alarm, sound=sound), alarm.sound))

    def delete(self, id: int) -> None:
        """Deletes the alarm of that id."""
        clock_data.delete(self._db, id)
        self.notify("Alarm deleted")

    # data

    @property
    def _db(self) -> sqlite3.Connection:
        return clock_data.opened(self.phone.storage)

    def _save(self, alarm: Alarm) -> int:
        """Stores an alarm and says when it rings. Returns its id."""
        now = self.local_now
        id = clock_data.save(self._db, alarm, now)
        if alarm.enabled:
            until = self.phone.on_clock(alarm.rings(now)) - self.now
            self.notify(f"Alarm set for {_span(until)} from now.")
        return id


def _span(time: timedelta) -> str:
    """Returns a span of time in words, in whole minutes."""
    minutes = int(time.total_seconds()) // 60
    parts = ((minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute"))
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " and ".join(words) or "less than 1 minute"
