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
    user_data TEXT NOT NULL DEFAULT '', deleted_time INT NOT NULL DEFAULT 0);
CREATE INDEX notes_parent_id ON notes (parent_id);
CREATE TABLE notes_normalized (
    id TEXT NOT NULL, parent_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '', latitude NUMERIC NOT NULL DEFAULT 0, longitude NUMERIC NOT NULL DEFAULT 0,
    altitude NUMERIC NOT NULL DEFAULT 0, source_url TEXT NOT NULL DEFAULT '', is_todo INT NOT NULL DEFAULT 0,
    todo_due INT NOT NULL DEFAULT 0, todo_completed INT NOT NULL DEFAULT 0,
    user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0);
CREATE INDEX notes_normalized_id ON notes_normalized (id);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
"""
SORT_FIELDS = {  # by what the app calls them
    "Updated date": "user_updated_time", "Created date": "user_created_time", "Title": "title",
    "Custom order": "order",
}  # fmt: skip
SORT_FIELD, REVERSE, TO_DOS_FIRST, SHOWS_DONE = (
    "notes.sortOrder.field", "notes.sortOrder.reverse", "uncompletedTodosOnTop", "showCompletedTodos",
)  # fmt: skip
_DEFAULTS = {SORT_FIELD: "user_updated_time", REVERSE: "1", TO_DOS_FIRST: "1", SHOWS_DONE: "1"}
RESTORED = "Restored items"  # the notebook of what comes back from the trash when its own has gone


@dataclass(frozen=True)
class Note:
    """A note, or a to-do, which can be completed. `folder` is the id of its notebook; `deleted` means in the trash."""

    id: str
    folder: str
    title: str
    body: str
    todo: bool
    done: bool
    updated: datetime
    created: datetime
    deleted: bool


_NOTES = (
    "SELECT notes.id, notes.parent_id, notes.title, notes.body, notes.is_todo, notes.todo_completed,"
    " notes.user_updated_time, notes.user_created_time, notes.deleted_time FROM notes"
)
_COPIED = (
    "parent_id, latitude, longitude, altitude, source_url, is_todo, todo_due, todo_completed, user_created_time,"
    " user_updated_time"
)
_LATEST = "ORDER BY notes.user_updated_time DESC, notes.title COLLATE NOCASE, notes.id"


def setting(db: sqlite3.Connection, key: str) -> str:
    """Returns a setting, or its default; switches are `1` or `0`."""
    row = db.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return row[0] if row else _DEFAULTS[key]


def change_setting(db: sqlite3.Connection, key: str, value: str) -> None:
    """Changes a setting."""
    db.execute("INSERT OR REPLACE INTO settings(key, value) VALUES (?, ?)", (key, value))


# notebooks


def folders(db: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Returns id, title and number of notes of every notebook, by title."""
    return db.execute(
        "SELECT id, title, (SELECT count(*) FROM notes WHERE notes.parent_id = folders.id AND deleted_time = 0)"
        " FROM folders WHERE deleted_time = 0 ORDER BY title COLLATE NOCASE, id"
    ).fetchall()


def parents(db: sqlite3.Connection) -> dict[str, str]:
    """Returns the id of the notebook around each notebook; empty if there is none."""
    found = dict(db.execute("SELECT id, parent_id FROM folders WHERE deleted_time = 0"))
    return {id: parent if parent in found else "" for id, parent in found.items()}


def below(db: sqlite3.Connection, id: str) -> set[str]:
    """Returns the ids of a notebook and of all notebooks in it, at any depth."""
    inside, around = {id}, parents(db)
    while more := {each for each, parent in around.items() if parent in inside} - inside:
        inside |= more
    return inside


def tree(db: sqlite3.Connection) -> list[tuple[str, str, int, int]]:
    """Returns id, title, number of notes and depth of every notebook, those inside another one below it."""
    around = parents(db)
    rows: list[tuple[str, str, int, int]] = []

    def add(parent: str, depth: int) -> None:
        for id, title, count in known:
            if around[id] == parent:
                rows.append((id, title, count, depth))
                add(id, depth + 1)

    known = folders(db)
    add("", 0)
    return rows


def default_folder(db: sqlite3.Connection) -> str:
    """Returns the id of the newest notebook; empty if there is none."""
    row = db.execute("SELECT id FROM folders WHERE deleted_time = 0 ORDER BY created_time DESC, id").fetchone()
    return row[0] if row else ""


def folder_title(db: sqlite3.Connection, id: str) -> str:
    """Returns the title of a notebook; empty if there is none of that id."""
    row = db.execute("SELECT title FROM folders WHERE id = ?", (id,)).fetchone()
    return row[0] if row else ""


