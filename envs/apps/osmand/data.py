"""What OsmAnd knows and stores: places of Liechtenstein, favourites and tracks as GPX files, markers in a database."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Protocol
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from coach_gym.envs.phone.epoch import to_millis

PACKAGE = "net.osmand"
FILES = f"/storage/emulated/0/Android/data/{PACKAGE}/files"
FAVORITES = f"{FILES}/favorites/favorites.gpx"
TRACKS = f"{FILES}/tracks"
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


class Files(Protocol):
    """A phone's files: its storage, or a device."""

    def read(self, path: str) -> bytes | None: ...

    def write(self, path: str, data: bytes) -> None: ...


@dataclass(frozen=True)
class Place:
    """A point with a name."""

    name: str
    point: Point


def coordinates(text: str) -> Point | None:
    """The point that a text such as `47.1, 9.5` gives; None if it gives none."""
    found = _COORDINATES.fullmatch(text.strip())
    if found is None:
        return None
    lat, lon = float(found[1]), float(found[2])
    return (lat, lon) if abs(lat) <= 85 and abs(lon) <= 180 else None


_COORDINATES = re.compile(r"(-?\d{1,3}(?:\.\d{1,15})?)°?[,;\s]\s*(-?\d{1,3}(?:\.\d{1,15})?)°?")


def point_text(point: Point) -> str:
    """Latitude and longitude to about a meter."""
    return f"{point[0]:.5f}, {point[1]:.5f}"


def search(words: str) -> list[Place]:
    """The places, or the point, that somebody may mean."""
    point = coordinates(words)
    if point is not None:
        return [Place(point_text(point), point)]
    wanted = words.casefold().replace(",", " ").split()
    return [Place(name, at) for name, at in PLACES.items() if all(w in f"{name} {COUNTRY}".casefold() for w in wanted)]


def distance(a: Point, b: Point) -> float:
    """Meters from one point to another, along a great circle."""
    (lat_a, lon_a), (lat_b, lon_b) = (tuple(map(math.radians, point)) for point in (a, b))
    half = math.sin((lat_b - lat_a) / 2) ** 2
    half += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(half))


def length(points: list[Point]) -> float:
    """Meters along a line through points."""
    return sum(distance(a, b) for a, b in zip(points, points[1:], strict=False))


def distance_text(meters: float) -> str:
    """A distance as the map's users read it, such as 850 m or 3.2 km."""
    return f"{meters:.0f} m" if meters < 1000 else f"{meters / 1000:.1f} km"


# favourites and tracks: GPX files

_GPX = "{http://www.topografix.com/GPX/1/1}"
_HEAD = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
    '<gpx version="1.1" creator="OsmAnd 4.4.7" xmlns="http://www.topografix.com/GPX/1/1"'
    ' xmlns:osmand="https://osmand.net">\n'
)


def favorites(files: Files) -> list[Place]:
    """The saved places, in the order in which they were saved."""
    return list(_points(files.read(FAVORITES) or b"", "/wpt"))


def save_favorites(files: Files, places: Iterable[Place]) -> None:
    """Writes all saved places."""
    points = "".join(f"  <wpt {_at(place.point)}><name>{escape(place.name)}</name></wpt>\n" for place in places)
    head = f"{_HEAD}  <metadata><name>favorites</name></metadata>\n"
    files.write(FAVORITES, f"{head}{points}</gpx>\n".encode())


def save_track(files: Files, path: str, points: Iterable[Point]) -> None:
    """Writes a line through points as a track."""
    name = escape(path.rpartition("/")[2].removesuffix(".gpx"))
    line = "".join(f"    <trkpt {_at(point)}/>\n" for point in points)
    track = f"  <trk><name>{name}</name><trkseg>\n{line}  </trkseg></trk>\n"
    files.write(path, f"{_HEAD}  <metadata><name>{name}</name></metadata>\n{track}</gpx>\n".encode())


def track(files: Files, path: str) -> list[Point]:
    """The points of a track, in order; none if the file is no track."""
    return [place.point for place in _points(files.read(path) or b"", "/trk/trkseg/trkpt")]


def _at(point: Point) -> str:
    return f'lat="{point[0]:.7f}" lon="{point[1]:.7f}"'


@lru_cache(maxsize=16)
def _points(gpx: bytes, path: str) -> tuple[Place, ...]:
    """The elements of a GPX file at a path; none if it is no such file: files come from outside, too."""
    try:
        found = ElementTree.fromstring(gpx).iterfind(path.replace("/", f"/{_GPX}").replace("/", "", 1))
        return tuple(
            Place(p.findtext(f"{_GPX}name") or "", (float(p.attrib["lat"]), float(p.attrib["lon"]))) for p in found
        )
    except (ElementTree.ParseError, KeyError, ValueError):
        return ()


# markers


@dataclass(frozen=True)
class Marker:
    """A flag on the map; it stays in the list when it was passed."""

    id: str
    place: Place
    passed: bool


def markers(db: sqlite3.Connection) -> list[Marker]:
    """All markers, the latest first."""
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
