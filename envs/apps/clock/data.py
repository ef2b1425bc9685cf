"""What the Clock app stores: alarms in a database; timers, stopwatch, cities and settings in its preferences."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from coach_gym.envs.phone import preferences

if TYPE_CHECKING:
    from coach_gym.envs.phone.storage import Storage

PACKAGE = "com.google.android.deskclock"
ALARMS = f"/data/user_de/0/{PACKAGE}/databases/alarms.db"
PREFERENCES = f"/data/user_de/0/{PACKAGE}/shared_prefs/{PACKAGE}_preferences.xml"

SCHEMA = """
CREATE TABLE alarm_templates (
    _id INTEGER PRIMARY KEY, hour INTEGER NOT NULL, minutes INTEGER NOT NULL, daysofweek INTEGER NOT NULL,
    enabled INTEGER NOT NULL, vibrate INTEGER NOT NULL, label TEXT NOT NULL, ringtone TEXT,
    delete_after_use INTEGER NOT NULL DEFAULT 0);
CREATE TABLE alarm_instances (
    _id INTEGER PRIMARY KEY, year INTEGER NOT NULL, month INTEGER NOT NULL, day INTEGER NOT NULL,
    hour INTEGER NOT NULL, minutes INTEGER NOT NULL, vibrate INTEGER NOT NULL, label TEXT NOT NULL, ringtone TEXT,
    alarm_state INTEGER NOT NULL, alarm_id INTEGER REFERENCES alarm_templates(_id) ON UPDATE CASCADE ON DELETE CASCADE);
"""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Bit i of `daysofweek` stands for the i-th of these."""
WEEKDAYS, WEEKEND = 0b0011111, 0b1100000
SOUND = "Bright Morning"
THIN = "\u200a"  # stands between a time and AM or PM


def half_day(at: time) -> str:
    """Returns a time as a 12-hour clock has it, such as 3:00 PM."""
    return f"{at.hour % 12 or 12}:{at.minute:02d}{THIN}{'PM' if at.hour >= 12 else 'AM'}"


# alarms


@dataclass(frozen=True)
class Alarm:
    """A row of `alarm_templates`; `days` has a bit for each day of `DAYS` on which it repeats."""

    hour: int
    minute: int
    days: int = 0
    enabled: bool = True
    label: str = ""
    vibrate: bool = True
    sound: str = SOUND
    id: int = 0

    @property
    def time(self) -> str:
        """The time of day, such as 07:30."""
        return f"{self.hour:02d}:{self.minute:02d}"

    def rings(self, now: datetime) -> datetime:
        """Returns when it rings next, if it is on."""
        first = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        coming = (first + timedelta(days=n) for n in range(8))
        return next(at for at in coming if at > now and (not self.days or self.days >> at.weekday() & 1))


_COLUMNS = ("hour", "minutes", "daysofweek", "enabled", "label", "vibrate", "ringtone")


def opened(storage: Storage) -> sqlite3.Connection:
    """Returns the database's connection; it is made again if the file is missing."""
    return storage.create_database(ALARMS, SCHEMA)


def alarms(db: sqlite3.Connection) -> list[Alarm]:
    """Returns all alarms, by time of day."""
    columns = "hour, minutes, daysofweek, enabled, CAST(label AS TEXT), vibrate, CAST(ringtone AS TEXT), _id"
    rows = db.execute(f"SELECT {columns} FROM alarm_templates ORDER BY hour, minutes, _id")
    return [
        Alarm(_whole(hour) % 24, _whole(minute) % 60, _whole(days), bool(enabled), label, bool(vibrate), sound, id)
        for hour, minute, days, enabled, label, vibrate, sound, id in rows
    ]


def _whole(value: object) -> int:
    """Returns a number as Android's cursors do, who read what is none as 0."""
    return value if isinstance(value, int) else 0


def save(db: sqlite3.Connection, alarm: Alarm, now: datetime) -> int:
    """Stores an alarm, as a new one if its id is 0, and schedules it. Returns its id."""
    id = alarm.id or db.execute("SELECT 1 + ifnull(max(_id), 0) FROM alarm_templates").fetchone()[0]
    marks = ", ".join("?" * (len(_COLUMNS) + 1))
    changes = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS)
    db.execute(
        f"INSERT INTO alarm_templates ({', '.join(_COLUMNS)}, _id) VALUES ({marks})"
        f" ON CONFLICT (_id) DO UPDATE SET {changes}",
        (alarm.hour, alarm.minute, alarm.days, alarm.enabled, alarm.label, alarm.vibrate, alarm.sound, id),
    )
    _schedule(db, replace(alarm, id=id), now)
    return id


