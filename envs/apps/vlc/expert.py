"""Experts of VLC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coach_gym.envs.apps.markor import expert as markor
from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]
APP = "VLC"


@expert("VlcCreatePlaylist")
def create_playlist(s: Screen, p: Params) -> Iterator[str]:
    """Makes one playlist."""
    yield from s.open(APP)
    yield from _create(s, p["playlist_name"], p["files"])


@expert("VlcCreateTwoPlaylists")
def create_two_playlists(s: Screen, p: Params) -> Iterator[str]:
    """Makes both playlists."""
    yield from s.open(APP)
    yield from _create(s, p["playlist_name1"], p["files1"])
    yield from _create(s, p["playlist_name2"], p["files2"])


def _create(s: Screen, name: str, files: Sequence[str]) -> Iterator[str]:
    """Makes a playlist; films are added in the order in which they are selected."""
    for number, file in enumerate(files):
        yield from s.scroll_to(file)
        yield s.tap(file) if number else s.long_press(file)
    yield s.tap("Add to playlist")
    yield from s.fill("Enter playlist name", name)
    yield s.tap("Save")


@expert("MarkorTranscribeVideo")
def transcribe(s: Screen, p: Params) -> Iterator[str]:
    """Watches the film to its end, and types its words, which no screen text gives, from the parameters."""
    yield from s.open(APP)
    yield from s.scroll_to(p["video_name"])
    yield s.tap(p["video_name"])
    while not s.has("Play"):
        yield s.tap("Forward 10 seconds")  # each text is shown for eight, so at least a part of it is seen
    yield from s.open("Markor")
    yield from markor.new_note(s, p["file_name"])
    yield from s.fill(markor.EDITOR, ", ".join(p["messages"]))
    yield s.tap("Save")
