"""Joplin's data: notebooks ("folders"), notes and to-dos, and a normalized copy of the notes for the search."""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass
from datetime import datetime

from coach_gym.envs.phone.epoch import from_seconds, to_millis

PACKAGE = "net.cozic.joplin"
DATABASE = f"/data/data/{PACKAGE}/databases/joplin.sqlite"
SCHEMA = """
CREATE TABLE folders (
    id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', created_time INT NOT NULL, updated_time INT NOT NULL,
    user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0,
    encryption_cipher_text TEXT NOT NULL DEFAULT '', encryption_applied INT NOT NULL DEFAULT 0,
    parent_id TEXT NOT NULL DEFAULT '', is_shared INT NOT NULL DEFAULT 0, share_id TEXT NOT NULL DEFAULT '',
    master_key_id TEXT NOT NULL DEFAULT '', icon TEXT NOT NULL DEFAULT '', user_data TEXT NOT NULL DEFAULT '',
    deleted_time INT NOT NULL DEFAULT 0);
CREATE INDEX folders_title ON folders (title);
CREATE TABLE notes (
    id TEXT PRIMARY KEY, parent_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '', created_time INT NOT NULL, updated_time INT NOT NULL,
    is_conflict INT NOT NULL DEFAULT 0, latitude NUMERIC NOT NULL DEFAULT 0, longitude NUMERIC NOT NULL DEFAULT 0,
    altitude NUMERIC NOT NULL DEFAULT 0, author TEXT NOT NULL DEFAULT '', source_url TEXT NOT NULL DEFAULT '',
    is_todo INT NOT NULL DEFAULT 0, todo_due INT NOT NULL DEFAULT 0, todo_completed INT NOT NULL DEFAULT 0,
    source TEXT NOT NULL DEFAULT '', source_application TEXT NOT NULL DEFAULT '',
    application_data TEXT NOT NULL DEFAULT '', "order" NUMERIC NOT NULL DEFAULT 0,
    user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0,
    encryption_cipher_text TEXT NOT NULL DEFAULT '', encryption_applied INT NOT NULL DEFAULT 0,
    markup_language INT NOT NULL DEFAULT 1, is_shared INT NOT NULL DEFAULT 0, share_id TEXT NOT NULL DEFAULT '',
    conflict_original_id TEXT NOT NULL DEFAULT '', master_key_id TEXT NOT NULL DEFAULT '',
    user_data TEXT NOT NULL DEFAULT '');
CREATE INDEX notes_parent_id ON notes (parent_id);
CREATE TABLE notes_normalized (
    id TEXT NOT NULL, parent_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '', latitude NUMERIC NOT NULL DEFAULT 0, longitude NUMERIC NOT NULL DEFAULT 0,
    altitude NUMERIC NOT NULL DEFAULT 0, source_url TEXT NOT NULL DEFAULT '', is_todo INT NOT NULL DEFAULT 0,
    todo_due INT NOT NULL DEFAULT 0, todo_completed INT NOT NULL DEFAULT 0,
    user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0);
CREATE INDEX notes_normalized_id ON notes_normalized (id);
"""


@dataclass(frozen=True)
class Note:
    """A note, or a to-do, which can be completed. `folder` is the id of its notebook."""

    id: str
    folder: str
    title: str
    body: str
    todo: bool
    done: bool
    updated: datetime


_NOTES = "SELECT notes.id, notes.parent_id, notes.title, notes.body, notes.is_todo, notes.todo_completed,"
_NOTES += " notes.user_updated_time FROM notes"
_COPIED = (
    "parent_id, latitude, longitude, altitude, source_url, is_todo, todo_due, todo_completed, user_created_time,"
    " user_updated_time"
)
_LATEST = "ORDER BY notes.user_updated_time DESC, notes.title COLLATE NOCASE, notes.id"


def folders(db: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Returns id, title and number of notes of every notebook, by title."""
    return db.execute(
        "SELECT id, title, (SELECT count(*) FROM notes WHERE notes.parent_id = folders.id) FROM folders"
        " ORDER BY title COLLATE NOCASE, id"
    ).fetchall()


def folder_title(db: sqlite3.Connection, id: str) -> str:
    """Returns the title of a notebook; empty if there is none of that id."""
    row = db.execute("SELECT title FROM folders WHERE id = ?", (id,)).fetchone()
    return row[0] if row else ""


def notes(db: sqlite3.Connection, folder: str = "") -> list[Note]:
    """Returns the notes of a notebook, or of all, the last changed first."""
    rows = db.execute(f"{_NOTES} WHERE ?1 = '' OR parent_id = ?1 {_LATEST}", (folder,))
    return [_note(row) for row in rows]


def search(db: sqlite3.Connection, query: str) -> list[Note]:
    """Returns the notes that contain every word of a query."""
    words = query.lower().split()
    match = " AND ".join(["instr(lower(n.title || char(10) || n.body), ?)"] * len(words))
    rows = db.execute(f"{_NOTES} JOIN notes_normalized AS n ON n.id = notes.id WHERE {match or 0} {_LATEST}", words)
    return [_note(row) for row in rows]


def note(db: sqlite3.Connection, id: str) -> Note | None:
    """Returns one note; None if there is none of that id."""
    row = db.execute(f"{_NOTES} WHERE id = ?", (id,)).fetchone()
    return _note(row) if row else None


def _note(row: tuple) -> Note:
    id, folder, title, body, todo, done, updated = row
    return Note(id, folder, title, body, bool(todo), bool(done), from_seconds(updated / 1000))


def create_folder(db: sqlite3.Connection, title: str, now: datetime) -> str:
    """Adds a notebook. Returns its id."""
    id = _new_id(db, "folders", now)
    at = to_millis(now)
    db.execute(
        "INSERT INTO folders(id, title, created_time, updated_time, user_created_time, user_updated_time)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (id, title, at, at, at, at),
    )
    return id


def create(
    db: sqlite3.Connection, folder: str, title: str, body: str, now: datetime, todo: bool = False, done: bool = False
) -> str:
    """Adds a note or a to-do to a notebook. Returns its id."""
    id = _new_id(db, "notes", now)
    at = to_millis(now)
    db.execute(
        "INSERT INTO notes(id, parent_id, title, body, is_todo, todo_completed, created_time, updated_time,"
        " user_created_time, user_updated_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, folder, title, body, int(todo), at if done else 0, at, at, at, at),
    )
    _normalize(db, id)
    return id


def _new_id(db: sqlite3.Connection, table: str, now: datetime) -> str:
    """Returns 32 hexadecimal digits that depend on nothing but the database and the phone's clock."""
    last = db.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()[0]
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{table} {now} {last}").hex


def update(db: sqlite3.Connection, id: str, now: datetime, **values: str | int) -> None:
    """Changes columns of a note."""
    at = to_millis(now)
    columns = ", ".join(f"{column} = ?" for column in (*values, "updated_time", "user_updated_time"))
    db.execute(f"UPDATE notes SET {columns} WHERE id = ?", (*values.values(), at, at, id))
    _normalize(db, id)


def delete(db: sqlite3.Connection, id: str) -> None:
    """Removes a note."""
    db.execute("DELETE FROM notes WHERE id = ?", (id,))
    _normalize(db, id)


def _normalize(db: sqlite3.Connection, id: str) -> None:
    """Brings the search's copy of a note up to date."""
    db.execute("DELETE FROM notes_normalized WHERE id = ?", (id,))
    db.execute(
        f"INSERT INTO notes_normalized(id, title, body, {_COPIED}) SELECT id, lower(title), lower(body), {_COPIED}"
        " FROM notes WHERE id = ?",
        (id,),
    )
