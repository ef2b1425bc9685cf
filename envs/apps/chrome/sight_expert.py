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
    switches = dict(zip(p["names"], _pictures(s), strict=True))  # from top to bottom
    wrong = [switch for name, switch in switches.items() if _is_on(s, switch) != (name == p["what"])]
    for switch in wrong:
        yield s.tap(switch)
    yield s.tap("Save")


def _is_on(s: Screen, switch: Element) -> bool:
    """Green at the left of the knob."""
    left, top, right, bottom = switch.bounds
    red, green, _ = s.color(left + (right - left) // 5, (top + bottom) // 2)
    return green > red + 40
