"""VLC's media library: its database, and the films of the shared storage."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.phone.media.film import EXTENSIONS
from coach_gym.envs.phone.storage import Storage

DATABASE = "/data/data/org.videolan.vlc/app_db/vlc_media.db"
SCHEMA = """
CREATE TABLE Folder (id_folder INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT);
CREATE TABLE Media (
    id_media INTEGER PRIMARY KEY AUTOINCREMENT, type INTEGER, subtype INTEGER NOT NULL DEFAULT 0,
    duration INTEGER DEFAULT -1, last_position REAL DEFAULT -1, play_count UNSIGNED INTEGER NOT NULL DEFAULT 0,
    insertion_date UNSIGNED INTEGER, title TEXT COLLATE NOCASE, filename TEXT COLLATE NOCASE,
    is_favorite BOOLEAN NOT NULL DEFAULT 0, is_present BOOLEAN NOT NULL DEFAULT 1,
    nb_playlists UNSIGNED INTEGER NOT NULL DEFAULT 0, folder_id UNSIGNED INTEGER
);
CREATE TABLE Playlist (
    id_playlist INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT COLLATE NOCASE,
    creation_date UNSIGNED INT NOT NULL DEFAULT 0, artwork_mrl TEXT
);
CREATE TABLE PlaylistMediaRelation (media_id INTEGER, playlist_id INTEGER, position INTEGER);
"""
VIDEO = 1  # the type of a film


class Library:
    """The films and playlists of a phone."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def db(self) -> sqlite3.Connection:
        """The database of the media library; created again if it is missing."""
        return self._storage.create_database(DATABASE, SCHEMA)

    def films(self) -> list[str]:
        """Returns the paths of all films of the shared storage, by name."""
        return sorted(filter(is_film, self._storage.files_below(SHARED)), key=lambda path: file_name(path).casefold())

    def seconds(self, path: str) -> float:
        """Returns the length of a film; 0 if it is not known."""
        return mp4.duration(self._storage.read(path) or b"") or 0.0

    def playlists(self) -> list[tuple[int, str, int]]:
        """Returns id, name and number of films of every playlist, by name."""
        return self.db.execute(
            "SELECT id_playlist, name, count(media_id) FROM Playlist LEFT JOIN PlaylistMediaRelation "
            "ON playlist_id = id_playlist GROUP BY id_playlist ORDER BY name, id_playlist"
        ).fetchall()

    def name(self, playlist: int) -> str:
        """Returns the name of a playlist; empty if it is gone."""
        row = self.db.execute("SELECT name FROM Playlist WHERE id_playlist = ?", (playlist,)).fetchone()
        return row[0] if row else ""

    def content(self, playlist: int) -> list[tuple[int, str]]:
        """Returns position and path of every film of a playlist, in order."""
        rows = self.db.execute(
            "SELECT position, coalesce(path, ''), filename FROM PlaylistMediaRelation "
            "JOIN Media ON media_id = id_media LEFT JOIN Folder ON folder_id = id_folder "
            "WHERE playlist_id = ? ORDER BY position", (playlist,)
        )  # fmt: skip
        return [(position, f"{folder}/{name}") for position, folder, name in rows]

    def create(self, name: str) -> int:
        """Returns the id of the playlist of that name, whatever its case; makes it if there is none."""
        row = self.db.execute("SELECT id_playlist FROM Playlist WHERE name = ?", (name,)).fetchone()
        if row is None:
            return self._insert("Playlist", name=name, creation_date=to_seconds(self._storage.now))
        return row[0]

    def add(self, playlist: int, paths: Sequence[str]) -> None:
        """Puts films at the end of a playlist."""
        end = "SELECT coalesce(max(position) + 1, 0) FROM PlaylistMediaRelation WHERE playlist_id = ?"
        (first,) = self.db.execute(end, (playlist,)).fetchone()
        for position, path in enumerate(paths, first):
            relation = {"media_id": self._media(path), "playlist_id": playlist, "position": position}
            self._insert("PlaylistMediaRelation", **relation)

    def remove(self, playlist: int, position: int) -> None:
        """Takes a film out of a playlist; those after it move up."""
        where = "FROM PlaylistMediaRelation WHERE playlist_id = ? AND position = ?"
        self.db.execute(f"DELETE {where}", (playlist, position))
        self.db.execute(
            "UPDATE PlaylistMediaRelation SET position = position - 1 WHERE playlist_id = ? AND position > ?",
            (playlist, position),
        )

    def rename(self, playlist: int, name: str) -> None:
        """Gives a playlist another name."""
        self.db.execute("UPDATE Playlist SET name = ? WHERE id_playlist = ?", (name, playlist))

    def delete(self, playlist: int) -> None:
        """Removes a playlist; its films stay."""
        self.db.execute("DELETE FROM PlaylistMediaRelation WHERE playlist_id = ?", (playlist,))
        self.db.execute("DELETE FROM Playlist WHERE id_playlist = ?", (playlist,))

    def _media(self, path: str) -> int:
        """Returns the id of a film, which is added to the library if it is new there."""
        folder, name = self._folder(path.rpartition("/")[0]), file_name(path)
        known = "SELECT id_media FROM Media WHERE filename = ? AND folder_id = ?"
        row = self.db.execute(known, (name, folder)).fetchone()
        if row is not None:
            return row[0]
        now = to_seconds(self._storage.now)
        return self._insert("Media", type=VIDEO, title=name, filename=name, folder_id=folder, insertion_date=now)

    def _folder(self, path: str) -> int:
        row = self.db.execute("SELECT id_folder FROM Folder WHERE path = ?", (path,)).fetchone()
        return row[0] if row else self._insert("Folder", path=path)

    def _insert(self, table: str, **values: object) -> int:
        marks = ", ".join("?" * len(values))
        cursor = self.db.execute(f"INSERT INTO {table}({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
        return cursor.lastrowid or 0


def is_film(path: str) -> bool:
    """Returns whether a file is a film that is neither hidden nor private to an app."""
    below = path[len(SHARED) :]
    return below.rpartition(".")[2].lower() in EXTENSIONS and "/." not in below and not below.startswith("/Android/")


def file_name(path: str) -> str:
    """Returns the last part of a path."""
    return path.rpartition("/")[2]
