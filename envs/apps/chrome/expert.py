"""Experts of the web pages in Chrome. No text names the colours: the experts see them in the screenshot."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from coach_gym.actions import Action, format_action
from coach_gym.envs.tasks.screen import Screen, Target, expert
from coach_gym.ui import Element

Cell = tuple[int, int]
Color = tuple[int, ...]
MOVES = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}
GREEN = (0, 128, 0)
WHITE = (255, 255, 255)


def open_page(s: Screen, name: str) -> Iterator[str]:
    """Opens a page in the downloads from anywhere."""
    yield from s.open("Files")
    yield s.tap("Download")
    yield from s.scroll_to(name)
    yield s.tap(name)
    yield s.tap("Chrome")


@expert("BrowserMaze")
def maze(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Finds the walls by their colour and walks the shortest way."""
    yield from open_page(s, p.get("name", "task.html"))
    for move in _way(_free_cells(s)):
        yield s.tap(move)


def _free_cells(s: Screen) -> dict[Cell, bool]:
    """Maps the cells without a wall to whether they are the goal; the X is in the first one."""
    left, top, right, bottom = s.find("X").bounds
    width, height = right - left, bottom - top

    def color(row: int, column: int) -> tuple[int, ...]:
        x, y = left + (column + 0.25) * width, top + (row + 0.25) * height
        inside = y < s.pixels.shape[0] and x < s.pixels.shape[1]
        return s.color(int(x), int(y)) if inside else WHITE

    size = next(n for n in range(2, 20) if color(n - 1, n - 1) == GREEN)
    cells = {(row, column): color(row, column) for row in range(size) for column in range(size)}
    return {cell: color == GREEN for cell, color in cells.items() if color in (WHITE, GREEN)}


def _way(free: Mapping[Cell, bool]) -> list[str]:
    """Finds the shortest way to the goal by breadth-first search."""
    ways: dict[Cell, list[str]] = {(0, 0): []}
    queue = deque(ways)
    while queue:
        here = queue.popleft()
        if free[here]:
            return ways[here]
        for name, (down, right) in MOVES.items():
            cell = here[0] + down, here[1] + right
            if cell in free and cell not in ways:
                ways[cell] = [*ways[here], name]
                queue.append(cell)
    raise LookupError("no way leads to the goal")


@expert("BrowserMultiply")
def multiply(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the numbers and types their product."""
    yield from open_page(s, p.get("name", "task.html"))
    numbers = []
    while not s.has(_asks):
        numbers.append(int(s.find(lambda element: element.label.isdecimal()).label))
        yield s.tap(_is_button)
    yield s.tap(_asks)
    yield s.type(str(prod(numbers)))
    yield s.tap(_is_button)
    if not s.has("Success!"):
        yield s.back()  # puts the keyboard away, which hides the verdict on a low screen


def _asks(element: Element) -> bool:
    return element.editable and element.id != "url_bar"


def _is_button(element: Element) -> bool:
    return element.cls == "Button"


@expert("BrowserDraw")
def draw(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Draws one line in each colour of the tiles at the top."""
    yield from open_page(s, p.get("name", "task.html"))
    wanted = _colors_above_canvas(s)
    for number, color in enumerate(wanted, start=1):

        def has_color(element: Element, color: Color = color) -> bool:
            return _is_unnamed_button(element) and s.color(*element.center) == color

        yield from _scroll_down_to(s, has_color)
        yield s.tap(has_color)
        left, top, right, bottom = s.find("canvas").bounds
        yield s.drag("canvas", (right - (right - left) // 5, top + number * (bottom - top) // (len(wanted) + 1)))
    yield from _scroll_down_to(s, _hands_in)
    yield s.tap(_hands_in)


def _colors_above_canvas(s: Screen) -> list[Color]:
    """Returns the colours of the tiles between the top of the page and the canvas."""
    above = s.pixels[s.find(_is_page).bounds[1] : s.find("canvas").bounds[1]].reshape(-1, 3)
    colors, counts = np.unique(above, axis=0, return_counts=True)
    tiles = counts > len(above) // 50
    return [color for color in map(tuple, colors[tiles].tolist()) if color != WHITE]


def _scroll_down_to(s: Screen, target: Target) -> Iterator[str]:
    """Scrolls by dragging the line above the inks, or beside the canvas, on which a finger would draw."""
    left, top, _, bottom = s.find(_is_page).bounds
    while not s.has(target):
        line = next((element for element in s.elements if element.cls == "TextView" and element.label), None)
        if line:
            yield s.drag(line, (line.center[0], max(top, line.center[1] - 200)))
        else:
            yield format_action(Action("drag", (left + 5, bottom - 5), (left + 5, top)))


def _is_page(element: Element) -> bool:
    return element.cls == "WebView"


def _is_unnamed_button(element: Element) -> bool:
    return _is_button(element) and not element.label


def _hands_in(element: Element) -> bool:
    return element.label in ("Hand in", "Submit")