def update_folder(db: sqlite3.Connection, id: str, title: str, parent: str, now: datetime) -> None:
    """Changes the title of a notebook, and the notebook that it is in."""
    at = to_millis(now)
    db.execute(
        "UPDATE folders SET title = ?, parent_id = ?, updated_time = ?, user_updated_time = ? WHERE id = ?",
        (title, parent, at, at, id),
    )


def delete_folder(db: sqlite3.Connection, id: str, now: datetime) -> None:
    """Puts a notebook with all in it into the trash."""
    for each in below(db, id):
        db.execute("UPDATE folders SET deleted_time = ? WHERE id = ?", (to_millis(now), each))
        for one in notes(db, each):
            delete(db, one.id, now)


# notes


def notes(db: sqlite3.Connection, folder: str = "") -> list[Note]:
    """Returns the notes of a notebook, or of all, the last changed first."""
    rows = db.execute(f"{_NOTES} WHERE notes.deleted_time = 0 AND (?1 = '' OR parent_id = ?1) {_LATEST}", (folder,))
    return [_note(row) for row in rows]


def listed(db: sqlite3.Connection, folder: str = "") -> list[Note]:
    """Returns the notes of a notebook, or of all, those that are to be shown in the order that is set."""
    field = next((name for name in SORT_FIELDS.values() if name == setting(db, SORT_FIELD)), "user_updated_time")
    column = f'notes."{field}"' + (" COLLATE NOCASE" if field == "title" else "")
    direction = "DESC" if setting(db, REVERSE) == "1" else "ASC"
    rows = db.execute(
        f"{_NOTES} WHERE notes.deleted_time = 0 AND (?1 = '' OR parent_id = ?1)"
        f" ORDER BY {column} {direction}, notes.title COLLATE NOCASE, notes.id",
        (folder,),
    )
    found = [_note(row) for row in rows]
    if setting(db, SHOWS_DONE) != "1":
        found = [note for note in found if not (note.todo and note.done)]
    if setting(db, TO_DOS_FIRST) == "1":
        found.sort(key=lambda note: not note.todo or note.done)
    return found


def trash(db: sqlite3.Connection) -> list[Note]:
    """Returns the notes in the trash, the last changed first."""
    return [_note(row) for row in db.execute(f"{_NOTES} WHERE notes.deleted_time > 0 {_LATEST}")]


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
    id, folder, title, body, todo, done, updated, created, deleted = row
    times = from_seconds(updated / 1000), from_seconds(created / 1000)
    return Note(id, folder, title, body, bool(todo), bool(done), *times, bool(deleted))


def create_folder(db: sqlite3.Connection, title: str, now: datetime, parent: str = "") -> str:
    """Adds a notebook, perhaps inside another one. Returns its id."""
    id = _new_id(db, "folders", now)
    at = to_millis(now)
    db.execute(
        "INSERT INTO folders(id, title, parent_id, created_time, updated_time, user_created_time, user_updated_time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (id, title, parent, at, at, at, at),
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


def delete(db: sqlite3.Connection, id: str, now: datetime) -> None:
    """Puts a note into the trash."""
    update(db, id, now, deleted_time=to_millis(now))


def restore(db: sqlite3.Connection, id: str, now: datetime) -> None:
    """Takes a note out of the trash, into its notebook, or into that of restored notes."""
    found = note(db, id)
    folder = found.folder if found else ""
    if folder not in parents(db):
        titles = {title: id for id, title, _ in folders(db)}
        folder = titles[RESTORED] if RESTORED in titles else create_folder(db, RESTORED, now)
    update(db, id, now, deleted_time=0, parent_id=folder)


def erase(db: sqlite3.Connection, id: str) -> None:
    """Removes a note for good."""
    db.execute("DELETE FROM notes WHERE id = ?", (id,))
    _normalize(db, id)


def empty_trash(db: sqlite3.Connection) -> None:
    """Removes all notes and notebooks in the trash for good."""
    for table in ("notes", "folders"):
        db.execute(f"DELETE FROM {table} WHERE deleted_time > 0")


def duplicate(db: sqlite3.Connection, id: str, now: datetime) -> None:
    """Adds a copy of a note, under a title that no other note has."""
    found = note(db, id)
    if found is not None:
        taken = {title for (title,) in db.execute("SELECT title FROM notes")}
        title = next(
            t for n in range(len(taken) + 1) if (t := f"{found.title} ({n})" if n else found.title) not in taken
        )
        create(db, found.folder, title, found.body, now, found.todo, found.done)


def _normalize(db: sqlite3.Connection, id: str) -> None:
    """Brings the search's copy of a note up to date; there is none of a note in the trash."""
    db.execute("DELETE FROM notes_normalized WHERE id = ?", (id,))
    db.execute(
        f"INSERT INTO notes_normalized(id, title, body, {_COPIED}) SELECT id, lower(title), lower(body), {_COPIED}"
        " FROM notes WHERE id = ? AND deleted_time = 0",
        (id,),
    )
