"""What pictures of maps are drawn with: areas, lines, dots, icons and names at points of the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.toolkit.fonts import font, icon_mask, text_width

MAX_WIDTH = 540  # pixels of a picture: sharp enough on the largest screens
Point = tuple[float, float]
"""Latitude and longitude in degrees."""
Pixel = tuple[float, float]


class MapView(Protocol):
    """The part of the world that a picture shows; its size is in dp."""

    @property
    def width(self) -> float:
        """From left to right."""

    @property
    def height(self) -> float:
        """From top to bottom."""

    def place(self, point: Point) -> tuple[float, float]:
        """Returns where a point lies, as 0…1 of width and height."""


class MapCanvas:
    """A picture of a part of the world. Lengths are in dp.

    Args:
        view: What is shown.
        density: Pixels per dp of the screen; the picture has fewer if it would be wider than `MAX_WIDTH`.
        color: The ground.
    """

    def __init__(self, view: MapView, density: float, color: str) -> None:
        self.view, self.scale = view, min(MAX_WIDTH / view.width, density)
        self.image = Image.new("RGB", (round(view.width * self.scale), round(view.height * self.scale)), color)
        self._pen = ImageDraw.Draw(self.image)

    @property
    def pixels(self) -> np.ndarray:
        """The picture as H x W x 3 uint8."""
        return np.asarray(self.image)

    def at(self, point: Point) -> Pixel:
        """Returns where a point lies on the picture."""
        x, y = self.view.place(point)
        return x * self.image.width, y * self.image.height

    def area(self, points: Sequence[Point], color: str) -> None:
        """Fills a polygon."""
        self._pen.polygon([self.at(point) for point in points], color)

    def line(self, points: Sequence[Point], color: str, width: float) -> None:
        """Draws a line with round corners."""
        self._pen.line([self.at(point) for point in points], color, max(1, round(width * self.scale)), "curve")

    def dot(self, point: Point, radius: float, color: str) -> None:
        """Draws a disc."""
        (x, y), r = self.at(point), radius * self.scale
        self._pen.ellipse((x - r, y - r, x + r, y + r), color)

    def icon(self, point: Point, name: str, color: str, side: float, foot: float) -> None:
        """Draws an icon that stands on its point with its foot, a share of its side below its top."""
        (x, y), pixels = self.at(point), round(side * self.scale)
        self.image.paste(color, (round(x - pixels / 2), round(y - foot * pixels)), icon_mask(name, pixels))

    def font_size(self, size: float) -> int:
        """Returns a size of texts in pixels."""
        return max(8, round(size * self.scale))

    def name(self, left: int, top: int, masks: Masks, color: str) -> None:
        """Writes a name with a white edge around it, its upper left corner at a pixel."""
        letters, edge = masks
        self.image.paste("#ffffff", (left, top), edge)
        self.image.paste(color, (left, top), letters)


Masks = tuple[Image.Image, Image.Image]
"""The coverage of a name's letters, and of the edge around them."""


@cached(4)
def name_masks(name: str, size: int, edge: int, width: int, height: int) -> Masks:
    """Draws a name of a size in the middle of a box, all in pixels.

    Args:
        name: The text.
        size: Of its letters.
        edge: Width of the edge around them.
        width: Of the box, beyond the text's own.
        height: Of the box.
    """
    box = text_width(name, size) + width, height
    masks = Image.new("L", box), Image.new("L", box)
    for mask, stroke in zip(masks, (0, edge), strict=True):
        ImageDraw.Draw(mask).text((box[0] / 2, box[1] / 2), name, 255, font(size), "mm", stroke_width=stroke)
    return masks
