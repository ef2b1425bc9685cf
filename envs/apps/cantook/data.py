"""Cantook's library: books, reading progress and collections."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.media import epub
from coach_gym.envs.phone.storage import Storage

PACKAGE = "com.aldiko.android"
DATABASE = f"/data/data/{PACKAGE}/databases/library.db"
FILES = f"/data/data/{PACKAGE}/files/books"
SCHEMA = """
CREATE TABLE books (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, title TEXT NOT NULL, author TEXT NOT NULL, category TEXT NOT NULL,
    path TEXT NOT NULL, length INTEGER NOT NULL, position INTEGER NOT NULL DEFAULT 0, added INTEGER NOT NULL,
    opened INTEGER
);
CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE);
CREATE TABLE collected (collection INTEGER NOT NULL, book INTEGER NOT NULL, PRIMARY KEY (collection, book));
"""
ORDERS = {
    "title": "title COLLATE NOCASE, id",
    "added": "added DESC, id DESC",
    "opened": "opened DESC, id DESC",
}  # fmt: skip
_COLUMNS = "id, title, author, category, path, length, position, added, opened"


class Shelved(NamedTuple):
    """A book of the library: `position` counts the paragraphs that are read, times are in milliseconds since 1970."""

    id: int
    title: str
    author: str
    category: str
    path: str
    length: int
    position: int
    added: int
    opened: int | None

    @property
    def progress(self) -> str:
        """How far it is read, e.g. `37.8%`."""
        return f"{100 * self.position / max(1, self.length):.1f}%"

    @property
    def read(self) -> bool:
        """Whether it is read to the end."""
        return self.position >= self.length


class Library:
    """The books of a phone."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def db(self) -> sqlite3.Connection:
        """The app's database."""
        return self._storage.create_database(DATABASE, SCHEMA)

    def books(self, order: str = "title") -> list[Shelved]:
        """Returns all books by one of `ORDERS`."""
        rows = self.db.execute(f"SELECT {_COLUMNS} FROM books ORDER BY {ORDERS[order]}")
        return [Shelved(*row) for row in rows]

    def book(self, id: int) -> Shelved | None:
        """Returns one book; None if it is gone."""
        row = self.db.execute(f"SELECT {_COLUMNS} FROM books WHERE id = ?", (id,)).fetchone()
        return None if row is None else Shelved(*row)

    def paragraphs(self, book: Shelved) -> Sequence[str]:
        """Returns the text of a book."""
        content = epub.read(self._storage.read(book.path) or b"")
        return () if content is None else content.paragraphs

    def add(self, data: bytes, now: datetime) -> Shelved | None:
        """Copies a file into the library and returns the book; None if it is not a book."""
        content = epub.read(data)
        if content is None:
            return None
        id = self.db.execute(
            "INSERT INTO books(title, author, category, path, length, added) VALUES (?, ?, ?, '', ?, ?)",
            (content.title, content.author, content.subject, len(content.paragraphs), to_millis(now)),
        ).lastrowid
        self._storage.write(f"{FILES}/{id}.epub", data)
        self.db.execute("UPDATE books SET path = ? WHERE id = ?", (f"{FILES}/{id}.epub", id))
        return self.book(id or 0)

    def remove(self, book: Shelved) -> None:
        """Deletes a book, its file, and its places in collections."""
        self.db.execute("DELETE FROM collected WHERE book = ?", (book.id,))
        self.db.execute("DELETE FROM books WHERE id = ?", (book.id,))
        self._storage.remove(book.path)

    def open(self, id: int, now: datetime) -> None:
        """Stores when a book was last opened."""
        self.db.execute("UPDATE books SET opened = ? WHERE id = ?", (to_millis(now), id))

    def move(self, book: Shelved, position: int) -> None:
        """Stores how far a book is read."""
        position = min(max(0, position), book.length)
        self.db.execute("UPDATE books SET position = ? WHERE id = ?", (position, book.id))

    # collections

    def collections(self) -> list[tuple[int, str]]:
        """Returns id and name of every collection, by name."""
        return self.db.execute("SELECT id, name FROM collections ORDER BY name COLLATE NOCASE").fetchall()

    def create(self, name: str) -> bool:
        """Makes a collection; returns False if there is one of that name already."""
        return self.db.execute("INSERT OR IGNORE INTO collections(name) VALUES (?)", (name,)).rowcount == 1

    def delete_collection(self, id: int) -> None:
        """Deletes a collection; its books stay."""
        self.db.execute("DELETE FROM collected WHERE collection = ?", (id,))
        self.db.execute("DELETE FROM collections WHERE id = ?", (id,))

    def collect(self, name: str, book: int) -> None:
        """Puts a book into a collection."""
        self.db.execute(
            "INSERT OR IGNORE INTO collected SELECT id, ? FROM collections WHERE name = ?", (book, name)
        )  # fmt: skip

    def collected(self, name: str) -> list[Shelved]:
        """Returns the books of a collection, by title."""
        ids = self.db.execute(
            "SELECT book FROM collected JOIN collections ON id = collection WHERE name = ?", (name,)
        )  # fmt: skip
        there = {id for (id,) in ids}
        return [book for book in self.books() if book.id in there]
