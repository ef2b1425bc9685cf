"""The phone's storage: a file tree in memory, real SQLite databases in it, and the settings."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from coach_gym.envs.phone.epoch import Moved, unmoved
from coach_gym.envs.phone.paths import is_writable
from coach_gym.envs.phone.sql import DAMAGED, Budget, connect, contents, is_corrupt, is_sound


@dataclass(frozen=True)
class File:
    """The contents of a file, and when it was last modified."""

    data: bytes
    modified: datetime


_EMPTY = File(b"", datetime.min)
_HEADER = b"SQLite format 3\0"  # of every database that is not empty
CAPACITY = 1 << 30  # bytes
_LARGE = 1 << 20  # bytes of a file from which on the others are counted
LONGEST = 4095  # characters of a path

Snapshot = tuple[dict[str, File], set[str], dict[tuple[str, str], str], dict[tuple[str, str], int], datetime]


class Storage:
    """Files by absolute Android path, and settings.

    A database is an ordinary file in SQLite's own format: whoever pulls the file reads what an app wrote, and an app
    reads what somebody pushed. While a database is in use it lives in a memory connection, which is written back
    whenever the file is read.

    Attributes:
        budget: What statements on databases may take.
        settings: Values by namespace (`global`, `secure` or `system`) and name.
        attributes: Modes and owners that differ from the default, by path and "mode", "user" or "group".
        now: The phone's clock.
        local: Turns times on the phone's clock into those of the time zone that is set.
        on_clock: Turns them back.
        read_only: Whether the system's image is complete, so that nobody can change it; see `is_writable`.
    """

    def __init__(self, read_only: bool = False) -> None:
        self.read_only = read_only
        self._files: dict[str, File] = {}
        self._directories: set[str] = {"/"}
        self._below: dict[str, set[str]] | None = None  # names by folder, until there are others
        self._open: dict[str, tuple[sqlite3.Connection, int]] = {}
        self.budget, self._in_turn = Budget(), False
        self.settings: dict[tuple[str, str], str] = {}
        self.attributes: dict[tuple[str, str], int] = {}
        self.now: datetime = datetime(2023, 10, 15, 15, 34)
        self.local: Moved = unmoved
        self.on_clock: Moved = unmoved

    # files

    def read(self, path: str) -> bytes | None:
        """Returns the contents of a file, or None if it is missing."""
        self._write_back(path)
        file = self._files.get(path)
        return None if file is None else file.data

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        """Creates or replaces a file, and creates the directories above it.

        Raises:
            OSError: All files together would hold more than `CAPACITY` bytes, the path is too long, or the place is
                read-only.
        """
        self.require_writable(path)
        if len(data) > _LARGE and len(data) + sum(len(file.data) for file in self._files.values()) > CAPACITY:
            raise OSError(errno.ENOSPC, f"{path}: No space left on device")
        _require_short(path)
        self.close(path)
        self._make(path.rpartition("/")[0])
        if path not in self._files:
            self._below = None
        self._files[path] = File(bytes(data), modified or self.now)

    def remove(self, path: str) -> None:
        """Removes a file, or a directory with its contents. A missing path is no error.

        Raises:
            OSError: The place is read-only.
        """
        if self.exists(path):
            self.require_writable(path)
        for name in [name for name in self._files if name == path or name.startswith(path + "/")]:
            self.close(name)
            del self._files[name]
        if self.attributes:
            gone = [key for key in self.attributes if key[0] == path or key[0].startswith(path + "/")]
            for key in gone:
                del self.attributes[key]
        self._directories = {d for d in self._directories if d != path and not d.startswith(path + "/")}
        self._below = None

    def move(self, source: str, target: str) -> None:
        """Renames a file, or a directory with its contents. Replaces what is at `target`.

        Raises:
            OSError: A path would be too long, or a place is read-only; nothing has moved.
        """
        self.require_writable(target)
        self._write_back_below(source)
        moved = {name: file for name, file in self._files.items() if name == source or name.startswith(source + "/")}
        folders = [d for d in self._directories if d == source or d.startswith(source + "/")]
        below = {key: v for key, v in self.attributes.items() if key[0] == source or key[0].startswith(source + "/")}
        for name in (*folders, *moved):
            _require_short(target + name[len(source) :])
        self.remove(source)
        for folder in folders:
            self.mkdir(target + folder[len(source) :])
        for name, file in moved.items():
            self.write(target + name[len(source) :], file.data, file.modified)
        self.attributes |= {(target + path[len(source) :], what): value for (path, what), value in below.items()}

    def copy(self, source: str, target: str) -> None:
        """Copies a file, or a directory with its contents."""
        self._write_back_below(source)
        for folder in [d for d in self._directories if d == source or d.startswith(source + "/")]:
            self.mkdir(target + folder[len(source) :])
        for name, file in list(self._files.items()):
            if name == source or name.startswith(source + "/"):
                self.write(target + name[len(source) :], file.data)

    def mkdir(self, path: str) -> None:
        """Creates a directory and those above it.

        Raises:
            OSError: The path is too long, or the place is read-only.
        """
        _require_short(path)
        if not self.is_dir(path):
            self.require_writable(path)
        self._make(path)

    def _make(self, path: str) -> None:
        while path and path not in self._directories:
            self._directories.add(path)
            self._below = None
            path = path.rpartition("/")[0]

    def require_writable(self, path: str) -> None:
        """Raises an `OSError` for a path in the system's image or in the kernel's folders."""
        if self.read_only and not is_writable(path):
            raise OSError(errno.EROFS, f"{path}: Read-only file system")

    def is_dir(self, path: str) -> bool:
        """Returns whether a directory exists."""
        return path in self._directories or path in ("", "/")

    def exists(self, path: str) -> bool:
        """Returns whether a file or directory exists."""
        return path in self._files or self.is_dir(path)

    def listdir(self, path: str) -> list[str]:
        """Returns the names directly below a directory, sorted; none if it is missing."""
        if self._below is None:
            self._below = {}
            for name in (*self._files, *self._directories - {"/"}):
                folder, _, last = name.rpartition("/")
                self._below.setdefault(folder, set()).add(last)
        return sorted(self._below.get(path.rstrip("/"), ()))

    def files_below(self, path: str) -> list[str]:
        """Returns the paths of all files at any depth below a directory, in the order of their creation."""
        prefix = path.rstrip("/") + "/"
        return [name for name in self._files if name.startswith(prefix)]

    def modified(self, path: str) -> datetime:
        """Returns when a file was modified; for a directory, its newest file, or now if it is empty."""
        if path in self._files:
            return self._files[path].modified
        inside = [file.modified for name, file in self._files.items() if name.startswith(path + "/")]
        return max(inside, default=self.now)

    def size(self, path: str) -> int:
        """Returns the size of a file in bytes."""
        self._write_back(path)
        return len(self._files[path].data)

    # databases

    def database(self, path: str) -> sqlite3.Connection:
        """Returns the live connection, in autocommit mode, to a database; it is empty if the file is new."""
        if not self._in_turn:
            self.budget.refresh()
        if path not in self._open:
            connection = self.connect(self._files.get(path, _EMPTY).data)
            self._open[path] = (connection, connection.total_changes)
        return self._open[path][0]

    def connect(self, data: bytes = b"") -> sqlite3.Connection:
        """Returns a connection to a database that is not stored, or not yet: a new one, or a file's contents."""
        return connect(self.budget, self, data)

    def create_database(self, path: str, schema: str) -> sqlite3.Connection:
        """Opens a database. Makes it from a `CREATE TABLE …` script if the file holds none that opens, as Android does.
        """
        if not self._holds_database(path) or (path not in self._open and not self._opens(path)):
            self.write(path, b"")
            self.database(path).executescript(schema)
            self.mark_changed(path)
            self.close(path)  # reopened from its file, as after a restore, so that the same writes give the same bytes
        connection = self.database(path)
        self._open[path] = self._open.pop(path)  # the last one is the one used last
        return connection

    def _holds_database(self, path: str) -> bool:
        if not self._files.get(path, _EMPTY).data:
            self._write_back(path)  # its first contents may still be in memory
        return self._files.get(path, _EMPTY).data.startswith(_HEADER)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Has all statements of a `with` block together take no longer than one may."""
        before, self._in_turn = self._in_turn, True
        if not before:
            self.budget.refresh()
        try:
            yield
        finally:
            self._in_turn = before

    def room(self) -> int:
        """Returns how many bytes more all files may hold."""
        for path in self._open:
            self._write_back(path)
        return max(0, CAPACITY - sum(len(file.data) for file in self._files.values()))

    def _opens(self, path: str) -> bool:
        try:
            self.database(path).execute("SELECT 1 FROM sqlite_master")
        except DAMAGED as fault:
            return not is_corrupt(fault)
        return True

    def remove_corrupt(self) -> str | None:
        """Removes the corrupt database that was used last, as Android does when reading one has failed.

        Returns:
            Its path, or None if all open databases are sound.
        """
        path = next((path for path, (connection, _) in reversed(self._open.items()) if not is_sound(connection)), None)
        if path is not None:
            self.remove(path)
        return path

    def mark_changed(self, path: str) -> None:
        """Has an open database written back even if SQLite counts no change, as for its schema."""
        self._open[path] = (self.database(path), -1)

    @contextmanager
    def session(self, path: str) -> Iterator[sqlite3.Connection]:
        """Opens a database for a `with` block."""
        yield self.database(path)

    def _write_back(self, path: str) -> None:
        if path in self._open:
            connection, changes = self._open[path]
            if connection.total_changes != changes:
                self._files[path] = File(contents(connection), self.now)
                self._open[path] = (connection, connection.total_changes)

    def _write_back_below(self, path: str) -> None:
        for name in list(self._open):
            if name == path or name.startswith(path + "/"):
                self._write_back(name)

    def close(self, path: str) -> None:
        """Writes a database back to its file and frees the memory that it has taken while it was in use."""
        if path in self._open:
            self._write_back(path)
            self._open.pop(path)[0].close()

    # snapshots

    def snapshot(self) -> Snapshot:
        """Returns everything stored. Contents are immutable, so this copies a few dictionaries and no data."""
        for path in self._open:
            self._write_back(path)
        return dict(self._files), set(self._directories), dict(self.settings), dict(self.attributes), self.now

    def restore(self, snapshot: Snapshot) -> None:
        """Returns exactly to a snapshot."""
        files, directories, settings, attributes, self.now = snapshot
        for path, (connection, changes) in list(self._open.items()):
            unchanged = connection.total_changes == changes and files.get(path) is self._files.get(path)
            if not unchanged:
                connection.close()
                del self._open[path]
        self._files, self._directories, self.attributes = dict(files), set(directories), dict(attributes)
        self._below = None
        self.settings.clear()  # in place: a callback may have captured the table
        self.settings.update(settings)


def _require_short(path: str) -> None:
    if len(path) > LONGEST:
        raise OSError(errno.ENAMETOOLONG, f"{path[:40]}...: File name too long")
