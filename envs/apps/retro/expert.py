"""Experts of Retro Music."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]
APP = "Retro Music"
LOW, HIGH = 45, 50  # minutes: where the parameters do not say how long a playlist may be
_SONG = re.compile(r"(.+), .+ • (?:(\d+):)?(\d\d):(\d\d)")


@expert("RetroCreatePlaylist")
def create_playlist(s: Screen, p: Params) -> Iterator[str]:
    """Selects the songs and puts them into a new playlist."""
    yield from s.open(APP)
    yield from _select(s, _titles(p))
    yield from _add_to_new_playlist(s, p["playlist_name"])


@expert("RetroSavePlaylist")
def save_playlist(s: Screen, p: Params) -> Iterator[str]:
    """Makes the playlist and saves it as a file."""
    yield from s.open(APP)
    yield from _select(s, _titles(p))
    yield from _add_to_new_playlist(s, p["playlist_name"])
    yield s.tap("Playlists")
    yield s.tap(p["playlist_name"])
    yield s.tap("More options")
    yield s.tap("Save as file")
    yield s.tap("SAVE")


@expert("RetroPlayingQueue")
def fill_queue(s: Screen, p: Params) -> Iterator[str]:
    """Selects the songs and puts them into the queue."""
    yield from s.open(APP)
    yield from _select(s, _titles(p))
    yield s.tap("More options")
    yield s.tap("Add to playing queue")


@expert("RetroPlaylistDuration")
def playlist_of_length(s: Screen, p: Params) -> Iterator[str]:
    """Reads all lengths and selects songs that fit."""
    yield from s.open(APP)
    songs = yield from _read_songs(s)
    chosen = _lasting(songs, 60 * p.get("low", LOW), 60 * p.get("high", HIGH))
    yield from _select(s, [title for title in reversed(songs) if title in chosen])  # from the end, where we are
    yield from _add_to_new_playlist(s, p["playlist_name"])


def _titles(p: Params) -> list[str]:
    return [name.partition(".")[0] for name in p["files"]]


def _select(s: Screen, titles: Sequence[str]) -> Iterator[str]:
    """Selects songs in the order in which they are wanted."""
    for number, title in enumerate(titles):
        yield from _scroll_to(s, title)
        yield s.tap(title) if number else s.long_press(title)


def _scroll_to(s: Screen, title: str) -> Iterator[str]:
    """Scrolls to a song; the list is sorted by title, so that the direction is known."""
    while not s.has(title):
        shown = [found[1] for element in s.elements if (found := _SONG.fullmatch(element.label))]
        before = s.text
        yield s.scroll("up" if title.casefold() < shown[0].casefold() else "down")
        if s.text == before:
            raise LookupError(f"there is no song {title!r}")


def _add_to_new_playlist(s: Screen, name: str) -> Iterator[str]:
    yield s.tap("Add to playlist")
    yield s.tap("New playlist")
    yield s.type(name)
    yield s.tap("Create")


def _read_songs(s: Screen) -> Generator[str, None, dict[str, int]]:
    """Reads the lengths of all songs in seconds, by title, scrolling to the end."""
    songs: dict[str, int] = {}
    while True:
        for found in filter(None, (_SONG.fullmatch(element.label) for element in s.elements)):
            title, hours, minutes, seconds = found.groups()
            songs[title] = 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)
        before = s.text
        if not any(element.scrollable for element in s.elements):
            return songs
        yield s.scroll("down")
        if s.text == before:
            return songs


def _lasting(songs: Mapping[str, int], low: int, high: int) -> frozenset[str]:
    """Returns songs that together last about the middle between `low` and `high` seconds."""
    sums: dict[int, frozenset[str]] = {0: frozenset()}
    for title, seconds in songs.items():
        sums = {total + seconds: titles | {title} for total, titles in sums.items() if total + seconds <= high} | sums
    return sums[min((total for total in sums if total >= low), key=lambda total: abs(total - (low + high) / 2))]
