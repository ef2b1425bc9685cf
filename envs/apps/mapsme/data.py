"""MAPS.ME's data: the downloaded map (places, roads, lines of public transport, water), and what the user keeps."""

from __future__ import annotations

import json
import sqlite3
from typing import NamedTuple

PACKAGE = "com.mapswithme.maps.pro"
DATABASE = f"/data/data/{PACKAGE}/databases/maps.db"
SCHEMA = """
CREATE TABLE places (
    id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, address TEXT NOT NULL, lat REAL NOT NULL,
    lon REAL NOT NULL
);
CREATE TABLE roads (a INTEGER NOT NULL, b INTEGER NOT NULL, km REAL NOT NULL, kmh REAL NOT NULL);
CREATE TABLE lines (name TEXT NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, minutes REAL NOT NULL);
CREATE TABLE areas (kind TEXT NOT NULL, points TEXT NOT NULL);
CREATE TABLE here (place INTEGER NOT NULL);
CREATE TABLE my_places (role TEXT PRIMARY KEY NOT NULL, place INTEGER NOT NULL);
CREATE TABLE bookmarks (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, place INTEGER UNIQUE NOT NULL);
CREATE TABLE journeys (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, start INTEGER NOT NULL, target INTEGER NOT NULL, mode TEXT NOT NULL,
    at INTEGER NOT NULL
);
"""
ROLES = ("Home", "Work")  # of "My places"
HERE = "My location"
Point = tuple[float, float]
"""Latitude and longitude in degrees."""


class Place(NamedTuple):
    """A place on the map; one without a name is a crossing."""

    id: int
    name: str
    kind: str
    address: str
    lat: float
    lon: float

    @property
    def point(self) -> Point:
        """Its coordinates."""
        return self.lat, self.lon


class Road(NamedTuple):
    """A road between places `a` and `b` (ids), open both ways, of `km` length; cars go `kmh` fast."""

    a: int
    b: int
    km: float
    kmh: float


class Line(NamedTuple):
    """A stretch of a line of public transport between stops `a` and `b` (ids), in both directions."""

    name: str
    a: int
    b: int
    minutes: float


class Area(NamedTuple):
    """A polygon of the kind `water` or `park`."""

    kind: str
    points: tuple[Point, ...]


class World(NamedTuple):
    """A whole map.

    Attributes:
        places: Named places and crossings.
        roads: What connects them.
        lines: Public transport.
        areas: Water and parks.
        here: Id of the place where the phone is; None without a map.
    """

    places: tuple[Place, ...]
    roads: tuple[Road, ...]
    lines: tuple[Line, ...]
    areas: tuple[Area, ...]
    here: int | None

    def place(self, id: int) -> Place | None:
        """Returns the place of an id; None if it is not on this map."""
        return next((place for place in self.places if place.id == id), None)


def read(db: sqlite3.Connection) -> World:
    """Returns the map that is on the phone."""
    here = db.execute("SELECT place FROM here").fetchone()
    return World(
        tuple(Place(*row) for row in db.execute("SELECT id, name, kind, address, lat, lon FROM places ORDER BY id")),
        tuple(Road(*row) for row in db.execute("SELECT a, b, km, kmh FROM roads ORDER BY rowid")),
        tuple(Line(*row) for row in db.execute("SELECT name, a, b, minutes FROM lines ORDER BY rowid")),
        tuple(
            Area(kind, tuple((lat, lon) for lat, lon in json.loads(points)))
            for kind, points in db.execute("SELECT kind, points FROM areas ORDER BY rowid")
        ),
        None if here is None else here[0],
    )


def write(db: sqlite3.Connection, world: World) -> None:
    """Puts a map on the phone in place of the one before; what the user keeps is forgotten."""
    for table in ("places", "roads", "lines", "areas", "here", "my_places", "bookmarks", "journeys"):
        db.execute(f"DELETE FROM {table}")
    db.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?)", world.places)
    db.executemany("INSERT INTO roads VALUES (?, ?, ?, ?)", world.roads)
    db.executemany("INSERT INTO lines VALUES (?, ?, ?, ?)", world.lines)
    db.executemany("INSERT INTO areas VALUES (?, ?)", [(kind, json.dumps(points)) for kind, points in world.areas])
    if world.here is not None:
        db.execute("INSERT INTO here VALUES (?)", (world.here,))


# what the user keeps


def my_places(db: sqlite3.Connection) -> dict[str, int]:
    """Returns the ids of the places that are set, by role."""
    return dict(db.execute("SELECT role, place FROM my_places"))


def set_my_place(db: sqlite3.Connection, role: str, place: int | None) -> None:
    """Sets a role's place; None clears it."""
    db.execute("DELETE FROM my_places WHERE role = ?", (role,))
    if place is not None:
        db.execute("INSERT INTO my_places VALUES (?, ?)", (role, place))


def bookmarks(db: sqlite3.Connection) -> list[int]:
    """Returns the ids of the saved places, the last one first."""
    return [place for (place,) in db.execute("SELECT place FROM bookmarks ORDER BY id DESC")]


def toggle_bookmark(db: sqlite3.Connection, place: int) -> None:
    """Saves a place, or forgets it."""
    if not db.execute("DELETE FROM bookmarks WHERE place = ?", (place,)).rowcount:
        db.execute("INSERT INTO bookmarks(place) VALUES (?)", (place,))


# texts


def distance_text(km: float) -> str:
    """Returns how far away a place is, as lists show it: `280 m`, `50.6 km`."""
    return f"{round(1000 * km, -1):.0f} m" if km < 1 else f"{km:.1f} km"


def length_text(km: float) -> str:
    """Returns the length of a route as text: `280 m`, `7.0 km`, `73 km`."""
    return distance_text(km) if km < 10 else f"{km:.0f} km"


def time_text(minutes: float) -> str:
    """Returns the time that a route takes as text: `8 min`, `4 hr 7 min`."""
    hours, rest = divmod(max(1, round(minutes)), 60)
    return f"{hours} hr {rest} min" if hours else f"{rest} min"
