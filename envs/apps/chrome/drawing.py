"""A canvas on a web page, to be drawn on in given colours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.apps.chrome.html import Document
from coach_gym.envs.apps.chrome.page import SUCCESS, Page, button
from coach_gym.envs.apps.chrome.script import SeededRandom, constant, number
from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Grid, Row, Text

CANVAS = 300  # css pixels, both ways
_COLOR = re.compile(r"#[0-9a-f]{6}")
Place = tuple[float, float]
"""A place on the canvas, as 0…1 of its width and height."""
Stroke = tuple[str, Place, Place]
"""A colour, and where a line starts and ends."""


@dataclass
class Drawing(Page):
    """A canvas, the colours to draw with, and those that must be on it.

    Attributes:
        wanted: The colours that must be on the canvas, such as `#ff0000`.
        palette: The colours to choose from.
        heading: The line above the palette.
        buttons: Labels of the buttons that wipe the canvas and hand it in.
        width: Width of a line.
        color: The chosen colour.
        strokes: What was drawn.
        solved: Whether the drawing was right when it was last handed in.
    """

    wanted: list[str]
    palette: list[str]
    heading: str
    buttons: tuple[str, str]
    width: int
    color: str = "#000000"
    strokes: tuple[Stroke, ...] = ()
    solved: bool = False

    @classmethod
    def read(cls, document: Document) -> Drawing | None:
        """Returns the drawing that a script describes: `WANTED` and `PALETTE`, or as AndroidWorld's page draws them."""
        script = document.script
        wanted, palette = constant(script, "WANTED"), constant(script, "PALETTE")
        count = number(script, r"generateRandomColors\((\d{1,2})\)")
        listed = re.search(r"availableColors = \[([^\]]{0,2000})\]", script)
        if wanted is None and count is not None and listed is not None:
            palette = _COLOR.findall(listed[1])
            rng, left = SeededRandom(script), list(palette)
            wanted = [left.pop(rng.below(len(left))) for _ in range(min(count, len(left)))]
        if wanted is None or palette is None:
            return None
        if any(_COLOR.fullmatch(str(color)) is None for color in (*wanted, *palette)):
            raise ValueError("these are not colours")
        clear, submit = document.labels("button")[:2]
        width = number(script, r"lineWidth = (\d{1,2});") or 1
        heading = document.labels("p")[0]
        return cls(document.title, document.mobile, wanted, palette, heading, (clear, submit), width)

    def choose(self, color: str) -> None:
        """Takes another colour."""
        self.color = color

    def draw(self, start: Place, end: Place) -> None:
        """Draws a line."""
        self.strokes += ((self.color, start, end),)

    def clear(self) -> None:
        """Wipes the canvas."""
        self.strokes = ()

    def submit(self) -> None:
        """Hands the drawing in: all wanted colours must be on it."""
        pixels = drawn(self.strokes, self.width).reshape(-1, 3)
        self.solved = all((pixels == _rgb(color)).all(axis=1).any() for color in self.wanted)

    def views(self, scale: float) -> list[View]:
        """Shows the wanted colours, the canvas, the palette and two buttons."""
        tiles = [View(bg=color, width=50 * scale, height=50 * scale, important=False) for color in self.wanted]
        palette = Column([Grid([self._ink(color, scale) for color in self.palette], 8, 6 * scale)], width=288 * scale)
        clear, submit = self.buttons
        buttons = [button(clear, self.clear, scale), button(submit, self.submit, scale)]
        result = [Text(SUCCESS, 14 * scale, align="center", id="result")] if self.solved else []
        return [
            Row(tiles, gap=10 * scale, justify="center", pad=(0, 5 * scale, 0, 5 * scale)),
            Row([self._canvas(scale)], justify="center"),
            Text(self.heading, 14 * scale, align="center", pad=(0, 14 * scale, 0, 10 * scale)),
            Row([palette], justify="center"),
            Row(buttons, gap=10 * scale, justify="center", pad=(0, 14 * scale, 0, 10 * scale)),
            *result,
        ]

    def _canvas(self, scale: float) -> View:
        canvas = View(
            image=drawn(self.strokes, self.width), width=CANVAS * scale, height=CANVAS * scale, id="canvas",
            on_tap=_dot, on_drag=self.draw,
        )  # fmt: skip
        return View(children=[canvas], pad=(1, 1, 1, 1), border="#000000", important=False)

    def _ink(self, color: str, scale: float) -> View:
        choose = partial(self.choose, color)
        return View("android.widget.Button", bg=color, width=30 * scale, height=30 * scale, on_tap=choose)


def _dot() -> None:
    """A finger that does not move draws nothing."""


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


@cached(4)
def drawn(strokes: tuple[Stroke, ...], width: int) -> np.ndarray:
    """Draws lines on a canvas: `CANVAS` x `CANVAS` x 3 uint8.

    Args:
        strokes: The lines in order.
        width: Their width in css pixels.
    """
    image = Image.new("RGB", (CANVAS, CANVAS), "#ffffff")
    pen = ImageDraw.Draw(image)
    for color, start, end in strokes:
        pen.line([(x * CANVAS, y * CANVAS) for x, y in (start, end)], color, width)
    return np.asarray(image)
