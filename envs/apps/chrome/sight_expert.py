"""Experts of the web pages with unnamed buttons and switches: they read `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coach_gym.envs.apps.chrome.expert import open_page
from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

Params = Mapping[str, Any]


def _pictures(s: Screen) -> list[Element]:
    return [element for element in s.elements if element.cls == "Button" and not element.label]


def _seen(s: Screen, element: Element) -> np.ndarray:
    return looking.crop(s.pixels, element.bounds)


@expert("ChromePressColor")
def press_color(s: Screen, p: Params) -> Iterator[str]:
    yield from open_page(s, p["name"])
    yield s.tap(next(b for b in _pictures(s) if looking.nearest_color(_seen(s, b).mean(axis=(0, 1))) == p["what"]))


@expert("ChromePressShape")
def press_shape(s: Screen, p: Params) -> Iterator[str]:
    yield from open_page(s, p["name"])
    yield s.tap(next(button for button in _pictures(s) if looking.shape_of(_seen(s, button)) == p["what"]))


@expert("ChromeSetSwitches")
def set_switches(s: Screen, p: Params) -> Iterator[str]:
    yield from open_page(s, p["name"])
    for name in p["names"]:
        yield from s.scroll_to(name)
        height = s.find(name).center[1]
        switch = min(_pictures(s), key=lambda picture: abs(picture.center[1] - height))
        if _is_on(s, switch) != (name == p["what"]):
            yield s.tap(switch)
    yield from s.follow("Save")


def _is_on(s: Screen, switch: Element) -> bool:
    """Green beside the knob. A switch at the edge of the page may be cut."""
    red, green, _ = np.moveaxis(_seen(s, switch).astype(int), -1, 0)
    return bool((green > red + 40).any())
