"""Retro Music's data: the songs of the shared storage, playlists and the playing queue."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.media import audio
from coach_gym.envs.phone.storage import Storage

PACKAGE = "code.name.monkey.retromusic"
PLAYLISTS = f"/data/data/{PACKAGE}/databases/playlist.db"
QUEUE = f"/data/data/{PACKAGE}/databases/music_playback_state.db"
SETTINGS = f"/data/data/{PACKAGE}/shared_prefs/{PACKAGE}_preferences.xml"
PLAYLIST_SCHEMA = """
CREATE TABLE PlaylistEntity (playlist_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, playlist_name TEXT NOT NULL);
CREATE TABLE SongEntity (
    song_key INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, playlist_creator_id INTEGER NOT NULL, id INTEGER NOT NULL,
    title TEXT NOT NULL, track_number INTEGER NOT NULL, year INTEGER NOT NULL, duration INTEGER NOT NULL,
    data TEXT NOT NULL, date_modified INTEGER NOT NULL, album_id INTEGER NOT NULL, album_name TEXT NOT NULL,
    artist_id INTEGER NOT NULL, artist_name TEXT NOT NULL, composer TEXT, album_artist TEXT
);
"""
_ENTRY_COLUMNS = (  # in the order of a `Song`
    "id, title, track_number, year, duration, data, date_modified, album_id, album_name, artist_id, artist_name, "
    "composer, album_artist"
)
PLAYING, ORIGINAL = "playing_queue", "original_playing_queue"
_QUEUE = (
    "_id INT NOT NULL, title TEXT NOT NULL, track INT NOT NULL, year INT NOT NULL, duration LONG NOT NULL, "
    "_data TEXT NOT NULL, date_modified LONG NOT NULL, album_id INT NOT NULL, album TEXT NOT NULL, "
    "artist_id INT NOT NULL, artist TEXT NOT NULL, composer TEXT, album_artist TEXT"
)
QUEUE_SCHEMA = "".join(f"CREATE TABLE {table} ({_QUEUE});\n" for table in (PLAYING, ORIGINAL))
_QUEUE_COLUMNS = ", ".join(column.split()[0] for column in _QUEUE.split(", "))
POSITION = "POSITION"  # in the settings: which song of the queue is being played
UNKNOWN = "<unknown>"  # what Android calls an artist that a file does not name


class Song(NamedTuple):
    """A sound file as both databases hold it; its length in milliseconds, its date in seconds since 1970."""

    id: int
    title: str
    track: int
    year: int
    millis: int
    path: str
    modified: int
    album_id: int
    album: str
    artist_id: int
    artist: str
    composer: str | None
    album_artist: str | None


class Music:
    """The songs, playlists and queue of a phone."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def db(self) -> sqlite3.Connection:
        """The playlists; created again if the file is missing."""
        return self._storage.create_database(PLAYLISTS, PLAYLIST_SCHEMA)

    @property
    def queue_db(self) -> sqlite3.Connection:
        """The playing queue; created again if the file is missing."""
        return self._storage.create_database(QUEUE, QUEUE_SCHEMA)

    def songs(self) -> list[Song]:
        """Returns all songs by title."""
        found = (self._song(path) for path in self._storage.files_below(SHARED) if _is_sound(path))
        return sorted((song for song in found if song), key=lambda song: song.title.casefold())

    def _song(self, path: str) -> Song | None:
        sound = audio.sound(self._storage.read(path) or b"")
        if sound is None:
            return None
        folder, name = path.split("/")[-2:]
        artist, millis = sound.artist or UNKNOWN, round(1000 * sound.seconds)
        id, album_id, artist_id = (zlib.crc32(text.encode()) for text in (path, folder, artist))
        title, modified = sound.title or name.rpartition(".")[0], to_seconds(self._storage.modified(path))
        return Song(id, title, 0, 0, millis, path, modified, album_id, folder, artist_id, artist, "", artist)

    # playlists

    def playlists(self) -> list[tuple[int, str, int, int]]:
        """Returns id, name, number of songs and length in milliseconds of every playlist, by name."""
        return self.db.execute(
            "SELECT playlist_id, playlist_name, count(song_key), coalesce(sum(duration), 0) FROM PlaylistEntity "
            "LEFT JOIN SongEntity ON playlist_creator_id = playlist_id GROUP BY playlist_id "
            "ORDER BY playlist_name COLLATE NOCASE, playlist_id"
        ).fetchall()

    def name(self, playlist: int) -> str:
        """Returns what a playlist is called; empty if it is gone."""
        row = self.db.execute("SELECT playlist_name FROM PlaylistEntity WHERE playlist_id = ?", (playlist,)).fetchone()
        return row[0] if row else ""

    def content(self, playlist: int) -> list[tuple[int, Song]]:
        """Returns key and song of every entry of a playlist, in order."""
        rows = self.db.execute(
            f"SELECT song_key, {_ENTRY_COLUMNS} FROM SongEntity WHERE playlist_creator_id = ? ORDER BY song_key",
            (playlist,),
        )
        return [(key, Song(*row)) for key, *row in rows]

    def create(self, name: str) -> int:
        """Makes a playlist and returns its id."""
        return self.db.execute("INSERT INTO PlaylistEntity(playlist_name) VALUES (?)", (name,)).lastrowid or 0

    def add(self, playlist: int, songs: Sequence[Song]) -> None:
        """Appends songs to a playlist. Those that are in it already move to its end."""
        paths = {song.path for song in songs}
        for key, song in self.content(playlist):
            if song.path in paths:
                self.remove(key)
        marks = ",".join("?" * 14)
        rows = [(playlist, *song) for song in dict.fromkeys(songs)]
        self.db.executemany(f"INSERT INTO SongEntity(playlist_creator_id, {_ENTRY_COLUMNS}) VALUES ({marks})", rows)

    def remove(self, key: int) -> None:
        """Takes an entry out of its playlist."""
        self.db.execute("DELETE FROM SongEntity WHERE song_key = ?", (key,))

    def rename(self, playlist: int, name: str) -> None:
        """Renames a playlist."""
        self.db.execute("UPDATE PlaylistEntity SET playlist_name = ? WHERE playlist_id = ?", (name, playlist))

    def delete(self, playlist: int) -> None:
        """Removes a playlist; its songs stay."""
        self.db.execute("DELETE FROM SongEntity WHERE playlist_creator_id = ?", (playlist,))
        self.db.execute("DELETE FROM PlaylistEntity WHERE playlist_id = ?", (playlist,))

    def m3u(self, playlist: int) -> bytes:
        """Returns a playlist as an M3U file."""
        songs = [song for _, song in self.content(playlist)]
        lines = [f"#EXTINF:{song.millis // 1000},{song.artist} - {song.title}\n{song.path}" for song in songs]
        return "\n".join(["#EXTM3U", *lines, ""]).encode()

    # the queue

    def queue(self, table: str = PLAYING) -> list[Song]:
        """Returns the songs to be played, in order; those of the table `ORIGINAL` in their order before shuffling."""
        return [Song(*row) for row in self.queue_db.execute(f"SELECT {_QUEUE_COLUMNS} FROM {table} ORDER BY rowid")]

    @property
    def position(self) -> int:
        """The place in the queue of the song that is played."""
        return int(preferences.load(self._storage, SETTINGS).get(POSITION, 0))  # type: ignore[arg-type]

    def play(self, songs: Sequence[Song], position: int = 0) -> None:
        """Makes a new queue and starts at one of its songs."""
        self._fill(PLAYING, songs)
        self._fill(ORIGINAL, songs)
        self.move_to(position)

    def move_to(self, position: int) -> None:
        """Plays another song of the queue."""
        preferences.update(self._storage, SETTINGS, {POSITION: position})

    def enqueue(self, songs: Sequence[Song]) -> None:
        """Puts songs at the end of the queue."""
        self._append(PLAYING, songs)
        self._append(ORIGINAL, songs)

    def play_next(self, songs: Sequence[Song]) -> None:
        """Puts songs into the queue, after the one that is being played."""
        queue, after = self.queue(), self.position + 1
        self._fill(PLAYING, [*queue[:after], *songs, *queue[after:]])
        self._append(ORIGINAL, songs)

    def dequeue(self, index: int) -> None:
        """Takes a song out of the queue."""
        queue, original, position = self.queue(), self.queue(ORIGINAL), self.position
        song = queue.pop(index)
        if song in original:
            original.remove(song)
        self._fill(PLAYING, queue)
        self._fill(ORIGINAL, original)
        self.move_to(max(0, min(position - (index < position), len(queue) - 1)))

    def _fill(self, table: str, songs: Sequence[Song]) -> None:
        self.queue_db.execute(f"DELETE FROM {table}")
        self._append(table, songs)

    def _append(self, table: str, songs: Sequence[Song]) -> None:
        marks = ",".join("?" * 13)
        self.queue_db.executemany(f"INSERT INTO {table}({_QUEUE_COLUMNS}) VALUES ({marks})", songs)


def _is_sound(path: str) -> bool:
    below = path[len(SHARED) :]
    ending = below.rpartition(".")[2].lower()
    return ending in audio.EXTENSIONS and "/." not in below and not below.startswith("/Android/")
