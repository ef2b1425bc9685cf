"""Experts that look at pictures in Simple Gallery Pro: they read `Screen.pixels`, since no text says what is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.gallery.sight_tasks import TIMES
from coach_gym.envs.tasks import looking, scenes
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

Params = Mapping[str, Any]


def shown(s: Screen) -> np.ndarray:
    """Returns the picture that is open on the whole screen."""
    return looking.crop(s.pixels, looking.middle_square(s.find("gestures_view").bounds))


def thumbnail(s: Screen, cell: Element) -> np.ndarray:
    """Returns the picture above the name in a cell of a folder."""
    left, top, right, _ = cell.bounds
    return looking.crop(s.pixels, (left, top, right, top + right - left), 0.08)


def open_folder(s: Screen) -> Iterator[str]:
    """Opens the folder DCIM."""
    yield from s.open(gallery.APP)
    yield s.tap("DCIM")


def _cells(s: Screen) -> list[Element]:
    return [element for element in s.elements if element.id == "media_item_holder"]


def _captions(s: Screen) -> dict[str, Element]:
    """What the folder's pictures show, and where."""
    return {looking.caption_of(thumbnail(s, cell)): cell for cell in _cells(s)}


def _delete(s: Screen, cell: Element) -> Iterator[str]:
    yield s.long_press(cell)
    yield s.tap("Delete")
    yield s.tap("Yes")


@expert("GalleryDeletePicture")
def delete_picture(s: Screen, p: Params) -> Iterator[str]:
    yield from open_folder(s)
    yield from _delete(s, _captions(s)[p["what"]])


@expert("GalleryRenamePicture")
def rename_picture(s: Screen, p: Params) -> Iterator[str]:
    yield from open_folder(s)
    yield s.long_press(_captions(s)[p["what"]])
    yield s.tap("More options")
    yield s.tap("Rename")
    yield from s.refill(_is_field, p["new_name"])
    yield s.tap("OK")


def _is_field(element: Element) -> bool:
    return element.editable


@expert("GalleryDeleteOddOne")
def delete_odd_one(s: Screen, p: Params) -> Iterator[str]:
    yield from open_folder(s)
    cells = _cells(s)
    said = [looking.caption_of(thumbnail(s, cell)) for cell in cells]
    odd = next(number for number, caption in enumerate(said) if said.count(caption) == 1)
    yield from _delete(s, cells[odd if p["which"] == "one" else odd - 1])


@expert("GalleryCountShapes")
def count_shapes(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    yield s.finish(str(looking.count_of(shown(s))))


def time_shown(s: Screen) -> str:
    """Reads the clock in the picture that is open, such as `9:30`."""
    return looking.most_alike(shown(s), {time: scenes.drawn({"kind": "clock", "time": time}) for time in TIMES})


@expert("GalleryReadClock")
def read_clock(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    yield s.finish(time_shown(s))


@expert("GalleryTallestBar")
def tallest_bar(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    yield s.finish(looking.tallest_bar(shown(s), ("red", "green", "blue", "yellow")))


@expert("GalleryArrowDirection")
def arrow_direction(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    color = looking.color_of(shown(s))
    arrows = {
        way: scenes.drawn({"kind": "arrow", "direction": way, "color": color, "seed": 0}) for way in scenes.DIRECTIONS
    }
    yield s.finish(looking.most_alike(shown(s), arrows))
