"""The media provider: the files of the shared storage as rows, which is all that it keeps of them."""

from __future__ import annotations

import re
import sqlite3

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.folders import SHARED, is_name, name_error
from coach_gym.envs.phone.media.types import mime_type
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.shell.commands.people import Refused
from coach_gym.envs.phone.storage import Storage

_SCHEMA = """
CREATE TABLE files (_id INTEGER PRIMARY KEY, _data TEXT, _display_name TEXT, title TEXT, _size INTEGER, mime_type TEXT,
    date_added INTEGER, date_modified INTEGER, relative_path TEXT)
"""
_COLUMNS = ("_data", "_display_name", "title", "_size", "mime_type", "date_added", "date_modified", "relative_path")
_PLACE = ("_data", "_display_name", "relative_path")
_KINDS = {"images": "image/%", "video": "video/%", "audio": "audio/%", "file": "%", "downloads": "%"}
_Rows = dict[int, dict[str, object]]


def fill(db: sqlite3.Connection, storage: Storage) -> _Rows:
    """Makes the table of the files. Returns its rows by their ids."""
    db.execute(_SCHEMA)
    marks = ", ".join("?" * len(_COLUMNS))
    for path in sorted(storage.files_below(SHARED)):
        db.execute(f"INSERT INTO files VALUES (NULL, {marks})", _row(storage, path))
    return _rows(db)


def _row(storage: Storage, path: str) -> tuple[object, ...]:
    folder, _, name = path.rpartition("/")
    when, title = to_seconds(storage.modified(path)), name.rpartition(".")[0] or name
    return path, name, title, storage.size(path), mime_type(name), when, when, f"{folder[len(SHARED) + 1 :]}/"


def _rows(db: sqlite3.Connection) -> _Rows:
    rows = db.execute(f"SELECT _id, {', '.join(_COLUMNS)} FROM files").fetchall()
    return {id: dict(zip(_COLUMNS, values, strict=True)) for id, *values in rows}


def condition(path: str) -> str | None:
    """Returns which of the files a URI's path stands for; None if it stands for none."""
    match = re.fullmatch(r"(?:internal|external(?:_primary)?)/(?:(images|video|audio)/media|(file|downloads))", path)
    if match is None:
        return None
    kind = match[1] or match[2]
    place = f"_data LIKE '{SHARED}/Download/%'" if kind == "downloads" else "1"
    return f"mime_type LIKE '{_KINDS[kind]}' AND {place}"


def keep(storage: Storage, db: sqlite3.Connection, before: _Rows) -> None:
    """Does to the files what a statement has done to their rows: moves them, or removes them.

    Raises:
        Refused: A row was added for which there is no file, or changed in what no file has; nothing is done.
    """
    after = _rows(db)
    added, gone = after.keys() - before.keys(), before.keys() - after.keys()
    for id in added:
        _require_file(storage, after[id])
    if added and gone:
        raise Refused("the embedded phone numbers files itself, and keeps no _id of them")
    changed = [(before[id], row) for id, row in after.items() if row != before.get(id, row)]
    moves = {str(old["_data"]): _target(old, new) for old, new in changed}
    for target in moves.values():
        _require_free(storage, target)
    if len(set(moves.values())) < len(moves):
        raise Refused("UNIQUE constraint failed: files._data")
    for source, target in moves.items():
        storage.move(source, target)
    for id in gone:
        storage.remove(str(before[id]["_data"]))


def _require_file(storage: Storage, row: dict[str, object]) -> None:
    """Refuses a new row, unless it says of a file what is true, as whoever has one scanned does."""
    path = real(str(row["_data"]))
    if not path.startswith(f"{SHARED}/") or not storage.exists(path) or storage.is_dir(path):
        raise Refused("the embedded phone lists files, and keeps no row without one")
    known = dict(zip(_COLUMNS, _row(storage, path), strict=True)) | {"_data": row["_data"]}
    if other := [name for name in _COLUMNS if row[name] not in (None, known[name])]:
        raise Refused(f"the embedded phone lists files, and keeps no {other[0]} of them")


def _target(before: dict[str, object], after: dict[str, object]) -> str:
    """Returns where a file goes whose row has changed."""
    changed = [name for name in _COLUMNS if before[name] != after[name]]
    if other := [name for name in changed if name not in _PLACE]:
        raise Refused(f"the embedded phone lists files, and keeps no {other[0]} of them")
    name = str(after["_display_name"] or "")
    if not is_name(name):
        raise Refused(f"Invalid file name {name}")
    target = real(str(after["_data"]) if "_data" in changed else f"{SHARED}/{after['relative_path'] or ''}/{name}")
    if not target.startswith(f"{SHARED}/"):
        raise Refused(f"Requested path {target} doesn't appear under [{SHARED}]")
    return target


def _require_free(storage: Storage, path: str) -> None:
    folder, _, name = path.rpartition("/")
    error = name_error(storage, folder, name)
    while not error and folder != SHARED:
        error = f"{folder} is no folder" if storage.exists(folder) and not storage.is_dir(folder) else ""
        folder = folder.rpartition("/")[0]
    if error:
        raise Refused(error)
