"""The events of Simple Calendar Pro: their table, and the days on which repeated events take place.

Times are seconds since 1970: in the table by the phone's clock, in an `Event` by clocks of the time zone that is set,
which tell the days apart. An event for all day has the same days in every zone. An event repeats every `interval`
seconds: multiples of `DAY`, `WEEK`, `MONTH` or `YEAR`, where the last two stand for calendar months and years. The rule
of a weekly event has a bit for each weekday, Monday the lowest.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from coach_gym.envs.phone.epoch import Moved, from_seconds, midnight, to_millis, to_seconds, unmoved
from coach_gym.envs.phone.records import Table, as_integer

PACKAGE = "com.simplemobiletools.calendar.pro"
DATABASE = f"/data/data/{PACKAGE}/databases/events.db"
SCHEMA = """
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, title TEXT NOT NULL,
    location TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
    reminder_1_minutes INTEGER NOT NULL DEFAULT -1, reminder_2_minutes INTEGER NOT NULL DEFAULT -1,
    reminder_3_minutes INTEGER NOT NULL DEFAULT -1, reminder_1_type INTEGER NOT NULL DEFAULT 0,
    reminder_2_type INTEGER NOT NULL DEFAULT 0, reminder_3_type INTEGER NOT NULL DEFAULT 0,
    repeat_interval INTEGER NOT NULL DEFAULT 0, repeat_rule INTEGER NOT NULL DEFAULT 0,
    repeat_limit INTEGER NOT NULL DEFAULT 0, repetition_exceptions TEXT NOT NULL DEFAULT '[]',
    attendees TEXT NOT NULL DEFAULT '', import_id TEXT NOT NULL DEFAULT '', time_zone TEXT NOT NULL DEFAULT 'UTC',
    flags INTEGER NOT NULL DEFAULT 0, event_type INTEGER NOT NULL DEFAULT 1, parent_id INTEGER NOT NULL DEFAULT 0,
    last_updated INTEGER NOT NULL DEFAULT 0, source TEXT NOT NULL DEFAULT 'simple-calendar',
    availability INTEGER NOT NULL DEFAULT 0, color INTEGER NOT NULL DEFAULT 0, type INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE event_types (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, color INTEGER NOT NULL,
    caldav_calendar_id INTEGER NOT NULL DEFAULT 0, caldav_display_name TEXT NOT NULL DEFAULT '',
    caldav_email TEXT NOT NULL DEFAULT '', type INTEGER NOT NULL DEFAULT 0
);
INSERT INTO event_types(title, color, type) VALUES ('Regular event', -15043608, 0);
"""
TABLE = Table("events", "id")
DAY, WEEK, MONTH, YEAR = 86_400, 604_800, 2_592_001, 31_536_000
REPETITIONS = {"No repetition": 0, "Daily": DAY, "Weekly": WEEK, "Monthly": MONTH, "Yearly": YEAR}
_COLOR = -15043608  # of a type of events
ALL_DAY = 1  # bit of `flags`
_EPOCH = date(1970, 1, 1).toordinal()
_SAME_DAY = 1  # the rule of monthly and yearly events
_COLUMNS = (
    f"id, {as_integer('start_ts')}, {as_integer('end_ts')}, title, location, description, repeat_interval, "
    f"repeat_rule, {as_integer('repeat_limit')}, repetition_exceptions, flags, reminder_1_minutes, reminder_2_minutes, "
    "reminder_3_minutes, event_type"
)
_WRITTEN = {  # columns by the fields of an `Event`
    "start": "start_ts", "end": "end_ts", "title": "title", "location": "location", "description": "description",
    "interval": "repeat_interval", "rule": "repeat_rule", "limit": "repeat_limit", "flags": "flags",
    "reminder_1": "reminder_1_minutes", "reminder_2": "reminder_2_minutes", "reminder_3": "reminder_3_minutes",
    "type": "event_type",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """An event, or one occurrence of it with the occurrence's `start` and `end`."""

    id: int | None
    start: int
    end: int
    title: str = ""
    location: str = ""
    description: str = ""
    interval: int = 0
    rule: int = 0
    limit: int = 0  # start of the last occurrence at the latest; 0: none
    exceptions: str = "[]"  # JSON: days like "20231015" on which it does not take place
    flags: int = 0
    reminder_1: int = -1  # minutes before the start; -1: none
    reminder_2: int = -1
    reminder_3: int = -1
    type: int = 1  # key of the table `event_types`

    @property
    def reminders(self) -> tuple[int, ...]:
        """The minutes before the start at which the app reminds of it."""
        return tuple(each for each in (self.reminder_1, self.reminder_2, self.reminder_3) if each >= 0)

    @property
    def all_day(self) -> bool:
        """Whether it takes all day."""
        return bool(self.flags & ALL_DAY)

    @property
    def day(self) -> date:
        """The day on which it starts."""
        return date.fromordinal(_EPOCH + self.start // DAY)

    @property
    def repetition(self) -> str:
        """How often it takes place, in the app's words."""
        return next((name for name, interval in REPETITIONS.items() if interval == self.interval), "Custom")

    def on(self, day: date) -> Event:
        """Returns the occurrence that starts on a day."""
        shift = to_seconds(midnight(day)) - to_seconds(midnight(self.day))
        return replace(self, start=self.start + shift, end=self.end + shift)

    def takes_place(self, day: date) -> bool:
        """Returns whether an occurrence of this repeated event starts on a day."""
        if day < self.day or (self.limit > 0 and self.on(day).start > self.limit):
            return False
        return self._in_rhythm(day) and day_code(day) not in self.exceptions

    def _in_rhythm(self, day: date) -> bool:
        first = self.day
        months = 12 * (day.year - first.year) + day.month - first.month
        if self.interval % YEAR == 0:
            return day.day == first.day and months % (12 * (self.interval // YEAR)) == 0
        if self.interval % MONTH == 0:
            return day.day == first.day and months % (self.interval // MONTH) == 0
        if self.interval % WEEK == 0:
            weeks = (day - day.weekday() * _ONE_DAY - first + first.weekday() * _ONE_DAY).days // 7
            return self.rule >> day.weekday() & 1 == 1 and weeks % (self.interval // WEEK) == 0
        return (day - first).days % max(1, self.interval // DAY) == 0

    def shifted(self, moved: Moved) -> Event:
        """Returns the event with its times moved between the phone's clock and the time zone that is set."""
        if self.all_day:
            return self
        limit = _moved(self.limit, moved) if self.limit > 0 else self.limit
        return replace(self, start=_moved(self.start, moved), end=_moved(self.end, moved), limit=limit)


_ONE_DAY = timedelta(days=1)


def _moved(seconds: int, moved: Moved) -> int:
    at = from_seconds(seconds)
    return seconds + (moved(at) - at) // timedelta(seconds=1)


def day_code(day: date) -> str:
    """Returns a day as it stands in the column `repetition_exceptions`."""
    return f"{day:%Y%m%d}"


def rule_for(interval: int, day: date) -> int:
    """Returns the rule of an event that starts on a day and repeats on the same weekday, or day of the month."""
    if interval % YEAR == 0 or interval % MONTH == 0:
        return _SAME_DAY if interval else 0
    return 1 << day.weekday() if interval % WEEK == 0 else 0


def get(db: sqlite3.Connection, id: int, local: Moved = unmoved) -> Event | None:
    """Returns an event by its id, or None if there is none."""
    return next(_events(db, local, "id = ?", (id,)), None)


def _events(db: sqlite3.Connection, local: Moved, where: str, values: tuple = ()) -> Iterator[Event]:
    for row in db.execute(f"SELECT {_COLUMNS} FROM events WHERE {where}", values):
        yield Event(*row).shifted(local)


def between(db: sqlite3.Connection, first: date, last: date, local: Moved = unmoved) -> list[Event]:
    """Returns all occurrences of events on the days from `first` to `last`, in order."""
    start, end = to_seconds(midnight(first)), to_seconds(midnight(last)) + DAY
    near = "start_ts < ? AND (repeat_interval > 0 OR max(end_ts, start_ts + 1) > ?)"
    found: list[Event] = []
    days = [first + n * _ONE_DAY for n in range((last - first).days + 1)]
    for event in _events(db, local, near, (end + 2 * DAY, start - 2 * DAY)):  # zones are less than two days apart
        if event.interval > 0:
            found += [event.on(day) for day in days if event.takes_place(day)]
        elif event.start < end and max(event.end, event.start + 1) > start:
            found.append(event)
    return sorted(found, key=_order)


def search(db: sqlite3.Connection, words: str, local: Moved = unmoved) -> list[Event]:
    """Returns the events whose texts contain some words, each once, in order."""
    texts = "title || char(10) || location || char(10) || description"
    return sorted(_events(db, local, f"instr(lower({texts}), lower(?))", (words,)), key=_order)


def reminders(db: sqlite3.Connection, since: datetime, now: datetime, local: Moved = unmoved) -> list[Event]:
    """Returns the occurrences of events of which the app reminds after `since`, up to `now`, in order."""
    since, now = local(since), local(now)
    found: list[Event] = []
    for event in _events(db, local, "max(reminder_1_minutes, reminder_2_minutes, reminder_3_minutes) >= 0"):
        for minutes in event.reminders:
            before = timedelta(minutes=minutes)
            days = [(since + before).date() + n * _ONE_DAY for n in range((now.date() - since.date()).days + 2)]
            each = [event.on(day) for day in days if event.takes_place(day)] if event.interval else [event]
            found += [one for one in each if to_seconds(since + before) < one.start <= to_seconds(now + before)]
    return sorted(set(found), key=_order)


def event_types(db: sqlite3.Connection) -> dict[str, int]:
    """Returns the keys of the types of events, by name."""
    return dict(db.execute("SELECT title, id FROM event_types ORDER BY id"))


def add_event_type(db: sqlite3.Connection, name: str) -> int:
    """Stores a new type of events, or finds the one of that name. Returns its key."""
    known = event_types(db)
    if name not in known:
        db.execute("INSERT INTO event_types (title, color) VALUES (?, ?)", (name, _COLOR))
    return event_types(db)[name]


def _order(event: Event) -> tuple:
    return event.day, not event.all_day, event.start, event.title, event.id


def save(db: sqlite3.Connection, event: Event, now: datetime, on_clock: Moved = unmoved) -> None:
    """Stores a new event (`id` None) or the texts, times and repetition of an old one."""
    event = event.shifted(on_clock)
    columns = {column: getattr(event, field) for field, column in _WRITTEN.items()} | {"last_updated": to_millis(now)}
    if event.id is None:
        TABLE.insert(db, {**columns, "import_id": f"{event.start:x}{to_millis(now)}"})
    else:
        TABLE.update(db, event.id, columns)


def delete(db: sqlite3.Connection, event: Event) -> None:
    """Removes an event with all its occurrences."""
    TABLE.delete(db, event.id)


def delete_occurrence(db: sqlite3.Connection, occurrence: Event) -> None:
    """Makes an exception for one day of a repeated event."""
    exceptions = json.dumps([*json.loads(occurrence.exceptions), day_code(occurrence.day)])
    db.execute("UPDATE events SET repetition_exceptions = ? WHERE id = ?", (exceptions, occurrence.id))


def delete_from(db: sqlite3.Connection, occurrence: Event) -> None:
    """Ends a repeated event before one of its occurrences, whose times are those of the phone's clock."""
    db.execute("UPDATE events SET repeat_limit = ? WHERE id = ?", (occurrence.start - 1, occurrence.id))
    db.execute("DELETE FROM events WHERE id = ? AND repeat_limit < start_ts", (occurrence.id,))
