"""Experts of Pi Music Player."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from coach_gym.actions import Action, format_action
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Pi Music Player"
Row = tuple[str, str, int]
"""A song as a list shows it: title, artist, length in seconds."""


# questions


@expert("pimusic_1")
def count_all(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the number of tracks."""
    yield from s.open(APP)
    yield s.tap("TRACKS")
    yield s.finish(s.find(lambda element: element.label.endswith(" songs")).label)


@expert("pimusic_2")
def count_pink_floyd(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the number of the artist's songs."""
    yield from _count(s, "Pink Floyd")


@expert("pimusic_3")
def album(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the album of the song."""
    yield from _album(s, "Wish You Were Here")


@expert("pimusic_4")
def longest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the artist's songs and names the longest time."""
    songs = yield from _songs_of(s, "Pink Floyd")
    yield s.finish(_spoken(max(seconds for *_, seconds in songs)))


@expert("pimusic_5")
def second_and_fourth(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Sorts the tracks by title and reads two of them."""
    yield from s.open(APP)
    yield from _sort(s, "Title", "Ascending")
    titles = [title for title, *_ in _songs(s)]
    yield s.finish(f"The second song is '{titles[1]}' and the fourth song is '{titles[3]}'")


@expert("pimusic_6")
def total(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds up the times of the artist's songs."""
    songs = yield from _songs_of(s, "Eason Chan")
    yield s.finish(_spoken(sum(seconds for *_, seconds in songs)))


@expert("PiMusicCountByArtist")
def count_by_artist(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the number of the artist's songs."""
    yield from _count(s, p["artist"])


@expert("PiMusicAlbumOf")
def album_of(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the album of the song."""
    yield from _album(s, p["title"])


# playing


@expert("pimusic_7")
def play_favorite(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Plays the first song of the playlist."""
    yield from s.open(APP)
    yield s.tap("PLAYLISTS")
    yield s.tap("Favorite")
    yield s.tap(_songs(s)[0][0])


@expert("pimusic_10")
def pause_and_seek(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Pauses and moves to 1:27."""
    yield from s.open(APP)
    yield from _pause_at(s, 87)


@expert("pimusic_11")
def play_lightship(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Plays the song."""
    yield from _play(s, "Lightship")


@expert("PiMusicPlaySong")
def play_song(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Plays the song."""
    yield from _play(s, p["title"])


@expert("PiMusicPauseAt")
def pause_at(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Pauses and moves to the time."""
    yield from s.open(APP)
    yield from _pause_at(s, _seconds(p["time"]))


# lists


@expert("pimusic_8")
def sort_pink_floyd(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Sorts the artist's songs by duration, the longest first."""
    yield from s.open(APP)
    yield s.tap("ARTISTS")
    yield from s.scroll_to("Pink Floyd")
    yield s.tap("Pink Floyd")
    yield from _sort(s, "Duration", "Descending")


@expert("pimusic_9")
def create_creepy(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Creates the playlist."""
    yield from _create(s, "Creepy")


@expert("pimusic_12")
def sort_tracks(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Sorts the tracks by duration, the shortest first."""
    yield from s.open(APP)
    yield from _sort(s, "Duration", "Ascending")


@expert("PiMusicCreatePlaylist")
def create_playlist(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Creates the playlist."""
    yield from _create(s, p["name"])


@expert("PiMusicAddToPlaylist")
def add_to_playlist(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds the song to the playlist."""
    yield from s.open(APP)
    yield from s.scroll_to(f"Options of {p['title']}")
    yield s.tap(f"Options of {p['title']}")
    yield s.tap("Add to playlist")
    yield from s.scroll_to(p["playlist"])
    yield s.tap(p["playlist"])


# working the app


def _count(s: Screen, artist: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("ARTISTS")
    yield from s.scroll_to(artist)
    yield s.finish(s.find(artist).label.split(", ")[-1])


def _album(s: Screen, title: str) -> Iterator[str]:
    yield from s.open(APP)
    yield from s.scroll_to(f"Options of {title}")
    yield s.tap(f"Options of {title}")
    yield s.tap("Song info")
    line = s.find(lambda element: element.label.startswith("Album: "))
    yield s.finish(line.label.removeprefix("Album: "))


def _play(s: Screen, title: str) -> Iterator[str]:
    yield from s.open(APP)
    yield from s.scroll_to(f"Options of {title}")
    yield s.tap(lambda element: element.clickable and element.label.split(", ")[0] == title and _is_song(element))


def _create(s: Screen, name: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("PLAYLISTS")
    yield s.tap("Create playlist")
    yield from s.fill("Playlist name", name)
    yield s.tap("Create")


def _sort(s: Screen, sort: str, way: str) -> Iterator[str]:
    yield s.tap("Sort By")
    yield s.tap(sort)
    yield s.tap(way)
    yield s.tap("OK")


def _pause_at(s: Screen, seconds: int) -> Iterator[str]:
    """Opens the player from the bar at the bottom, pauses, and touches the slider where the time should be.

    Where a pixel of it is more than a second, the last second is played.
    """
    if s.has("Pause"):
        yield s.tap("Pause")
    bar = s.find("Play")
    yield s.tap(lambda element: element.cls == "RelativeLayout" and element.bounds[3] >= bar.bounds[3])
    yield from s.scroll_to("Seek")
    at, length = _times(s)
    if at != seconds:
        yield _touch(s, seconds / length)
    if _times(s)[0] > seconds:
        yield _touch(s, (seconds - 2) / length)
    while _times(s)[0] < seconds:
        yield s.tap("Play")
        yield s.tap("Pause")


def _touch(s: Screen, share: float) -> str:
    """Touches the slider; its ends lie a little inside its bounds."""
    slider = s.find("Seek")
    left, _, right, _ = slider.bounds
    margin = 0.04 * (right - left)
    x = round(left + margin + share * (right - left - 2 * margin))
    return format_action(Action("click", (x, slider.center[1])), "Seek")


def _times(s: Screen) -> tuple[int, int]:
    """Returns position and length of the song in seconds."""
    first, last = (_seconds(element.label) for element in s.elements if _is_time(element.label))
    return first, last


def _songs_of(s: Screen, artist: str) -> Generator[str, None, list[Row]]:
    """Opens an artist and reads the songs."""
    yield from s.open(APP)
    yield s.tap("ARTISTS")
    yield from s.scroll_to(artist)
    yield s.tap(artist)
    return _songs(s)


def _songs(s: Screen) -> list[Row]:
    """Returns the songs on the screen, from top to bottom."""
    rows = [element.label.rsplit(", ", 2) for element in s.elements if _is_song(element)]
    return [(title, artist, _seconds(length)) for title, artist, length in rows]


def _is_song(element: Element) -> bool:
    return element.clickable and element.label.count(", ") >= 2 and _is_time(element.label.rsplit(", ", 1)[1])


def _is_time(text: str) -> bool:
    return ":" in text and text.replace(":", "").isdecimal()


def _seconds(time: str) -> int:
    seconds = 0
    for part in time.split(":"):
        seconds = 60 * seconds + int(part)
    return seconds


def _spoken(seconds: int) -> str:
    """Returns a length in words: 1 hour, 21 minutes and 3 seconds."""
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    parts = [f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []
    return ", ".join([*parts, f"{minutes} minutes"]) + f" and {seconds} seconds"
