"""The map that OsmAnd draws: the Rhine, roads and villages of Liechtenstein, and what the user put on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.apps.osmand.data import PLACES, Point
from coach_gym.envs.phone.toolkit.fonts import font, icon_mask, text_width

TILE = 256  # dp; the whole world at zoom 0
MAX_WIDTH = 540  # pixels of a drawing: sharp enough on the largest screens
RHINE = (
    (47.000, 9.505), (47.030, 9.478), (47.053, 9.474), (47.075, 9.486), (47.100, 9.506), (47.120, 9.511),
    (47.142, 9.506), (47.160, 9.493), (47.180, 9.485), (47.200, 9.488), (47.215, 9.494), (47.240, 9.507),
    (47.255, 9.522), (47.270, 9.530), (47.300, 9.560),
)  # fmt: skip
ROADS = (
    ("Balzers", "Triesen", "Vaduz", "Schaan", "Nendeln", "Schaanwald"), ("Schaan", "Bendern", "Gamprin", "Ruggell"),
    ("Triesen", "Triesenberg", "Steg", "Malbun"), ("Vaduz", "Rotenboden", "Triesenberg"),
    ("Nendeln", "Eschen", "Bendern"),
    ("Eschen", "Mauren", "Schaanwald"), ("Mauren", "Schellenberg", "Ruggell"), ("Schaan", "Planken", "Oberplanken"),
    ("Schellenberg", "Hinterschellenberg"), ("Rotenboden", "Schönberg"),
)  # fmt: skip
WOODS = (
    (47.035, 9.53), (47.09, 9.535), (47.10, 9.56), (47.14, 9.545), (47.17, 9.53), (47.20, 9.56), (47.21, 9.60),
    (47.14, 9.63), (47.05, 9.62),
)  # fmt: skip
LAND, WOOD, TOWN, WATER, ROAD, CASING = "#f5f1e6", "#d3e6bd", "#dedbd4", "#9cc8e8", "#ffffff", "#c9bfa8"
MARKS = {"favorite": ("star", "#f5a623"), "marker": ("flag", "#1a73e8"), "pin": ("map_marker", "#d93025")}


@dataclass(frozen=True)
class View:
    """Which part of the world is shown: the point in the middle, the zoom level, and the size in dp."""

    center: Point
    zoom: int
    width: float
    height: float

    def place(self, point: Point) -> tuple[float, float]:
        """Where a point lies, as 0…1 of width and height; outside of that if it is not in view."""
        x, y = _project(point, self.zoom)
        left, top = _project(self.center, self.zoom)
        return (x - left) / self.width + 0.5, (y - top) / self.height + 0.5

    def point(self, x: float, y: float) -> Point:
        """What lies at 0…1 of width and height."""
        left, top = _project(self.center, self.zoom)
        return _unproject(left + (x - 0.5) * self.width, top + (y - 0.5) * self.height, self.zoom)

    def moved(self, start: tuple[float, float], end: tuple[float, float]) -> View:
        """The view after a finger took the map from `start` to `end` (0…1)."""
        return replace(self, center=self.point(0.5 + start[0] - end[0], 0.5 + start[1] - end[1]))


def _project(point: Point, zoom: int) -> tuple[float, float]:
    """Web Mercator, in dp."""
    lat, lon = math.radians(point[0]), point[1]
    size = TILE * 2**zoom
    return (lon + 180) / 360 * size, (1 - math.asinh(math.tan(lat)) / math.pi) / 2 * size


def _unproject(x: float, y: float, zoom: int) -> Point:
    size = TILE * 2**zoom
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / size)))), x / size * 360 - 180


@lru_cache(maxsize=8)
def draw(view: View, marks: tuple[tuple[str, Point], ...] = (), line: tuple[Point, ...] = ()) -> np.ndarray:
    """The map as an H x W x 3 uint8 array.

    Args:
        view: what is shown.
        marks: kind (of `MARKS`) and place of each mark.
        line: points of a track that is drawn on top.
    """
    scale = min(MAX_WIDTH / view.width, 2.0)
    size = round(view.width * scale), round(view.height * scale)
    image = Image.new("RGB", size, LAND)
    canvas = _Canvas(image, view, scale)
    canvas.ground()
    canvas.villages()
    if line:
        canvas.line(line, "#7b1fa2", 4)
        for point in line:
            canvas.dot(point, 5, "#7b1fa2")
    for kind, point in marks:
        canvas.mark(point, *MARKS[kind])
    return np.asarray(image)


class _Canvas:
    """An image and where points lie on it. Lengths are in dp."""

    def __init__(self, image: Image.Image, view: View, scale: float) -> None:
        self.image, self.view, self.scale = image, view, scale
        self.pen = ImageDraw.Draw(image)

    def at(self, point: Point) -> tuple[float, float]:
        x, y = self.view.place(point)
        return x * self.image.width, y * self.image.height

    def ground(self) -> None:
        self.pen.polygon([self.at(point) for point in WOODS], WOOD)
        for point in PLACES.values():
            self.dot(point, self._meters(450), TOWN)
        self.line(RHINE, WATER, max(3.0, self._meters(110)))
        for road in ROADS:
            self.line(tuple(PLACES[name] for name in road), CASING, 5)
        for road in ROADS:
            self.line(tuple(PLACES[name] for name in road), ROAD, 3)

    def villages(self) -> None:
        size = max(8, round(12 * self.scale))
        for name, point in PLACES.items():
            (x, y), (letters, halo) = self.at(point), _label(name, size)
            left, top = round(x - halo.width / 2), round(y - 4 * self.scale - halo.height)
            if -halo.width < left < self.image.width and -halo.height < top < self.image.height:
                self.dot(point, 2.5, "#5f6368")
                self.image.paste("#ffffff", (left, top), halo)
                self.image.paste("#3c4043", (left, top), letters)

    def line(self, points: tuple[Point, ...], color: str, width: float) -> None:
        self.pen.line([self.at(point) for point in points], color, max(1, round(width * self.scale)), "curve")

    def dot(self, point: Point, radius: float, color: str) -> None:
        (x, y), r = self.at(point), radius * self.scale
        self.pen.ellipse((x - r, y - r, x + r, y + r), color)

    def mark(self, point: Point, icon: str, color: str) -> None:
        """An icon that stands on its point."""
        x, y = self.at(point)
        side = round(32 * self.scale)
        self.image.paste(color, (round(x - side / 2), round(y - 0.9 * side)), icon_mask(icon, side))

    def _meters(self, meters: float) -> float:
        """So many meters in dp."""
        around = 40_075_017 * math.cos(math.radians(self.view.center[0]))
        return meters / around * TILE * 2**self.view.zoom


@lru_cache(maxsize=128)
def _label(name: str, size: int) -> tuple[Image.Image, Image.Image]:
    """The coverage masks of a name and of the bright edge around it."""
    box = text_width(name, size) + 4, round(1.3 * size) + 4
    masks = Image.new("L", box), Image.new("L", box)
    for mask, edge in zip(masks, (0, 2), strict=True):
        at = box[0] / 2, box[1] / 2
        ImageDraw.Draw(mask).text(at, name, 255, font(size), "mm", stroke_width=edge)
    return masks
