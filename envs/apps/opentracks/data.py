"""OpenTracks' activities, and its formats for distances, times and speeds."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from coach_gym.envs.phone.epoch import from_seconds, to_millis
from coach_gym.envs.phone.records import Table

PACKAGE = "de.dennisguse.opentracks"
DATABASE = f"/data/data/{PACKAGE}/databases/database.db"
SCHEMA = """
CREATE TABLE tracks (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, description TEXT, category TEXT, starttime INTEGER,
    stoptime INTEGER, numpoints INTEGER, totaldistance FLOAT, totaltime INTEGER, movingtime INTEGER, avgspeed FLOAT,
    avgmovingspeed FLOAT, maxspeed FLOAT, minelevation FLOAT, maxelevation FLOAT, elevationgain FLOAT, icon TEXT,
    uuid BLOB, elevationloss FLOAT, starttime_offset INTEGER, activity_type TEXT);
CREATE TABLE trackpoints (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, trackid INTEGER NOT NULL REFERENCES tracks(_id) ON DELETE CASCADE,
    longitude INTEGER, latitude INTEGER, time INTEGER, elevation FLOAT, accuracy FLOAT, speed FLOAT, bearing FLOAT);
CREATE TABLE markers (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, description TEXT, category TEXT, icon TEXT,
    trackid INTEGER NOT NULL REFERENCES tracks(_id) ON DELETE CASCADE, length FLOAT, duration INTEGER,
    longitude INTEGER, latitude INTEGER, time INTEGER, elevation FLOAT, accuracy FLOAT, bearing FLOAT, photoUrl TEXT);
"""
TABLE = Table("tracks", "_id")
CATEGORIES = {  # and their icons
    "biking": "bike", "climbing": "carabiner", "cycling": "bike", "hiking": "hiking", "inline skating": "rollerblade",
    "kayaking": "kayaking", "mountain biking": "bike", "paddling": "kayaking", "road biking": "bike",
    "rowing": "rowing", "running": "run", "sailing": "sail_boat", "skate boarding": "skateboard",
    "skateboarding": "skateboard", "skiing": "ski", "snow boarding": "snowboard", "snowboarding": "snowboard",
    "surfing": "surfing", "swimming": "swim", "trail hiking": "hiking", "trail running": "run", "walking": "walk",
}  # fmt: skip

METERS_PER_MILE = 1609.344
METERS_PER_FOOT = 0.3048


@dataclass(frozen=True)
class Track:
    """One recorded activity: `seconds` in all, `moving` without rests."""

    id: int
    name: str
    category: str
    description: str
    start: datetime
    stop: datetime
    seconds: int
    moving: int
    meters: float
    gain: float
    loss: float


_COLUMNS = """
    _id, coalesce(name, ''), coalesce(category, ''), coalesce(description, ''), coalesce(starttime, 0),
    coalesce(stoptime, 0), coalesce(totaltime, 0), coalesce(movingtime, 0), coalesce(totaldistance, 0),
    coalesce(elevationgain, 0), coalesce(elevationloss, 0)"""


def tracks(db: sqlite3.Connection, words: str = "") -> list[Track]:
    """Returns the activities whose name, category or description contains `words`, the latest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM tracks WHERE instr(lower(coalesce(name, '') || char(10) || coalesce(category, '')"
        " || char(10) || coalesce(description, '')), lower(?)) ORDER BY starttime DESC, _id DESC",
        (words,),
    )
    return [_track(row) for row in rows]


def track(db: sqlite3.Connection, id: int) -> Track | None:
    """Returns one activity; None if there is none of that id."""
    row = db.execute(f"SELECT {_COLUMNS} FROM tracks WHERE _id = ?", (id,)).fetchone()
    return _track(row) if row else None


def _track(row: tuple) -> Track:
    id, name, category, description, start, stop, total, moving, meters, gain, loss = row
    times = from_seconds(start / 1000), from_seconds(stop / 1000)
    return Track(id, name, category, description, *times, total // 1000, moving // 1000, meters, gain, loss)


def save(
    db: sqlite3.Connection,
    name: str,
    start: datetime,
    stop: datetime,
    category: str = "",
    description: str = "",
    meters: float = 0.0,
) -> int:
    """Adds an activity. Returns its id."""
    length = (stop - start) // timedelta(milliseconds=1)
    speed = 1000 * meters / length if length else 0.0
    times = {"starttime": to_millis(start), "stoptime": to_millis(stop), "totaltime": length, "movingtime": length}
    zeros = {"numpoints": 0, "elevationgain": 0, "elevationloss": 0, "starttime_offset": 0}
    figures = {**times, **zeros, "totaldistance": meters, "avgspeed": speed, "avgmovingspeed": speed}
    texts = {"name": name, "category": category, "activity_type": category, "description": description}
    key = uuid.uuid5(uuid.NAMESPACE_OID, f"{name}{start}{stop}{category}").bytes
    return TABLE.insert(db, {**texts, **figures, "uuid": key})


def totals(shown: Iterable[Track]) -> dict[str, tuple[int, int, float]]:
    """Returns number, seconds and meters of the activities of each category, the most frequent first."""
    sums: dict[str, tuple[int, int, float]] = {}
    for one in shown:
        count, seconds, meters = sums.get(one.category, (0, 0, 0.0))
        sums[one.category] = count + 1, seconds + one.seconds, meters + one.meters
    return dict(sorted(sums.items(), key=lambda item: (-item[1][0], item[0])))


# what a phone set to American English shows


def distance_text(meters: float) -> str:
    """Returns a distance in miles, or in feet up to half a mile."""
    miles = meters / METERS_PER_MILE
    return f"{miles:,.2f} mi" if miles > 0.5 else f"{meters / METERS_PER_FOOT:,.0f} ft"


def elevation_text(meters: float) -> str:
    """Returns a height in feet."""
    return f"{meters / METERS_PER_FOOT:,.0f} ft"


def speed_text(meters: float, seconds: int) -> str:
    """Returns a speed in miles per hour."""
    return f"{meters / METERS_PER_MILE / (seconds / 3600):.1f} mph" if seconds else "–"


def clock_text(seconds: int) -> str:
    """Returns a duration, such as `45:00` or `1:30:00`."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes:02d}:{seconds % 60:02d}"