def _schedule(db: sqlite3.Connection, alarm: Alarm, now: datetime) -> None:
    db.execute("DELETE FROM alarm_instances WHERE alarm_id = ?", (alarm.id,))
    if alarm.enabled:
        at = alarm.rings(now)
        db.execute(
            "INSERT INTO alarm_instances"
            " (year, month, day, hour, minutes, vibrate, label, ringtone, alarm_state, alarm_id)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
            (at.year, at.month - 1, at.day, at.hour, at.minute, alarm.vibrate, alarm.label, alarm.sound, alarm.id),
        )  # Java counts months from 0


def replace_all(db: sqlite3.Connection, alarms: Iterable[Alarm], now: datetime) -> None:
    """Makes these the only alarms, with ids from 1."""
    db.execute("DELETE FROM alarm_instances")
    db.execute("DELETE FROM alarm_templates")
    for id, alarm in enumerate(alarms, start=1):
        save(db, replace(alarm, id=id), now)


def delete(db: sqlite3.Connection, id: int) -> None:
    """Removes an alarm."""
    db.execute("DELETE FROM alarm_instances WHERE alarm_id = ?", (id,))
    db.execute("DELETE FROM alarm_templates WHERE _id = ?", (id,))


# timers and stopwatch: running ones keep the moment of their last start, so that nothing needs to tick

RUNNING, PAUSED, RESET = 1, 2, 4


def milliseconds(at: datetime) -> int:
    """Returns milliseconds since 1970."""
    return round((at - datetime(1970, 1, 1)).total_seconds() * 1000)


@dataclass(frozen=True)
class Timer:
    """A timer; times in milliseconds. `left` is what was left when it was last started."""

    length: int
    left: int
    state: int = RESET
    started: int = 0
    id: int = 0

    def remaining(self, now: datetime) -> int:
        """Returns what is left now; negative once it has expired."""
        return self.left - (milliseconds(now) - self.started if self.state == RUNNING else 0)


_TIMER_KEYS = ("timer_setup_timet", "timer_time_left", "timer_state", "timer_start_time")
"""What a timer's numbers are called in the preferences, in the order of the fields of `Timer`."""


def timers(values: dict[str, preferences.Value]) -> list[Timer]:
    """Returns the timers in a set of preferences, the newest first."""
    ids = values.get("timers_list", frozenset())
    assert isinstance(ids, frozenset)
    return [_timer(values, id) for id in sorted(map(int, ids), reverse=True)]


def _timer(values: dict[str, preferences.Value], id: int) -> Timer:
    length, left, state, started = (int(str(values[f"{key}_{id}"])) for key in _TIMER_KEYS)
    return Timer(length, left, state, started, id)


def save_timer(storage: Storage, timer: Timer) -> None:
    """Stores a timer, as a new one if its id is 0."""
    values = preferences.load(storage, PREFERENCES)
    ids = [known.id for known in timers(values)]
    id = timer.id or max(ids, default=0) + 1
    numbers = zip(_TIMER_KEYS, (timer.length, timer.left, timer.state, timer.started), strict=True)
    changes = {f"{key}_{id}": number for key, number in numbers}
    preferences.update(storage, PREFERENCES, {"timers_list": frozenset(map(str, {*ids, id})), **changes})


def delete_timer(storage: Storage, id: int) -> None:
    """Removes a timer."""
    ids = {timer.id for timer in timers(preferences.load(storage, PREFERENCES))} - {id}
    gone = {f"{key}_{id}": None for key in _TIMER_KEYS}
    preferences.update(storage, PREFERENCES, {"timers_list": frozenset(map(str, ids)), **gone})


# cities


def cities(values: dict[str, preferences.Value]) -> list[str]:
    """Returns the cities whose time is shown, in the order in which they were added."""
    count = int(str(values.get("number_of_cities", 0)))
    return [str(values[f"city_id_{i}"]) for i in range(count)]


def city_values(names: list[str]) -> dict[str, preferences.Value]:
    """Returns the preferences that hold a list of cities."""
    return {"number_of_cities": len(names), **{f"city_id_{i}": name for i, name in enumerate(names)}}
