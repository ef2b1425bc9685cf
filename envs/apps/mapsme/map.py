"""The picture of a map: water, parks, roads, the names of places, and pins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.apps.mapsme.data import Point, World
from coach_gym.envs.phone.toolkit.fonts import font, icon_mask, text_width

KM_A_DEGREE = 111.2
MAX_WIDTH = 540  # pixels of a picture: sharp enough on the largest screens
LAND, ROAD, MOTORWAY, CASING = "#f4f1ea", "#ffffff", "#ffd180", "#cfc8b8"
AREAS = {"water": "#a9d3f0", "park": "#cfe8bf"}
ROUTE = "#1e88e5"
PINS = {"here": ("circle", "#1e88e5"), "place": ("map_marker", "#d93025")}
LABELS_FROM = 22  # dp a kilometre; on smaller scales only pins and roads are drawn


@dataclass(frozen=True)
class View:
    """Which part of the world is shown: the point in the middle, dp a kilometre, and the size in dp."""

    center: Point
    scale: float
    width: float
    height: float

    def place(self, point: Point) -> tuple[float, float]:
        """Where a point lies, as 0…1 of width and height; outside of that if it is not in view."""
        north, east = point[0] - self.center[0], (point[1] - self.center[1]) * math.cos(math.radians(self.center[0]))
        share = KM_A_DEGREE * self.scale
        return 0.5 + east * share / self.width, 0.5 - north * share / self.height

    def moved(self, start: tuple[float, float], end: tuple[float, float]) -> View:
        """The view after a finger took the map from `start` to `end` (0…1)."""
        share = KM_A_DEGREE * self.scale
        north = (end[1] - start[1]) * self.height / share
        east = (start[0] - end[0]) * self.width / share / math.cos(math.radians(self.center[0]))
        return replace(self, center=(self.center[0] + north, self.center[1] + east))


def around(points: Sequence[Point], width: float, height: float) -> View:
    """The view that shows all points, with a margin."""
    lats, lons = [point[0] for point in points], [point[1] for point in points]
    center = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    tall = (max(lats) - min(lats)) * KM_A_DEGREE
    wide = (max(lons) - min(lons)) * KM_A_DEGREE * math.cos(math.radians(center[0]))
    scale = min(0.7 * width / max(wide, 0.5), 0.7 * height / max(tall, 0.5))
    return View(center, min(scale, 300.0), width, height)


@lru_cache(maxsize=8)
def draw(
    world: World,
    view: View,
    pins: tuple[tuple[str, Point], ...] = (),
    line: tuple[Point, ...] = (),
    density: float = 1.5,
) -> np.ndarray:
    """The map as an H x W x 3 uint8 array.

    Args:
        world: the map.
        view: what is shown of it.
        pins: kind (of `PINS`) and place of each pin.
        line: points of a route that is drawn on top.
        density: pixels per dp of the screen.
    """
    factor = min(MAX_WIDTH / view.width, density)
    image = Image.new("RGB", (round(view.width * factor), round(view.height * factor)), LAND)
    canvas = _Canvas(image, view, factor)
    canvas.ground(world)
    if len(line) > 1:
        canvas.line(line, ROUTE, 6)
    if view.scale >= LABELS_FROM:
        canvas.names(world)
    for kind, point in pins:
        canvas.pin(point, *PINS[kind])
    return np.asarray(image)


class _Canvas:
    """An image and where points lie on it. Lengths are in dp."""

    def __init__(self, image: Image.Image, view: View, factor: float) -> None:
        self.image, self.view, self.factor = image, view, factor
        self.pen = ImageDraw.Draw(image)

    def at(self, point: Point) -> tuple[float, float]:
        """Where a point lies on the image, in pixels."""
        x, y = self.view.place(point)
        return x * self.image.width, y * self.image.height

    def ground(self, world: World) -> None:
        """Water, parks and roads; motorways above the others."""
        for area in world.areas:
            self.pen.polygon([self.at(point) for point in area.points], AREAS[area.kind])
        points = {place.id: place.point for place in world.places}
        for width, motorway, color in ((5, False, CASING), (6, True, CASING), (3, False, ROAD), (4, True, MOTORWAY)):
            for road in world.roads:
                if (road.kmh > 85) == motorway:
                    self.line((points[road.a], points[road.b]), color, width)

    def names(self, world: World) -> None:
        """The names of places, as far as none covers another."""
        size = max(8, round(11 * self.factor))
        taken: list[tuple[float, float, float, float]] = []
        for place in world.places:
            x, y = self.at(place.point)
            box = _box(place.name, size, x, y + 5 * self.factor)
            inside = 0 <= x < self.image.width and 0 <= y < self.image.height
            if not place.name or not inside or any(_overlap(box, other) for other in taken):
                continue
            taken.append(box)
            self.dot(place.point, 3, "#8d6e63")
            self._write(place.name, size, box)

    def _write(self, name: str, size: int, box: tuple[float, float, float, float]) -> None:
        letters, edge = _label(name, size)
        at = round((box[0] + box[2] - edge.width) / 2), round((box[1] + box[3] - edge.height) / 2)
        self.image.paste("#ffffff", at, edge)
        self.image.paste("#4e4640", at, letters)

    def line(self, points: Sequence[Point], color: str, width: float) -> None:
        self.pen.line([self.at(point) for point in points], color, max(1, round(width * self.factor)), "curve")

    def dot(self, point: Point, radius: float, color: str) -> None:
        (x, y), r = self.at(point), radius * self.factor
        self.pen.ellipse((x - r, y - r, x + r, y + r), color)

    def pin(self, point: Point, icon: str, color: str) -> None:
        """A disc for the phone, else an icon that stands on its point."""
        x, y = self.at(point)
        if icon == "circle":
            self.dot(point, 9, "#ffffff")
            self.dot(point, 7, color)
            return
        side = round(36 * self.factor)
        self.image.paste(color, (round(x - side / 2), round(y - 0.92 * side)), icon_mask(icon, side))


@lru_cache(maxsize=256)
def _label(name: str, size: int) -> tuple[Image.Image, Image.Image]:
    """The masks of a name and of the bright edge around it."""
    box = text_width(name, size) + 6, round(1.4 * size) + 4
    masks = Image.new("L", box), Image.new("L", box)
    for mask, edge in zip(masks, (0, max(1, size // 8)), strict=True):
        ImageDraw.Draw(mask).text((box[0] / 2, box[1] / 2), name, 255, font(size), "mm", stroke_width=edge)
    return masks


def _box(name: str, size: int, x: float, top: float) -> tuple[float, float, float, float]:
    half = text_width(name, size) / 2
    return x - half - 2, top, x + half + 2, top + 1.4 * size


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
