"""Experts of the films that are known by what they show: they read `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

Params = Mapping[str, Any]
APP = "VLC"


@expert("VlcPlaylistOfColor")
def playlist_of_color(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open(APP)
    yield s.long_press(next(row for row in s.elements if _is_film(row) and _color(s, row) == p["what"]))
    yield s.tap("Add to playlist")
    yield from s.fill("Enter playlist name", p["playlist_name"])
    yield s.tap("Save")


def _is_film(element: Element) -> bool:
    return element.long_clickable and ".mp4" in element.label


def _color(s: Screen, row: Element) -> str:
    """The color of the picture at the start of a row, which is a third of its height from the edges."""
    left, top, _, bottom = row.bounds
    height = bottom - top
    middle = s.pixels[top + height * 2 // 5 : bottom - height * 2 // 5, left + height // 2 : left + height * 2 // 3]
    return looking.nearest_color(middle.mean(axis=(0, 1)))


@expert("VlcLastShape")
def last_shape(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap(p["name"])
    while not s.has("Play"):
        yield s.tap("Forward 10 seconds")
    picture = looking.crop(s.pixels, _picture(s.find("player_surface")), 0.06)
    yield s.finish(looking.shape_of(picture))


def _picture(element: Element) -> tuple[int, int, int, int]:
    """Where the film's square middle is: frames are four wide and three high."""
    left, top, right, bottom = element.bounds
    half = min((right - left) * 3 // 4, bottom - top) // 2
    x, y = (left + right) // 2, (top + bottom) // 2
    return x - half, y - half, x + half, y + half
