"""Clock: alarms, world clock, timers and a stopwatch, after Google's app."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock import requests
from coach_gym.envs.apps.clock.alarms import Alarms
from coach_gym.envs.apps.clock.cards import CARDS
from coach_gym.envs.apps.clock.cities import WorldClock
from coach_gym.envs.apps.clock.data import RUNNING, WEEKDAYS, WEEKEND, Alarm
from coach_gym.envs.apps.clock.ringing import SILENCE, RingingAlarm, RingingTimer, coming, expired, ring, silence
from coach_gym.envs.apps.clock.tab import ClockScreen, Tab
from coach_gym.envs.apps.clock.timers import Stopwatch, Timers
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.alarms import Wakeup
from coach_gym.envs.phone.app import App, Choice, Host, Menu, Screen
from coach_gym.envs.phone.intents import Intent
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

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Setting:
    """One of several values to be chosen: what the row says, the preference, labels with their values, the default."""

    title: str
    key: str
    options: Mapping[str, str]
    default: str


@dataclass(frozen=True)
class Edition:
    """What differs between the app's versions on the two phones.

    Attributes:
        tabs: Icon, name and maker of each tab.
        bar: Makes the bar of tabs, from their icons and names, the name of the one in front, and what shows another.
        alarms: What a new phone has.
        settings: What there is to choose before the settings that every version has.
        since: When these alarms were set; None for the moment when the phone is made.
    """

    tabs: tuple[tuple[str, str, Callable[[], Tab]], ...]
    bar: Callable[[Sequence[tuple[str, str]], str, Callable[[str], None]], View]
    alarms: tuple[Alarm, ...]
    settings: tuple[Setting, ...] = ()
    since: datetime | None = None


ANDROID_WORLD = Edition(
    tabs=(
        ("alarm", "Alarm", partial(Alarms, CARDS)),
        ("clock_outline", "Clock", WorldClock),
        ("timer_sand", "Timer", Timers),
        ("timer_outline", "Stopwatch", Stopwatch),
    ),
    bar=BottomNavigation,
    alarms=(Alarm(8, 30, WEEKDAYS, enabled=False), Alarm(9, 0, WEEKEND, enabled=False)),
)


class Clock(App):
    """The Clock app."""

    package = clock_data.PACKAGE
    activity = "com.android.deskclock.DeskClock"
    label = "Clock"
    icon = "clock"
    color = "#4285f4"

    def __init__(self, phone: Host, edition: Edition = ANDROID_WORLD) -> None:
        super().__init__(phone)
        self.edition = edition

    def install(self) -> None:
        """Sets the first alarms."""
        db = clock_data.opened(self.phone.storage)
        clock_data.replace_all(db, self.edition.alarms, self.edition.since or self.phone.now)

    def main(self) -> Screen:
        """Shows the tabs."""
        return Main(self.edition)

    def open(self, intent: Intent) -> bool:
        """Sets an alarm or a timer, and shows them."""
        if intent.action not in requests.TABS:
            return False
        requests.fulfil(self.phone, intent)
        screen = Main(self.edition)
        screen.current = self.edition.tabs[requests.TABS[intent.action]][1]
        self.phone.open_screen(self.package, screen)
        return True

    def elapsed(self, since: datetime) -> None:
        """Posts notifications for alarms and timers that are due; they ring when touched there."""
        now = self.phone.now
        for timer in expired(self.phone.storage, since, now):
            self._post("Timer", "Time's up", partial(self._show, RingingTimer, timer.id))
        if (since.hour, since.minute) != (now.hour, now.minute) or now - since >= HOUR:
            self._ring(clock_data.opened(self.phone.storage), self.phone.local(since), self.phone.local(now))

    def wakeups(self) -> Iterator[Wakeup]:
        """Yields when the alarms ring, and when the first of the timers ends."""
        for at in coming(clock_data.opened(self.phone.storage)):
            yield Wakeup(self.phone.on_clock(at), "change_state", told=True)
        known = clock_data.timers(preferences.load(self.phone.storage, clock_data.PREFERENCES))
        left = [timer.remaining(self.phone.now) for timer in known if timer.state == RUNNING]
        if ahead := [each for each in left if each > 0]:
            at = self.phone.now + timedelta(milliseconds=min(ahead))
            yield Wakeup(at, "com.android.deskclock.action.TIMER_EXPIRED")

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
    """The tabs. Each of them keeps what was typed or unfolded while another is looked at."""

    app: Clock

    def __init__(self, edition: Edition) -> None:
        super().__init__()
        self.current = edition.tabs[0][1]
        self.tabs = {name: make() for _, name, make in edition.tabs}

    def build(self) -> View:
        """Shows the tab in front, and the bar of tabs."""
        tab = self.tabs[self.current]
        tab.app = self.app
        more = IconButton("dots_vertical", "More options", self._menu)
        entries = [(icon, name) for icon, name, _ in self.app.edition.tabs]
        bottom = self.app.edition.bar(entries, self.current, partial(setattr, self, "current"))
        return Scaffold(self.current, tab.build(), actions=[more], fab=tab.fab(), bottom=bottom)

    def _menu(self) -> None:
        self.push(Menu([("Settings", lambda: self.push(ClockSettings()))]))


class ClockSettings(ClockScreen):
    """How alarms, clocks and timers behave; kept in the app's preferences."""

    app: Clock

    def build(self) -> View:
        """Lists the settings."""
        rows = [
            *(self._choice(setting) for setting in self.app.edition.settings),
            Header("Clock"),
            self._switch("Display time with seconds", "display_clock_seconds"),
            Header("Alarms"),
            *(self._choice(setting) for setting in ALARM_SETTINGS),
            Header("Timers"),
            self._switch("Timer vibrate", "timer_vibrate"),
        ]
        return Scaffold("Settings", ListView(rows), on_back=self.pop)

    def _switch(self, title: str, key: str) -> View:
        on = bool(self.preferences.get(key, False))
        return SwitchItem(title, on, partial(self.prefer, key, not on))

    def _choice(self, setting: Setting) -> View:
        value = self.preferences.get(setting.key, setting.default)
        current = next(label for label, option in setting.options.items() if option == value)
        return ListItem(setting.title, current, partial(self._choose, setting, current))

    def _choose(self, setting: Setting, current: str) -> None:
        options = setting.options
        self.push(Choice(setting.title, list(options), lambda label: self.prefer(setting.key, options[label]), current))


def _minutes(*numbers: int) -> dict[str, str]:
    return {f"{n} minute{'' if n == 1 else 's'}": str(n) for n in numbers}


_SECONDS = {"Never": "0", "15 seconds": "15", "30 seconds": "30", "60 seconds": "60"}

ALARM_SETTINGS = (
    Setting("Silence after", "auto_silence", _minutes(1, 5, 10, 15, 20, 25) | {"Never": "-1"}, "10"),
    Setting("Snooze length", "snooze_duration", _minutes(1, 5, 10, 15, 20, 25, 30), "10"),
    Setting("Gradually increase volume", "alarm_crescendo_duration", _SECONDS, "0"),
    Setting("Start week on", "week_start", {d: d for d in ("Saturday", "Sunday", "Monday")}, "Sunday"),
)

APP = Clock
