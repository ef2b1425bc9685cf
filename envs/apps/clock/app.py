"""Clock: alarms, world clock, timers and a stopwatch, after Google's app."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from functools import partial

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.alarms import Alarms
from coach_gym.envs.apps.clock.cities import WorldClock
from coach_gym.envs.apps.clock.data import Alarm
from coach_gym.envs.apps.clock.ringing import SILENCE, RingingAlarm, RingingTimer, expired, ring, silence
from coach_gym.envs.apps.clock.timers import Stopwatch, Timers
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.app import App, Choice, Menu, Screen
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    BottomNavigation,
    Header,
    IconButton,
    ListItem,
    ListView,
    Scaffold,
    SwitchItem,
)

TABS = (("alarm", "Alarm"), ("clock_outline", "Clock"), ("timer_sand", "Timer"), ("timer_outline", "Stopwatch"))

HOUR = timedelta(hours=1)
WEEKDAYS, WEEKEND = 0b0011111, 0b1100000


class Clock(App):
    package = clock_data.PACKAGE
    activity = "com.android.deskclock.DeskClock"
    label = "Clock"
    icon = "clock"
    color = "#4285f4"

    def install(self) -> None:
        db = self.database(clock_data.ALARMS, clock_data.SCHEMA)
        for alarm in (Alarm(8, 30, WEEKDAYS, enabled=False), Alarm(9, 0, WEEKEND, enabled=False)):
            clock_data.save(db, alarm, self.phone.now)

    def main(self) -> Screen:
        return Main()

    def elapsed(self, since: datetime) -> None:
        """Alarms and timers that are due tell so in the notification shade, and ring when touched there."""
        now = self.phone.now
        for timer in expired(self.phone.storage, since, now):
            self._post("Timer", "Time's up", partial(self._show, RingingTimer, timer.id))
        if (since.hour, since.minute) != (now.hour, now.minute) or now - since >= HOUR:
            self._ring(self.phone.storage.database(clock_data.ALARMS), since, now)

    def _ring(self, db: sqlite3.Connection, since: datetime, now: datetime) -> None:
        for id, label, at in ring(db, since, now):
            self._post(label or "Alarm", at, partial(self._show, RingingAlarm, id))
        minutes = int(str(preferences.load(self.phone.storage, clock_data.PREFERENCES).get("auto_silence", SILENCE)))
        for id, label, at in silence(db, now, minutes):
            self._post("Missed alarm", f"{at} {label}".strip(), partial(self._show, RingingAlarm, id))

    def _post(self, title: str, text: str, then: partial) -> None:
        self.phone.post(Notification(self.package, title, text, self.phone.now, then))

    def _show(self, screen: type[RingingAlarm | RingingTimer], id: int) -> None:
        self.phone.push(self, screen(id))


class Main(Screen):
    """The four tabs. Each of them keeps what was typed or unfolded while another is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.current = "Alarm"
        self.tabs: dict[str, Alarms | WorldClock | Timers | Stopwatch] = {
            "Alarm": Alarms(),
            "Clock": WorldClock(),
            "Timer": Timers(),
            "Stopwatch": Stopwatch(),
        }

    def build(self) -> View:
        tab = self.tabs[self.current]
        tab.app = self.app
        more = IconButton("dots_vertical", "More options", self._menu)
        bottom = BottomNavigation(TABS, self.current, self._select)
        return Scaffold(self.current, tab.build(), actions=[more], fab=tab.fab(), bottom=bottom)

    def _select(self, label: str) -> None:
        self.current = label

    def _menu(self) -> None:
        self.push(Menu([("Settings", self._settings)]))

    def _settings(self) -> None:
        self.push(ClockSettings())


class ClockSettings(Screen):
    """How alarms, clocks and timers behave; kept in the app's preferences."""

    def build(self) -> View:
        return Scaffold("Settings", ListView(self.rows()), on_back=self.pop)

    def rows(self) -> list[View]:
        """One row a setting, under headings."""
        return [
            Header("Clock"),
            self._switch("Display time with seconds", "display_clock_seconds"),
            Header("Alarms"),
            self._choice("Silence after", "auto_silence", _minutes((1, 5, 10, 15, 20, 25)) | {"Never": "-1"}, "10"),
            self._choice("Snooze length", "snooze_duration", _minutes((1, 5, 10, 15, 20, 25, 30)), "10"),
            self._choice("Gradually increase volume", "alarm_crescendo_duration", _SECONDS, "0"),
            self._choice("Start week on", "week_start", {d: d for d in ("Saturday", "Sunday", "Monday")}, "Sunday"),
            Header("Timers"),
            self._switch("Timer vibrate", "timer_vibrate"),
        ]

    def _get(self, key: str, default: preferences.Value) -> preferences.Value:
        return preferences.load(self.phone.storage, clock_data.PREFERENCES).get(key, default)

    def _put(self, key: str, value: preferences.Value) -> None:
        preferences.update(self.phone.storage, clock_data.PREFERENCES, {key: value})

    def _switch(self, title: str, key: str) -> View:
        on = bool(self._get(key, False))
        return SwitchItem(title, on, partial(self._put, key, not on))

    def _choice(self, title: str, key: str, options: dict[str, str], default: str) -> View:
        value = self._get(key, default)
        current = next(label for label, option in options.items() if option == value)
        return ListItem(title, current, partial(self._choose, title, key, options, current))

    def _choose(self, title: str, key: str, options: dict[str, str], current: str) -> None:
        self.push(Choice(title, list(options), partial(self._chosen, key, options), current))

    def _chosen(self, key: str, options: dict[str, str], label: str) -> None:
        self._put(key, options[label])


def _minutes(numbers: tuple[int, ...]) -> dict[str, str]:
    return {f"{n} minute{'' if n == 1 else 's'}": str(n) for n in numbers}


_SECONDS = {"Never": "0", "15 seconds": "15", "30 seconds": "30", "60 seconds": "60"}

APP = Clock
