"""Pi Music Player's data: songs in the shared Music folder, playlists, and the state of the player."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.epoch import to_millis, to_seconds
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.media import audio
from coach_gym.envs.phone.storage import Storage

PACKAGE = "com.Project100Pi.themusicplayer"
MUSIC = f"{SHARED}/Music"
DATABASE = f"/data/data/{PACKAGE}/databases/pi_music.db"
SETTINGS = f"/data/data/{PACKAGE}/shared_prefs/{PACKAGE}_preferences.xml"
SCHEMA = """
CREATE TABLE playlists (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE);
CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, playlist INTEGER NOT NULL, path TEXT NOT NULL);
CREATE TABLE queue (place INTEGER PRIMARY KEY NOT NULL, path TEXT NOT NULL);
CREATE TABLE player (place INTEGER NOT NULL, seconds REAL NOT NULL, since INTEGER);
"""
SORTS = ("Title", "Artist", "Album", "Duration", "Date added")
UNKNOWN = "<unknown>"  # what Android calls an artist that a file does not name


class Song(NamedTuple):
    """A sound file. Its album is its folder; its length is in whole seconds."""

    path: str
    title: str
    artist: str
    album: str
    seconds: int
    added: int


class Playing(NamedTuple):
    """The state of the player: a song and its place in the queue, the second of the song, and whether it runs."""

    song: Song
    place: int
    seconds: int
    runs: bool


def clock(seconds: int) -> str:
    """Returns a duration as lists show it: `4:05`, `1:21:03`."""
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def count(songs: Sequence[Song]) -> str:
    """Returns the number of songs in words: `1 song`, `12 songs`."""
    return f"{len(songs)} {'song' if len(songs) == 1 else 'songs'}"


@cached(8)
def _sound(data: bytes) -> audio.Sound | None:
    return audio.sound(data)


class Music:
    """The songs, playlists and player of a phone."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def db(self) -> sqlite3.Connection:
        """The app's database."""
        return self._storage.create_database(DATABASE, SCHEMA)

    def songs(self) -> list[Song]:
        """Returns all songs, by title."""
        found = [self._song(path) for path in self._files(MUSIC)]
        return sorted((song for song in found if song is not None), key=lambda song: song.title.casefold())

    def _files(self, folder: str) -> list[str]:
        files = []
        for name in self._storage.listdir(folder):
            path = f"{folder}/{name}"
            files += self._files(path) if self._storage.is_dir(path) else [path]
        return files

    def _song(self, path: str) -> Song | None:
        folder, _, name = path.rpartition("/")
        stem, _, ending = name.rpartition(".")
        sound = _sound(self._storage.read(path) or b"") if ending.lower() in audio.EXTENSIONS else None
        if sound is None:
            return None
        album, added = folder.rpartition("/")[2], to_seconds(self._storage.modified(path))
        return Song(path, sound.title or stem, sound.artist or UNKNOWN, album, round(sound.seconds), added)

    # order of lists

    def order(self, where: str) -> tuple[str, bool]:
        """Returns by what a kind of list is sorted, and whether in descending order."""
        stored = preferences.load(self._storage, SETTINGS)
        return str(stored.get(f"sort_{where}", SORTS[0])), bool(stored.get(f"descending_{where}", False))

    def set_order(self, where: str, sort: str, descending: bool) -> None:
        """Sorts a kind of list by one of `SORTS`."""
        preferences.update(self._storage, SETTINGS, {f"sort_{where}": sort, f"descending_{where}": descending})

    def sorted(self, songs: Sequence[Song], where: str) -> list[Song]:
        """Returns songs in the order of a kind of list."""
        sort, descending = self.order(where)
        index = {"Title": 1, "Artist": 2, "Album": 3, "Duration": 4, "Date added": 5}[sort]
        return sorted(songs, key=lambda song: _plain(song[index]), reverse=descending)

    @property
    def preset(self) -> str:
        """The preset of the equalizer."""
        return str(preferences.load(self._storage, SETTINGS).get("equalizer", "Normal"))

    def set_preset(self, preset: str) -> None:
        """Sets the equalizer."""
        preferences.update(self._storage, SETTINGS, {"equalizer": preset})

    # playlists

    def playlists(self) -> list[tuple[int, str]]:
        """Returns id and name of every playlist, by name."""
        return self.db.execute("SELECT id, name FROM playlists ORDER BY name COLLATE NOCASE").fetchall()

    def create(self, name: str) -> int | None:
        """Makes a playlist and returns its id; None if there is one of that name already."""
        if self.db.execute("SELECT 1 FROM playlists WHERE name = ?", (name,)).fetchone():
            return None
        return self.db.execute("INSERT INTO playlists(name) VALUES (?)", (name,)).lastrowid

    def delete(self, playlist: int) -> None:
        """Deletes a playlist; its songs stay."""
        self.db.execute("DELETE FROM entries WHERE playlist = ?", (playlist,))
        self.db.execute("DELETE FROM playlists WHERE id = ?", (playlist,))

    def content(self, playlist: int) -> list[Song]:
        """Returns the songs of a playlist, in order; files that are gone are left out."""
        rows = self.db.execute("SELECT path FROM entries WHERE playlist = ? ORDER BY id", (playlist,))
        return self._at([path for (path,) in rows])

    def add(self, playlist: int, song: Song) -> None:
        """Puts a song at the end of a playlist, unless it is in it."""
        if song.path not in (other.path for other in self.content(playlist)):
            self.db.execute("INSERT INTO entries(playlist, path) VALUES (?, ?)", (playlist, song.path))

    def _at(self, paths: Sequence[str]) -> list[Song]:
        songs = (self._song(path) for path in paths)
        return [song for song in songs if song is not None]

    # the player

    def queue(self) -> list[Song]:
        """Returns the songs that are played one after the other."""
        return self._at([path for (path,) in self.db.execute("SELECT path FROM queue ORDER BY place")])

    def playing(self, now: datetime) -> Playing | None:
        """Returns what is played now; None if nothing ever was. The end of a song starts the next one."""
        row, queue = self.db.execute("SELECT place, seconds, since FROM player").fetchone(), self.queue()
        if row is None or row[0] >= len(queue):
            return None
        place, seconds, since = row
        if since is not None:
            seconds += max(0, to_millis(now) - since) / 1000
        while place < len(queue) - 1 and seconds >= queue[place].seconds:
            seconds -= queue[place].seconds
            place += 1
        song = queue[place]
        return Playing(song, place, int(min(seconds, song.seconds)), since is not None and seconds < song.seconds)

    def play(self, songs: Sequence[Song], place: int, now: datetime) -> None:
        """Makes a queue of songs and starts at one of them."""
        self.set_queue(songs)
        self.go_to(place, 0, True, now)

    def set_queue(self, songs: Sequence[Song]) -> None:
        """Replaces the queue. The player stays at its place in it."""
        self.db.execute("DELETE FROM queue")
        self.db.executemany("INSERT INTO queue VALUES (?, ?)", [(place, song.path) for place, song in enumerate(songs)])

    def go_to(self, place: int, seconds: float, runs: bool, now: datetime) -> None:
        """Moves the player to a place of the queue and a second of its song, running or paused."""
        self.db.execute("DELETE FROM player")
        self.db.execute("INSERT INTO player VALUES (?, ?, ?)", (place, seconds, to_millis(now) if runs else None))


def _plain(value: str | int) -> str | int:
    return value.casefold() if isinstance(value, str) else value
