"""Simple Draw Pro is a canvas to draw on with a finger, saved as PNG, JPEG or SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.phone.app import App, Confirm, Dialog, Menu, Screen
from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.screens.documents import SaveDocument
from coach_gym.envs.phone.system import bars
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Grid,
    IconButton,
    Picture,
    Radio,
    Row,
    Scaffold,
    Slider,
    TextField,
)

FORMATS = ("PNG", "SVG", "JPG")
COLORS = {
    "Black": "#000000", "Red": "#d32f2f", "Orange": "#f57c00", "Yellow": "#fbc02d", "Green": "#388e3c",
    "Blue": "#1976d2", "Purple": "#7b1fa2", "Brown": "#5d4037", "Grey": "#757575", "White": "#ffffff",
}  # fmt: skip
BROADEST = 0.15  # of a brush, as a share of the canvas's width
PALETTE_HEIGHT = 56  # dp


class SimpleDraw(App):
    """The drawing app."""

    package = "com.simplemobiletools.draw.pro"
    activity = "com.simplemobiletools.draw.pro.activities.MainActivity"
    label = "Simple Draw Pro"
    icon = "draw"
    color = "#7b1fa2"

    def main(self) -> Screen:
        """Opens an empty canvas."""
        return Canvas()


class Stroke(NamedTuple):
    """The path of a finger.

    Attributes:
        points: Places as shares of the canvas, (0, 0) at the upper left.
        color: Such as `#d32f2f`.
        width: As a share of the canvas's width.
    """

    points: tuple[tuple[float, float], ...]
    color: str
    width: float


@cached(8)
def drawn(strokes: tuple[Stroke, ...], background: str, size: tuple[int, int]) -> np.ndarray:
    """Returns a drawing as height x width x 3 uint8; `size` is (width, height) in pixels."""
    image = Image.new("RGB", size, background)
    pen = ImageDraw.Draw(image)
    for stroke in strokes:
        radius = max(0.5, stroke.width * size[0] / 2)
        points = [(x * size[0], y * size[1]) for x, y in stroke.points]
        pen.line(points, stroke.color, max(1, round(2 * radius)))
        for x, y in points:
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), stroke.color)
    return np.asarray(image)


def encoded(strokes: tuple[Stroke, ...], background: str, size: tuple[int, int], format: str) -> bytes:
    """Returns a drawing as a file in one of the `FORMATS`; `size` is (width, height) in pixels."""
    if format == "SVG":
        return _svg(strokes, background, size).encode()
    out = io.BytesIO()
    Image.fromarray(drawn(strokes, background, size)).save(out, "JPEG" if format == "JPG" else "PNG", quality=95)
    return out.getvalue()


def _svg(strokes: tuple[Stroke, ...], background: str, size: tuple[int, int]) -> str:
    width, height = size
    ways = [" L".join(f"{x * width:.1f},{y * height:.1f}" for x, y in stroke.points) for stroke in strokes]
    lines = [
        f'<path d="M{way}" fill="none" stroke="{stroke.color}" stroke-width="{stroke.width * width:.1f}" '
        f'stroke-linecap="round" stroke-linejoin="round"/>'
        for way, stroke in zip(ways, strokes, strict=True)
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="{background}"/>', *lines, "</svg>\n"])


class Canvas(Screen):
    """The drawing and its tools."""

    def __init__(self) -> None:
        super().__init__()
        self.strokes: tuple[Stroke, ...] = ()
        self.undone: tuple[Stroke, ...] = ()
        self.color, self.background, self.brush = COLORS["Black"], COLORS["White"], 0.15
        self.erasing = False
        self.format = FORMATS[0]

    def build(self) -> View:
        """Shows the drawing between the buttons and the brush."""
        picture = drawn(self.strokes, self.background, self._size)
        canvas = Picture(picture, "Canvas", flex=1, on_drag=self._draw, id="my_canvas")
        return Scaffold("", canvas, actions=self._actions(), bottom=self._tools())

    def _actions(self) -> list[View]:
        eraser = theme.PRIMARY if self.erasing else theme.SECONDARY
        undo = [IconButton("undo", "Undo", self._undo, "undo")] if self.strokes else []
        redo = [IconButton("redo", "Redo", self._redo, "redo")] if self.undone else []
        return [
            *undo,
            *redo,
            IconButton("eraser", "Eraser", self._toggle_eraser, "eraser", eraser, selected=self.erasing),
            IconButton("content_save_outline", "Save", self._save, "menu_save"),
            IconButton("dots_vertical", "More options", self._more),
        ]

    def _tools(self) -> View:
        brush = Column([Slider(self.brush, self._set_brush, "Brush size", "stroke_width_bar")], flex=1)
        swatch = View(
            "android.widget.ImageView", desc="Change color", on_tap=lambda: self.push(ColorPicker(self._set_color)),
            bg=self.color, width=36, height=36, radius=18, border=theme.OUTLINE, id="color_picker",
        )  # fmt: skip
        return Row([brush, swatch], gap=16, pad=(20, 6, 20, 6), height=PALETTE_HEIGHT)

    @property
    def _size(self) -> tuple[int, int]:
        """Width and height of the canvas in pixels: what the bars leave."""
        used = bars.STATUS_HEIGHT + bars.NAVIGATION_HEIGHT + theme.BAR_HEIGHT + PALETTE_HEIGHT
        return self.phone.width, self.phone.height - round(used * self.phone.density)

    def _draw(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draws a straight line; from where the last stroke ended, it continues that stroke."""
        color, width = self.background if self.erasing else self.color, max(0.01, self.brush) * BROADEST
        kept = self.strokes
        points: tuple[tuple[float, float], ...] = (start,)
        if kept and kept[-1].points[-1] == start and kept[-1][1:] == (color, width):
            kept, points = kept[:-1], kept[-1].points
        self.strokes, self.undone = (*kept, Stroke((*points, end), color, width)), ()

    def _undo(self) -> None:
        self.strokes, self.undone = self.strokes[:-1], (*self.undone, self.strokes[-1])

    def _redo(self) -> None:
        self.strokes, self.undone = (*self.strokes, self.undone[-1]), self.undone[:-1]

    def _toggle_eraser(self) -> None:
        self.erasing = not self.erasing

    def _set_brush(self, share: float) -> None:
        self.brush = share

    def _set_color(self, color: str) -> None:
        self.color, self.erasing = color, False

    def _set_background(self, color: str) -> None:
        self.background = color

    def _more(self) -> None:
        self.push(Menu([
            ("Save as", self._save),
            ("Change background", lambda: self.push(ColorPicker(self._set_background))),
            ("Clear", lambda: self.push(Confirm("Clear the canvas?", "", "Yes", self._clear, "No"))),
        ]))  # fmt: skip

    def _clear(self) -> None:
        self.strokes = self.undone = ()

    def _save(self) -> None:
        dialog = SaveImage(f"image_{self.local_now:%Y%m%d_%H%M%S}", self.format, self._choose_place)
        self.push(dialog)
        self.focus(dialog.name)

    def _choose_place(self, name: str, format: str) -> None:
        self.format, ending = format, f".{format.lower()}"
        self.push(SaveDocument(name.removesuffix(ending) + ending, self._write))

    def _write(self, path: str) -> None:
        self.phone.storage.write(path, encoded(self.strokes, self.background, self._size, self.format))
        self.notify("File saved successfully")


