"""What OsmAnd knows and stores: the places of Liechtenstein, and the user's markers in a database."""

from __future__ import annotations

import math
import re
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from coach_gym.envs.phone.epoch import to_millis

PACKAGE = "net.osmand"
MARKERS = f"/data/data/{PACKAGE}/databases/map_markers_db"
SCHEMA = """
CREATE TABLE map_markers (
    marker_id TEXT PRIMARY KEY, marker_lat DOUBLE, marker_lon DOUBLE, marker_description TEXT, marker_active INT,
    marker_added LONG, marker_visited LONG, group_name TEXT, group_key TEXT, marker_color INT, marker_next_key TEXT,
    marker_disabled INT, marker_selected INT, marker_map_object_name TEXT, title TEXT);
"""
COUNTRY = "Liechtenstein"
EARTH = 6_371_000  # radius in meters

Point = tuple[float, float]
"""Latitude and longitude in degrees."""

PLACES: dict[str, Point] = {
    "Balzers": (47.0688832, 9.5061564), "Bendern": (47.2122151, 9.5062101), "Eschen": (47.2112700, 9.5220280),
    "Gamprin": (47.2203890, 9.5091940), "Hinterschellenberg": (47.2375000, 9.5583000),
    "Malbun": (47.1026191, 9.6083057), "Mauren": (47.2178090, 9.5441660), "Nendeln": (47.1973857, 9.5430636),
    "Oberplanken": (47.1784977, 9.5450163), "Planken": (47.1858882, 9.5452201), "Rotenboden": (47.1275785, 9.5387131),
    "Ruggell": (47.2397600, 9.5262837), "Schaan": (47.1663432, 9.5103085), "Schaanwald": (47.2165476, 9.5699984),
    "Schellenberg": (47.2301660, 9.5467220), "Schönberg": (47.1303814, 9.5930117), "Steg": (47.1130560, 9.5755560),
    "Triesen": (47.1069970, 9.5274854), "Triesenberg": (47.1180000, 9.5419700), "Vaduz": (47.1392862, 9.5227962),
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A point with a name."""

    name: str
    point: Point


def coordinates(text: str) -> Point | None:
    """Returns the point that a text such as `47.1, 9.5` gives; None if it gives none."""
    found = _COORDINATES.fullmatch(text.strip())
    if found is None:
        return None
    point = float(found[1]), float(found[2])
    return point if on_map(point) else None


_COORDINATES = re.compile(r"(-?\d{1,3}(?:\.\d{1,15})?)°?[,;\s]\s*(-?\d{1,3}(?:\.\d{1,15})?)°?")


def on_map(point: Point) -> bool:
    """Returns whether a map in Mercator's projection can show a point; false for `nan`."""
    return abs(point[0]) <= 85 and abs(point[1]) <= 180


def point_text(point: Point) -> str:
    """Returns latitude and longitude as text, to about a meter."""
    return f"{point[0]:.5f}, {point[1]:.5f}"


def search(words: str) -> list[Place]:
    """Returns the places, or the point, that search words may mean."""
    point = coordinates(words)
    if point is not None:
        return [Place(point_text(point), point)]
    wanted = words.casefold().replace(",", " ").split()
    return [Place(name, at) for name, at in PLACES.items() if all(w in f"{name} {COUNTRY}".casefold() for w in wanted)]


def distance(a: Point, b: Point) -> float:
    """Returns the meters between two points along a great circle (haversine formula)."""
    (lat_a, lon_a), (lat_b, lon_b) = (tuple(map(math.radians, point)) for point in (a, b))
    half = math.sin((lat_b - lat_a) / 2) ** 2
    half += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(half))


def length(points: list[Point]) -> float:
    """Returns the length of a line through points in meters."""
    return sum(distance(a, b) for a, b in zip(points, points[1:], strict=False))


def distance_text(meters: float) -> str:
    """Returns a distance as text, such as `850 m` or `3.2 km`."""
    return f"{meters:.0f} m" if meters < 1000 else f"{meters / 1000:.1f} km"


# markers


@dataclass(frozen=True)
class Marker:
    """A flag on the map; once passed, it stays in the list."""

    id: str
    place: Place
    passed: bool


def markers(db: sqlite3.Connection) -> list[Marker]:
    """Returns all markers, the latest first."""
    rows = db.execute(
        "SELECT marker_id, marker_description, marker_lat, marker_lon, marker_active FROM map_markers"
        " ORDER BY marker_added DESC, rowid DESC"
    )
    return [
        Marker(id, Place((text or "").rpartition("#")[2] or point_text((lat, lon)), (lat, lon)), not active)
        for id, text, lat, lon, active in rows
    ]


def add_marker(db: sqlite3.Connection, place: Place, now: datetime) -> None:
    """Puts a flag at a place."""
    at = to_millis(now)
    taken = db.execute("SELECT count(*) FROM map_markers WHERE marker_added = ?", (at,)).fetchone()[0]
    db.execute(
        "INSERT INTO map_markers VALUES (?, ?, ?, ?, 1, ?, 0, '', '', 0, '', 0, 0, ?, '')",
        (f"{at}{taken:03d}", *place.point, f"location#{place.name}", at, place.name),
    )


def pass_marker(db: sqlite3.Connection, marker: Marker, now: datetime) -> None:
    """Moves a marker to the history, or back."""
    visited = 0 if marker.passed else to_millis(now)
    db.execute(
        "UPDATE map_markers SET marker_active = ?, marker_visited = ? WHERE marker_id = ?",
        (int(marker.passed), visited, marker.id),
    )


def delete_marker(db: sqlite3.Connection, id: str) -> None:
    """Removes a marker."""
    db.execute("DELETE FROM map_markers WHERE marker_id = ?", (id,))
