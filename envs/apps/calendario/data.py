"""The events of Calendario: the table, and how they are read and stored."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

PACKAGE = "com.skuld.calendario"
PATH = f"/data/data/{PACKAGE}/databases/calendario.db"
SCHEMA = """
CREATE TABLE event (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, starts TEXT NOT NULL, ends TEXT NOT NULL,
    all_day INTEGER NOT NULL, recurrence TEXT NOT NULL, note TEXT NOT NULL, notifications TEXT NOT NULL,
    location TEXT NOT NULL DEFAULT '');
"""
RECURRENCES = ("Does not repeat", "Daily", "Weekly", "Monthly", "Yearly")
NOTIFICATIONS = {
    "At time of event": 0, "5 minutes before": 5, "10 minutes before": 10, "15 minutes before": 15,
    "30 minutes before": 30, "1 hour before": 60, "1 day before": 1440,
}  # fmt: skip


@dataclass
class Event:
    """A row of `event`; notifications are minutes before the start."""

    title: str
    starts: datetime
    ends: datetime
    all_day: bool = False
    recurrence: str = RECURRENCES[0]
    note: str = ""
    notifications: tuple[int, ...] = (30,)
    location: str = ""
    id: int = 0


_COLUMNS = ("title", "starts", "ends", "all_day", "recurrence", "note", "notifications", "location")


def events(db: sqlite3.Connection) -> list[Event]:
    """Returns all events, by their start."""
    return [_event(*row) for row in db.execute(f"SELECT {', '.join(_COLUMNS)}, _id FROM event ORDER BY starts, _id")]


def _event(
    title: str, starts: str, ends: str, all_day: int, recurrence: str, note: str, before: str, location: str, id: int
) -> Event:
    first, last = datetime.fromisoformat(starts), datetime.fromisoformat(ends)
    minutes = tuple(int(number) for number in before.split())
    return Event(title, first, last, bool(all_day), recurrence, note, minutes, location, id)


def save(db: sqlite3.Connection, event: Event) -> int:
    """Stores an event, as a new one if its id is 0. Returns its id."""
    values = (
        event.title, event.starts.isoformat(" "), event.ends.isoformat(" "), event.all_day, event.recurrence,
        event.note, " ".join(map(str, event.notifications)), event.location,
    )  # fmt: skip
    if event.id:
        assignments = ", ".join(f"{column} = ?" for column in _COLUMNS)
        db.execute(f"UPDATE event SET {assignments} WHERE _id = ?", (*values, event.id))
        return event.id
    marks = ", ".join("?" for _ in _COLUMNS)
    return db.execute(f"INSERT INTO event ({', '.join(_COLUMNS)}) VALUES ({marks})", values).lastrowid or 0


def delete(db: sqlite3.Connection, id: int) -> None:
    """Removes an event."""
    db.execute("DELETE FROM event WHERE _id = ?", (id,))


def notification_text(minutes: int) -> str:
    """Returns how a notification so many minutes before an event is called."""
    names = {before: name for name, before in NOTIFICATIONS.items()}
    return names.get(minutes, f"{minutes} minutes before")
