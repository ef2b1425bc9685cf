"""OsmAnd's map: the Rhine, roads and villages of Liechtenstein, and what the user puts on it (Web Mercator)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from coach_gym.envs.apps.osmand.data import PLACES, Point
from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.toolkit.map_canvas import MapCanvas, name_masks

TILE = 256  # dp; the whole world at zoom 0
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
ORANGE = "#ff8800"  # OsmAnd's own colour
LAND, WOOD, TOWN, WATER, ROAD, CASING = "#f5f1e6", "#d3e6bd", "#dedbd4", "#9cc8e8", "#ffffff", "#c9bfa8"
TRACK = "#7b1fa2"
MARKS = {"favorite": ("star", "#f5a623"), "marker": ("flag", "#1a73e8"), "pin": ("map_marker", "#d93025")}


@dataclass(frozen=True)
class View:
    """The part of the world that is shown.

    Attributes:
        center: The point in the middle.
        zoom: The level; at 0 the whole world is `TILE` wide.
        width: In dp.
        height: In dp.
    """

    center: Point
    zoom: int
    width: float
    height: float

    def place(self, point: Point) -> tuple[float, float]:
        """Returns where a point lies, as 0…1 of width and height; outside of that if it is not in view."""
        x, y = _project(point, self.zoom)
        left, top = _project(self.center, self.zoom)
        return (x - left) / self.width + 0.5, (y - top) / self.height + 0.5

    def point(self, x: float, y: float) -> Point:
        """Returns the point at 0…1 of width and height."""
        left, top = _project(self.center, self.zoom)
        return _unproject(left + (x - 0.5) * self.width, top + (y - 0.5) * self.height, self.zoom)

    def moved(self, start: tuple[float, float], end: tuple[float, float]) -> View:
        """Returns the view after a finger took the map from `start` to `end` (0…1)."""
        return replace(self, center=self.point(0.5 + start[0] - end[0], 0.5 + start[1] - end[1]))

    def meters(self, meters: float) -> float:
        """Returns a length on the ground in dp, true in the middle of the view."""
        around = 40_075_017 * math.cos(math.radians(self.center[0]))
        return meters / around * TILE * 2**self.zoom


def _project(point: Point, zoom: int) -> tuple[float, float]:
    """Web Mercator, in dp."""
    lat, lon = math.radians(point[0]), point[1]
    size = TILE * 2**zoom
    return (lon + 180) / 360 * size, (1 - math.asinh(math.tan(lat)) / math.pi) / 2 * size


def _unproject(x: float, y: float, zoom: int) -> Point:
    size = TILE * 2**zoom
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y / size)))), x / size * 360 - 180


@cached(8)
def draw(view: View, marks: tuple[tuple[str, Point], ...] = (), line: tuple[Point, ...] = ()) -> np.ndarray:
    """Draws the map: H x W x 3 uint8.

    Args:
        view: What is shown.
        marks: Kind (of `MARKS`) and place of each mark.
        line: Points of a track that is drawn on top.
    """
    canvas = MapCanvas(view, 2.0, LAND)
    _ground(canvas, view)
    _villages(canvas)
    if line:
        canvas.line(line, TRACK, 4)
        for point in line:
            canvas.dot(point, 5, TRACK)
    for kind, point in marks:
        canvas.icon(point, *MARKS[kind], 32, 0.9)
    return canvas.pixels


def _ground(canvas: MapCanvas, view: View) -> None:
    canvas.area(WOODS, WOOD)
    for point in PLACES.values():
        canvas.dot(point, view.meters(450), TOWN)
    canvas.line(RHINE, WATER, max(3.0, view.meters(110)))
    for color, width in ((CASING, 5), (ROAD, 3)):
        for road in ROADS:
            canvas.line([PLACES[name] for name in road], color, width)


def _villages(canvas: MapCanvas) -> None:
    size = canvas.font_size(12)
    for name, point in PLACES.items():
        x, y = canvas.at(point)
        masks = name_masks(name, size, 2, 4, round(1.3 * size) + 4)
        width, height = masks[0].size
        left, top = round(x - width / 2), round(y - 4 * canvas.scale - height)
        if -width < left < canvas.image.width and -height < top < canvas.image.height:
            canvas.dot(point, 2.5, "#5f6368")
            canvas.name(left, top, masks, "#3c4043")