class ColorPicker(Dialog):
    """Asks for a colour."""

    def __init__(self, then: Callable[[str], None]) -> None:
        super().__init__("Select a color")
        self.then = then

    def content(self) -> Sequence[View]:
        """Shows the colours in a grid."""
        cells = [Column([self._cell(name, color)], align="center") for name, color in COLORS.items()]
        return [Grid(cells, 5, gap=12, pad=(16, 8, 16, 16))]

    def _cell(self, name: str, color: str) -> View:
        return View(
            "android.widget.ImageView", desc=name, on_tap=lambda: self._chosen(color), bg=color, width=40, height=40,
            radius=20, border=theme.OUTLINE,
        )  # fmt: skip

    def _chosen(self, color: str) -> None:
        self.pop()
        self.then(color)


class SaveImage(Dialog):
    """Asks for the name and format of the picture; `then` is called with both."""

    def __init__(self, name: str, format: str, then: Callable[[str, str], None]) -> None:
        super().__init__("Save as")
        self.name, self.format, self.then = TextInput(name, selected=True), format, then

    def content(self) -> Sequence[View]:
        """Shows a field for the name and a choice of formats."""
        rows = [Radio(format, format == self.format, partial(self._choose, format)) for format in FORMATS]
        return [Column([TextField(self.name, "Filename", "save_image_filename")], pad=(20, 4, 20, 8)), *rows]

    def _choose(self, format: str) -> None:
        self.format = format

    def buttons(self) -> Sequence[View]:
        """Offers to cancel or to go on."""
        return [self.button("Cancel"), self.button("OK", self._done)]

    def _done(self) -> None:
        name = self.name.text.strip()
        if name:
            self.then(name, self.format)
        else:
            self.notify("Filename cannot be empty")


APP = SimpleDraw
