"""OpenTracks' activities, and its formats for distances, times and speeds."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.epoch import Moved, from_seconds, to_millis, unmoved
from coach_gym.envs.phone.records import Table
from coach_gym.envs.phone.storage import Storage

PACKAGE = "de.dennisguse.opentracks"
DATABASE = f"/data/data/{PACKAGE}/databases/database.db"
SETTINGS = f"/data/data/{PACKAGE}/shared_prefs/{PACKAGE}_preferences.xml"
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

_TYPES = """
    airplane; ATV; biking; blimp; boat; climbing; commercial airplane; cross-country skiing; cycling; dirt bike;
    donkey back riding; driving; driving bus; driving car; escooter; ferry; frisbee; gliding; hang gliding; helicopter;
    hiking; horse back riding; hot air balloon; ice sailing; inline skating; kayaking; kite surfing; land sailing;
    mixed type; motor bike; motor boating; mountain biking; other; paddling; para gliding; RC airplane; RC boat;
    RC helicopter; road biking; roller skiing; rowing; running; sailing; scooter; seaplane; skate boarding; skating;
    skiing; sky jumping; sled; snow boarding; snow shoeing; speed walking; street running; surfing; swimming;
    swimming in open water; track cycling; trail hiking; trail running; train; ultimate frisbee; unknown; wakeboarding;
    walking; water skiing; wind surfing; workout
