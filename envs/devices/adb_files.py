"""Files and databases of a device behind adb, private files of apps included."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from coach_gym.envs.devices.adb import Adb
from coach_gym.envs.errors import DeviceError

_EPOCH = datetime(1970, 1, 1)


class AdbFiles:
    """The files of a device.

    Args:
        adb: The device.
        name: Name of the device in messages.

    Raises:
        DeviceError: All methods raise it when the device fails, and for private files where adb is not root.
    """

    def __init__(self, adb: Adb, name: str) -> None:
        self._adb, self._name = adb, name

    def read(self, path: str) -> bytes | None:
        """Returns the content of a file, or None if it does not exist."""
        self._require_root(path)
        return self._adb.pull(path) if self._adb.stat(path).is_file else None

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        """Writes a file, creating its folders and keeping owner and mode of private files."""
        self._require_root(path)
        access = self._access(path)
        self._adb.push(path, data, self._seconds(modified))
        if access is not None:
            owner, mode = access
            made = [path, *_folders_of_app(path)]
            self._adb.run("chown", owner, *made)
            self._adb.run("chmod", mode, path)
            self._adb.run("restorecon", *made)

    def remove(self, path: str) -> None:
        """Removes a file, or a folder with its contents, if it exists."""
        self._require_root(path)
        self._adb.run("rm", "-rf", path)

    def listdir(self, path: str) -> list[str]:
        """Returns the sorted names in a folder; an empty list if it does not exist."""
        self._require_root(path)
        return self._adb.listdir(path)

    @contextmanager
    def database(self, path: str) -> Iterator[sqlite3.Connection]:
        """Opens a copy of an SQLite file, including what is still in its journal.

        If the `with` block changes the copy, the app is stopped and the copy replaces the file.
        """
        with TemporaryDirectory(prefix="coach_gym_") as folder:
            copy = Path(folder, "db")
            # The file comes first: the app may move pages from the journal to the file at any time.
            for suffix in ("", "-journal", "-wal"):
                if data := self.read(path + suffix):
                    copy.with_name(copy.name + suffix).write_bytes(data)
            with closing(sqlite3.connect(copy)) as connection:
                before = _contents(connection)
                yield connection
                connection.commit()
                after = _contents(connection)
        if after != before:
            self._replace_database(path, after)

    def _replace_database(self, path: str, data: bytes) -> None:
        if package := _package_of(path):
            self._adb.run("am", "force-stop", package)
        self.write(path, data)
        self._adb.run("rm", "-f", *(path + suffix for suffix in ("-journal", "-wal", "-shm")))

    def _require_root(self, path: str) -> None:
        """Raises for private files without root: they would seem not to exist, and a verdict would be wrong."""
        if _package_of(path) and not self._adb.is_root():
            raise DeviceError(f"{self._name}: {path} belongs to an app, and adb is not root on this device")

    def _access(self, path: str) -> tuple[str, str] | None:
        """Returns owner and mode for an app's private file; None in shared storage, where Android decides."""
        package = _package_of(path)
        if not package:
            return None
        text, code = self._adb.shell("stat", "-c", "%u:%g %a", path)
        if code != 0:
            text = self._adb.run("stat", "-c", "%u:%g 660", f"/data/data/{package}")
        owner, mode = text.split()
        return owner, mode

    def _seconds(self, moment: datetime | None) -> int:
        """Converts a time on the device's clock, by default now, to seconds since 1970."""
        seconds, offset = self._adb.run("date", "+%s %z").split()
        if moment is None:
            return int(seconds)
        sign = -1 if offset.startswith("-") else 1
        ahead = sign * (int(offset[1:3]) * 3600 + int(offset[3:5]) * 60)
        return int((moment - _EPOCH).total_seconds()) - ahead


def _contents(connection: sqlite3.Connection) -> bytes:
    """Returns the database as a file, including its journal."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return connection.serialize() if pages else b""


def _package_of(path: str) -> str:
    """Returns the package that a private file belongs to, or `""` for shared storage."""
    found = re.match(r"/data/(?:data|user/\d+|user_de/\d+)/([^/]+)", path)
    return found[1] if found else ""


def _folders_of_app(path: str) -> list[str]:
    """Returns the folders between an app's own folder and a file."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(5, len(names))]
