"""Draws maps: water, parks, roads, the names of places, and pins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coach_gym.envs.apps.mapsme.data import Point, World
from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.toolkit.fonts import text_width
from coach_gym.envs.phone.toolkit.map_canvas import MapCanvas, name_masks

KM_A_DEGREE = 111.2
LAND, ROAD, MOTORWAY, CASING = "#f4f1ea", "#ffffff", "#ffd180", "#cfc8b8"
AREAS = {"water": "#a9d3f0", "park": "#cfe8bf"}
ROUTE = "#1e88e5"
PINS = {"here": ("circle", "#1e88e5"), "place": ("map_marker", "#d93025")}
LABELS_FROM = 22  # dp per kilometre; on smaller scales only pins and roads are drawn


@dataclass(frozen=True)
class View:
    """The part of the world that is shown.

    Attributes:
        center: The point in the middle.
        scale: dp per kilometre.
        width: In dp.
        height: In dp.
    """

    center: Point
    scale: float
    width: float
    height: float

    def place(self, point: Point) -> tuple[float, float]:
        """Returns where a point lies, as 0…1 of width and height; outside of that if it is not in view."""
        north, east = point[0] - self.center[0], (point[1] - self.center[1]) * math.cos(math.radians(self.center[0]))
        share = KM_A_DEGREE * self.scale
        return 0.5 + east * share / self.width, 0.5 - north * share / self.height

    def moved(self, start: tuple[float, float], end: tuple[float, float]) -> View:
        """Returns the view after a finger took the map from `start` to `end` (0…1)."""
        share = KM_A_DEGREE * self.scale
        north = (end[1] - start[1]) * self.height / share
        east = (start[0] - end[0]) * self.width / share / math.cos(math.radians(self.center[0]))
        return replace(self, center=(self.center[0] + north, self.center[1] + east))


def around(points: Sequence[Point], width: float, height: float) -> View:
    """Returns the view of a size in dp that shows all points, with a margin."""
    lats, lons = [point[0] for point in points], [point[1] for point in points]
    center = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    tall = (max(lats) - min(lats)) * KM_A_DEGREE
    wide = (max(lons) - min(lons)) * KM_A_DEGREE * math.cos(math.radians(center[0]))
    scale = min(0.7 * width / max(wide, 0.5), 0.7 * height / max(tall, 0.5))
    return View(center, min(scale, 300.0), width, height)


@cached(8)
def draw(
    world: World,
    view: View,
    pins: tuple[tuple[str, Point], ...] = (),
    line: tuple[Point, ...] = (),
    density: float = 1.5,
) -> np.ndarray:
    """Draws the map: H x W x 3 uint8.

    Args:
        world: The map.
        view: What is shown of it.
        pins: Kind (of `PINS`) and place of each pin.
        line: Points of a route that is drawn on top.
        density: Pixels per dp of the screen.
    """
    canvas = MapCanvas(view, density, LAND)
    _ground(canvas, world)
    if len(line) > 1:
        canvas.line(line, ROUTE, 6)
    if view.scale >= LABELS_FROM:
        _names(canvas, world)
    for kind, point in pins:
        _pin(canvas, point, *PINS[kind])
    return canvas.pixels


def _ground(canvas: MapCanvas, world: World) -> None:
    """Water, parks and roads; motorways above the others."""
    for area in world.areas:
        canvas.area(area.points, AREAS[area.kind])
    points = {place.id: place.point for place in world.places}
    for width, motorway, color in ((5, False, CASING), (6, True, CASING), (3, False, ROAD), (4, True, MOTORWAY)):
        for road in world.roads:
            if (road.kmh > 85) == motorway:
                canvas.line((points[road.a], points[road.b]), color, width)


def _names(canvas: MapCanvas, world: World) -> None:
    """The names of places, leaving out those that would cover another."""
    size = canvas.font_size(11)
    taken: list[Box] = []
    for place in world.places:
        x, y = canvas.at(place.point)
        box = _box(place.name, size, x, y + 5 * canvas.scale)
        inside = 0 <= x < canvas.image.width and 0 <= y < canvas.image.height
        if not place.name or not inside or any(_overlap(box, other) for other in taken):
            continue
        taken.append(box)
        canvas.dot(place.point, 3, "#8d6e63")
        masks = name_masks(place.name, size, max(1, size // 8), 6, round(1.4 * size) + 4)
        left, top = (box[0] + box[2] - masks[0].width) / 2, (box[1] + box[3] - masks[0].height) / 2
        canvas.name(round(left), round(top), masks, "#4e4640")


def _pin(canvas: MapCanvas, point: Point, icon: str, color: str) -> None:
    """A disc for the phone, else an icon that stands on its point."""
    if icon == "circle":
        canvas.dot(point, 9, "#ffffff")
        canvas.dot(point, 7, color)
    else:
        canvas.icon(point, icon, color, 36, 0.92)


Box = tuple[float, float, float, float]


def _box(name: str, size: int, x: float, top: float) -> Box:
    half = text_width(name, size) / 2
    return x - half - 2, top, x + half + 2, top + 1.4 * size


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
