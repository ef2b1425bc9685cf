"""uiautomator's gestures: fingers at places, and on objects.

Positions are in pixels, times in milliseconds. Each of the `steps` of a gesture lasts 5 ms, as in Android's
UiAutomator.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from coach_gym.envs.phone.input.fingers import LONG_PRESS, Fingers
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.uiautomator.finder import Finder, Selector
from coach_gym.ui import Node

Point = tuple[int, int]

STEP_SECONDS = 0.005
DRAG_SECONDS = 2.0  # at least, so that nothing runs on


class Gestures:
    """What fingers do. Every method returns whether the screen is on to feel it.

    Args:
        phone: The phone.
        finder: Finds objects on its screen.
    """

    def __init__(self, phone: Phone, finder: Finder) -> None:
        self._phone, self._finder = phone, finder
        self._fingers = Fingers(phone)

    def click(self, x: float | Selector, y: float | str = "", milliseconds: float = 0) -> bool:
        """Touches a place, perhaps for long; or an object, or its corner ("tl" or "br")."""
        if isinstance(x, str | Mapping):
            return self._touch([_corner(self._finder.node(x), y)], 0)
        return self._touch([_point(x, y)], milliseconds / 1000)

    def longClick(self, selector: Selector, corner: str = "") -> bool:
        """Touches an object, or its corner, for long."""
        return self._touch([_corner(self._finder.node(selector), corner)], 2 * LONG_PRESS)

    def swipe(self, x: float | Selector, y: Any, to_x: float, to_y: float = 0, steps: int = 0) -> bool:
        """Swipes from place to place in `steps`; or over an object: direction, steps, or direction, share, steps."""
        if isinstance(x, str | Mapping):
            share, steps = (to_x, int(to_y)) if to_y else (1.0, int(to_x))
            return self._touch(_across(self._finder.node(x), str(y), share), steps * STEP_SECONDS)
        return self._touch([_point(x, y), _point(to_x, to_y)], steps * STEP_SECONDS)

    def swipePoints(self, coordinates: list[float], steps: int) -> bool:
        """Swipes through points given as x, y, x, y, …, with `steps` between neighbours."""
        points = [_point(x, y) for x, y in zip(coordinates[::2], coordinates[1::2], strict=True)]
        return self._touch(points, steps * STEP_SECONDS * (len(points) - 1))

    def drag(self, x: float, y: float, to_x: float, to_y: float, steps: int) -> bool:
        """Drags from place to place, slowly."""
        return self._touch([_point(x, y), _point(to_x, to_y)], max(DRAG_SECONDS, steps * STEP_SECONDS))

    def dragTo(self, selector: Selector, x: float | Selector, y: float, steps: int = 0) -> bool:
        """Drags an object to a place, or to another object; `y` is then the number of steps."""
        start = _centre(self._finder.node(selector))
        end = _centre(self._finder.node(x)) if isinstance(x, str | Mapping) else _point(x, y)
        return self._touch([start, end], DRAG_SECONDS)

    def gesture(self, selector: Selector, start1: dict, start2: dict, end1: dict, end2: dict, steps: int) -> bool:
        """Moves two fingers on an object, each from a start to an end."""
        self._finder.node(selector)
        ways = [(_point(a["x"], a["y"]), _point(b["x"], b["y"])) for a, b in ((start1, end1), (start2, end2))]
        return self._two_fingers(ways, steps)

    def pinchIn(self, selector: Selector, percent: int, steps: int) -> bool:
        """Moves two fingers from the corners of an object towards its middle."""
        return self._two_fingers([way[::-1] for way in _spread(self._finder.node(selector), percent)], steps)

    def pinchOut(self, selector: Selector, percent: int, steps: int) -> bool:
        """Moves two fingers from the middle of an object towards its corners."""
        return self._two_fingers(_spread(self._finder.node(selector), percent), steps)

    def _two_fingers(self, ways: list[tuple[Point, Point]], steps: int) -> bool:
        fingers = Fingers(self._phone)
        for end in (0, 1):
            for finger, way in enumerate(ways):
                fingers.down(finger, *way[end], at=0.0)
        for finger in range(len(ways)):
            fingers.up(finger, steps * STEP_SECONDS)
        return True

    def injectInputEvent(self, action: int, x: float, y: float, meta: int = 0) -> bool:
        """Puts a finger down (0), lifts it (1), moves it (2) or cancels the gesture (3)."""
        if action in (0, 2):
            self._fingers.down(0, *_point(x, y), at=time.monotonic())
        elif action == 1:
            self._fingers.up(0, time.monotonic())
        else:
            self._fingers = Fingers(self._phone)
        return True

    def _touch(self, points: list[Point], seconds: float) -> bool:
        """Moves a finger through points."""
        if points:
            now = time.monotonic()
            for point in points:
                self._fingers.down(0, *point, at=now)
            self._fingers.up(0, now + seconds)
        return self._phone.services.screen_on


def _point(x: Any, y: Any) -> Point:
    return int(x), int(y)


def _centre(node: Node) -> Point:
    left, top, right, bottom = node.bounds
    return (left + right) // 2, (top + bottom) // 2


def _corner(node: Node, corner: Any) -> Point:
    left, top, right, bottom = node.bounds
    if corner in ("tl", "topleft"):
        return left + 5, top + 5
    if corner in ("br", "bottomright"):
        return right - 5, bottom - 5
    return _centre(node)


def _across(node: Node, direction: str, share: float) -> list[Point]:
    """Returns the way from the middle of a node towards a side."""
    (x, y), (left, top, right, bottom) = _centre(node), node.bounds
    ends = {"left": (left, y), "right": (right - 1, y), "up": (x, top), "down": (x, bottom - 1)}
    end_x, end_y = ends[direction]
    return [(x, y), _point(x + share * (end_x - x), y + share * (end_y - y))]


def _spread(node: Node, percent: float) -> list[tuple[Point, Point]]:
    """Returns two ways from the middle of a node towards opposite corners, over a share of the distance."""
    (x, y), (left, top, right, bottom) = _centre(node), node.bounds
    corners = (left, top), (right - 1, bottom - 1)
    ends = [_point(x + percent / 100 * (end_x - x), y + percent / 100 * (end_y - y)) for end_x, end_y in corners]
    return [((x, y), end) for end in ends]
