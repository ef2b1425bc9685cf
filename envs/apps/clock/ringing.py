"""The Clock app's alarms and timers when their time has come."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.data import PREFERENCES, RESET, RUNNING, Timer
from coach_gym.envs.apps.clock.tab import ClockScreen
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, Icon, Row, Space, Text

SCHEDULED, SNOOZED, FIRED = 0, 4, 5
"""Values of `alarm_instances.alarm_state`, as in Android's open clock."""
SNOOZE = SILENCE = "10"  # minutes, unless the settings say otherwise
MINUTE = 60_000  # in milliseconds


def expired(storage: Storage, since: datetime, now: datetime) -> list[Timer]:
    """Returns the running timers whose time was up after `since`."""
    known = clock_data.timers(preferences.load(storage, PREFERENCES))
    return [t for t in known if t.state == RUNNING and t.remaining(since) > 0 >= t.remaining(now)]


Due = tuple[int, str, str]
"""Id of an instance of an alarm, its label, and the time of day at which it rings."""


def ring(db: sqlite3.Connection, since: datetime, now: datetime) -> list[Due]:
    """Lets the alarms ring that were due after `since`, and returns them."""
    found = _due(db, (SCHEDULED, SNOOZED), since, now)
    db.executemany("UPDATE alarm_instances SET alarm_state = ? WHERE _id = ?", [(FIRED, id) for id, _, _ in found])
    return found


def coming(db: sqlite3.Connection) -> Iterator[datetime]:
    """Yields when the alarms ring that have not yet rung; dates that clients have written, and that are none, never."""
    columns = "year, month + 1, day, hour, minutes"  # Java counts months from 0
    for row in db.execute(f"SELECT {columns} FROM alarm_instances WHERE alarm_state IN (?, ?)", (SCHEDULED, SNOOZED)):
        with suppress(ValueError, TypeError, OverflowError):
            yield datetime(*row)


def silence(db: sqlite3.Connection, now: datetime, minutes: int) -> list[Due]:
    """Stops the alarms that have rung for that many minutes (never if negative), and returns them."""
    if minutes < 0:
        return []
    found = _due(db, (FIRED, FIRED), datetime.min, now - timedelta(minutes=minutes))
    for id, _, _ in found:
        stop(db, id, now)
    return found


def _due(db: sqlite3.Connection, states: tuple[int, int], since: datetime, until: datetime) -> list[Due]:
    rows = db.execute(
        "SELECT _id, label, printf('%02d:%02d', hour, minutes),"
        " printf('%04d-%02d-%02d %02d:%02d:00', year, month + 1, day, hour, minutes) AS due FROM alarm_instances"
        " WHERE alarm_state IN (?, ?) AND due > ? AND due <= ?",  # Java counts months from 0
        (*states, since.isoformat(" ", "seconds"), until.isoformat(" ", "seconds")),
    )
    return [(id, label, time) for id, label, time, _ in rows.fetchall()]


def stop(db: sqlite3.Connection, id: int, now: datetime) -> None:
    """Stops an alarm. If it repeats, it is set for its next day; otherwise it is off from now on."""
    of = db.execute("SELECT alarm_id FROM alarm_instances WHERE _id = ?", (id,)).fetchone()
    alarm = next((alarm for alarm in clock_data.alarms(db) if of and alarm.id == of[0]), None)
    if alarm is not None:
        clock_data.save(db, replace(alarm, enabled=bool(alarm.days)), now)
    db.execute("DELETE FROM alarm_instances WHERE _id = ? AND alarm_state = ?", (id, FIRED))


class Ringing(ClockScreen):
    """A full screen that says what rings, with two buttons."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def face(self, icon: str, title: str, text: str, buttons: list[View]) -> View:
        """Returns what such a screen looks like."""
        parts = [
            Column([Icon(icon, 64, theme.PRIMARY)], align="center"),
            Text(title, 56, align="center", id="digital_clock"),
            Text(text, 18, theme.SECONDARY, align="center", id="alert_title"),
        ]
        return Column([Space(96), *parts, Space(flex=1), Row(buttons, gap=32, justify="center"), Space(72)], gap=10)

    def over(self) -> View:
        """Returns what is shown once it has stopped."""
        return self.face("alarm_off", "", "Nothing rings any more", [Button("Close", self.pop, kind="text")])


class RingingAlarm(Ringing):
    """An alarm that rings: it is stopped, or rings again in some minutes. `id` is that of its instance."""

    def build(self) -> View:
        """Shows the alarm with "Snooze" and "Stop"."""
        row = self._db.execute(
            "SELECT hour, minutes, label FROM alarm_instances WHERE _id = ? AND alarm_state = ?", (self.id, FIRED)
        ).fetchone()
        if row is None:
            return self.over()
        hour, minute, label = row
        buttons = [Button("Snooze", self._snooze, "snooze", "tonal"), Button("Stop", self._stop, "dismiss")]
        return self.face("alarm", f"{hour:02d}:{minute:02d}", label or "Alarm", buttons)

    @property
    def _db(self) -> sqlite3.Connection:
        return clock_data.opened(self.phone.storage)

    def _snooze(self) -> None:
        minutes = int(str(self.preferences.get("snooze_duration", SNOOZE)))
        at = self.local_now + timedelta(minutes=minutes)
        self._db.execute(
            "UPDATE alarm_instances SET year = ?, month = ?, day = ?, hour = ?, minutes = ?, alarm_state = ?"
            " WHERE _id = ?",
            (at.year, at.month - 1, at.day, at.hour, at.minute, SNOOZED, self.id),
        )
        self.notify(f"Snoozing for {minutes} minutes")
        self.pop()

    def _stop(self) -> None:
        stop(self._db, self.id, self.local_now)
        self.pop()


class RingingTimer(Ringing):
    """A timer whose time is up: it is stopped, or gets another minute."""

    def build(self) -> View:
        """Shows for how long the time has been up, with "+1:00" and "Stop"."""
        timer = self._timer()
        if timer is None or timer.state != RUNNING or timer.remaining(self.now) > 0:
            return self.over()
        seconds = -timer.remaining(self.now) // 1000
        buttons = [Button("+1:00", self._extend, kind="tonal", desc="Add 1 minute"), Button("Stop", self._stop)]
        return self.face("timer_outline", f"-{seconds // 60}:{seconds % 60:02d}", "Time's up", buttons)

    def _timer(self) -> Timer | None:
        known = clock_data.timers(self.preferences)
        return next((timer for timer in known if timer.id == self.id), None)

    def _extend(self) -> None:
        """Starts it again with one minute."""
        self._save(left=MINUTE, state=RUNNING, started=clock_data.milliseconds(self.now))

    def _stop(self) -> None:
        timer = self._timer()
        if timer is not None:
            self._save(left=timer.length, state=RESET, started=0)

    def _save(self, **values: int) -> None:
        timer = self._timer()
        if timer is not None:
            clock_data.save_timer(self.phone.storage, replace(timer, **values))
        self.pop()
