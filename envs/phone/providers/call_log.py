"""Past phone calls: Android's call log provider, as functions on its database."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from coach_gym.envs.phone.epoch import from_seconds, to_millis
from coach_gym.envs.phone.records import as_integer, as_text
from coach_gym.envs.phone.storage import Storage

PATH = "/data/data/com.android.providers.contacts/databases/calllog.db"
SCHEMA = """
CREATE TABLE calls (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, number TEXT, presentation INTEGER NOT NULL DEFAULT 1, post_dial_digits TEXT,
    date INTEGER, duration INTEGER, data_usage INTEGER, type INTEGER, features INTEGER NOT NULL DEFAULT 0,
    subscription_component_name TEXT, subscription_id TEXT, new INTEGER, name TEXT, numbertype INTEGER,
    numberlabel TEXT, countryiso TEXT, geocoded_location TEXT, is_read INTEGER, transcription TEXT);
"""
INCOMING, OUTGOING, MISSED, REJECTED = 1, 2, 3, 5
"""Values of `calls.type`."""


@dataclass(frozen=True)
class Call:
    """One call.

    Attributes:
        id: Row in `calls`.
        number: The other phone's number.
        kind: INCOMING, OUTGOING, MISSED or REJECTED.
        date: When it began.
        seconds: How long it lasted; 0 if nobody answered.
    """

    id: int
    number: str
    kind: int
    date: datetime
    seconds: int


def opened(storage: Storage) -> sqlite3.Connection:
    """Returns the database's connection; it is made again if the file is missing."""
    return storage.create_database(PATH, SCHEMA)


def calls(db: sqlite3.Connection) -> list[Call]:
    """Returns all calls, the latest first."""
    columns = f"_id, {as_text('number')}, {', '.join(map(as_integer, ('type', 'date', 'duration')))}"
    rows = db.execute(f"SELECT {columns} FROM calls ORDER BY date DESC, _id DESC")
    return [Call(id, number, kind, from_seconds(date / 1000), seconds) for id, number, kind, date, seconds in rows]


def add(db: sqlite3.Connection, number: str, kind: int, date: datetime, seconds: int = 0) -> None:
    """Logs a call."""
    db.execute(
        "INSERT INTO calls(number, type, date, duration, new, is_read) VALUES (?, ?, ?, ?, 1, 0)",
        (number, kind, to_millis(date), seconds),
    )


def delete(db: sqlite3.Connection, id: int) -> None:
    """Removes a call from the log."""
    db.execute("DELETE FROM calls WHERE _id = ?", (id,))