"""
TYPES = tuple(name.strip() for name in _TYPES.split(";"))  # what a form offers
_KEYS = {"scooter": "kickscooter", "skate boarding": "skateboarding", "snow boarding": "snowboarding"}
PACED = frozenset((  # types of which the time for a distance is told instead of the speed
    "climbing", "hiking", "running", "speed walking", "street running", "swimming", "swimming in open water",
    "trail hiking", "trail running", "walking", "workout",
))  # fmt: skip

METERS_PER_MILE = 1609.344
METERS_PER_FOOT = 0.3048


@dataclass(frozen=True)
class Track:
    """One recorded activity: `seconds` in all, `moving` without rests; `fastest` in meters a second."""

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
    fastest: float = 0.0


_COLUMNS = """
    _id, coalesce(name, ''), coalesce(category, ''), coalesce(description, ''), coalesce(starttime, 0),
    coalesce(stoptime, 0), coalesce(totaltime, 0), coalesce(movingtime, 0), coalesce(totaldistance, 0),
    coalesce(elevationgain, 0), coalesce(elevationloss, 0), coalesce(maxspeed, 0)"""


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
    id, name, category, description, start, stop, total, moving, meters, gain, loss, fastest = row
    times = from_seconds(start / 1000), from_seconds(stop / 1000)
    return Track(id, name, category, description, *times, total // 1000, moving // 1000, meters, gain, loss, fastest)


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


def go_on(db: sqlite3.Connection, id: int, since: datetime, now: datetime) -> None:
    """Makes an activity longer by the time from `since` to now, in which the phone lay still."""
    length = (now - since) // timedelta(milliseconds=1)
    times = "totaltime = coalesce(totaltime, 0) + ?1, movingtime = coalesce(movingtime, 0) + ?1"
    db.execute(f"UPDATE tracks SET stoptime = ?2, {times} WHERE _id = ?3", (length, to_millis(now), id))
    for column, duration in ("avgspeed", "totaltime"), ("avgmovingspeed", "movingtime"):
        speed = f"CASE WHEN {duration} > 0 THEN 1000.0 * coalesce(totaldistance, 0) / {duration} ELSE 0 END"
        db.execute(f"UPDATE tracks SET {column} = {speed} WHERE _id = ?", (id,))


def type_key(name: str) -> str:
    """Returns the key of a type of activities; `unknown` for a name that the app does not know."""
    return _KEYS.get(name, name) if name in TYPES else "unknown"


class Sums(NamedTuple):
    """What the activities of one type come to together."""

    number: int = 0
    seconds: int = 0
    meters: float = 0.0
    moving: int = 0
    fastest: float = 0.0


def totals(shown: Iterable[Track]) -> dict[str, Sums]:
    """Returns the sums for the activities of each category, the most frequent first."""
    sums: dict[str, Sums] = {}
    for one in shown:
        number, seconds, meters, moving, fastest = sums.get(one.category, Sums())
        sums[one.category] = Sums(
            number + 1, seconds + one.seconds, meters + one.meters, moving + one.moving, max(fastest, one.fastest)
        )
    return dict(sorted(sums.items(), key=lambda item: (-item[1].number, item[0])))


@dataclass(frozen=True)
class Filter:
    """Which activities are summed up: those of some categories that began between two days."""

    categories: frozenset[str]
    first: date
    last: date

    def passes(self, one: Track, local: Moved = unmoved) -> bool:
        """Returns whether an activity is one of them. Without categories, all are meant."""
        chosen = not self.categories or one.category in self.categories
        return chosen and self.first <= local(one.start).date() <= self.last


# what is shown, in the units of the settings


class Units(NamedTuple):
    """Names and meters of the units for long and for short distances, and the name of that for speeds."""

    title: str
    far: str
    per_far: float
    near: str
    per_near: float
    speed: str


IMPERIAL = Units("Imperial (mi, ft)", "mi", METERS_PER_MILE, "ft", METERS_PER_FOOT, "mph")
UNITS = {
    "METRIC": Units("Metric (km, m)", "km", 1000, "m", 1, "km/h"),
    "IMPERIAL": IMPERIAL,
    "IMPERIAL_METER": Units("Imperial (mi, m)", "mi", METERS_PER_MILE, "m", 1, "mph"),
    "NAUTICAL": Units("Nautical (NM, ft)", "NM", 1852, "ft", METERS_PER_FOOT, "kn"),
}
RATES = {"ACTIVITY_TYPE": "By activity type", "SPEED": "Speed", "PACE": "Pace"}
UNITS_KEY, RATE_KEY = "statsUnits", "statsRate"


def units_of(storage: Storage) -> Units:
    """Returns the units that are set; a phone set to American English has miles and feet from the start."""
    return UNITS.get(str(preferences.load(storage, SETTINGS).get(UNITS_KEY)), IMPERIAL)


def rate_of(storage: Storage) -> str:
    """Returns the key in `RATES` of how speeds are told."""
    rate = str(preferences.load(storage, SETTINGS).get(RATE_KEY))
    return rate if rate in RATES else "ACTIVITY_TYPE"


def is_paced(storage: Storage, category: str) -> bool:
    """Returns whether the pace of activities of a category is told instead of their speed."""
    rate = rate_of(storage)
    return category in PACED if rate == "ACTIVITY_TYPE" else rate == "PACE"


def distance_text(meters: float, units: Units = IMPERIAL) -> str:
    """Returns a distance in the larger unit, such as miles, or in the smaller one up to half of that."""
    far = meters / units.per_far
    return f"{far:,.2f} {units.far}" if far > 0.5 else f"{meters / units.per_near:,.0f} {units.near}"


def elevation_text(meters: float, units: Units = IMPERIAL) -> str:
    """Returns a height in the smaller unit, such as feet."""
    return f"{meters / units.per_near:,.0f} {units.near}"


def speed_text(speed: float, units: Units = IMPERIAL) -> str:
    """Returns a speed, given in meters a second, such as `6.2 mph`."""
    return f"{speed * 3600 / units.per_far:.1f} {units.speed}"


def pace_text(speed: float, units: Units = IMPERIAL) -> str:
    """Returns the time that a speed, given in meters a second, takes for a distance, such as `9:39 min/mi`."""
    seconds = int(units.per_far / speed) if speed else 0
    return f"{seconds // 60}:{seconds % 60:02d} min/{units.far}"


def clock_text(seconds: int) -> str:
    """Returns a duration, such as `45:00` or `1:30:00`."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes:02d}:{seconds % 60:02d}"
