"""Records: rows of an app's database, read whole and written column by column."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple


def as_text(column: str) -> str:
    """Returns SQL that reads a column as text, whatever clients have written into it; an empty one for NULL."""
    return f"CAST(coalesce({column}, '') AS TEXT)"


def as_integer(column: str) -> str:
    """Returns SQL that reads a column as a whole number, whatever clients have written into it; 0 for NULL."""
    return f"CAST(coalesce({column}, 0) AS INTEGER)"


class Table(NamedTuple):
    """A table whose rows are found by an integer key.

    Attributes:
        name: Name of the table.
        key: Name of its primary key column.
    """

    name: str
    key: str

    def read(self, db: sqlite3.Connection, id: int | None) -> dict[str, Any]:
        """Returns a record by column; empty if there is none with that key."""
        db_rows = db.execute(f"SELECT * FROM {self.name} WHERE {self.key} = ?", (id,))
        row = db_rows.fetchone()
        return {} if row is None else {column[0]: value for column, value in zip(db_rows.description, row, strict=True)}

    def insert(self, db: sqlite3.Connection, values: Mapping[str, Any]) -> int:
        """Adds a record and returns its key; columns without a value get their defaults."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        made = db.execute(f"INSERT INTO {self.name}({columns}) VALUES ({marks})", tuple(values.values()))
        return made.lastrowid or 0

    def update(self, db: sqlite3.Connection, id: int | None, changes: Mapping[str, Any]) -> None:
        """Changes some columns of a record and leaves the others alone."""
        if changes:
            columns = ", ".join(f"{column} = ?" for column in changes)
            db.execute(f"UPDATE {self.name} SET {columns} WHERE {self.key} = ?", (*changes.values(), id))

    def delete(self, db: sqlite3.Connection, id: int | None) -> None:
        """Removes a record."""
        db.execute(f"DELETE FROM {self.name} WHERE {self.key} = ?", (id,))
