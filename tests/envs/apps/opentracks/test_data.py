"""OpenTracks' table and figures by themselves."""

import random
import sqlite3
from datetime import datetime, timedelta

import pytest

from coach_gym.envs.apps.opentracks.data import (
    CATEGORIES,
    METERS_PER_MILE,
    SCHEMA,
    TABLE,
    UNITS,
    Filter,
    clock_text,
    distance_text,
    elevation_text,
    go_on,
    pace_text,
    save,
    speed_text,
    totals,
    track,
    tracks,
    type_key,
)

START = datetime(2023, 10, 12, 8)


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(SCHEMA)
    return db


def test_an_activity_is_read_as_it_was_saved(db):
    id = save(db, "Loop", START, START + timedelta(minutes=45), "running", "Windy", 5005.0)
    known = track(db, id)
    assert (known.name, known.category, known.description) == ("Loop", "running", "Windy")
    assert (known.start, known.stop, known.seconds, known.moving) == (START, START + timedelta(minutes=45), 2700, 2700)
    assert known.meters == 5005 and known.gain == known.loss == 0
    row = TABLE.read(db, id)
    assert (
        row["avgspeed"] == pytest.approx(5005 / 2700) and row["activity_type"] == "running" and len(row["uuid"]) == 16
    )


def test_an_activity_without_length_has_no_speed(db):
    assert TABLE.read(db, save(db, "Stand", START, START, meters=10))["avgspeed"] == 0


def test_a_missing_activity_is_none(db):
    assert track(db, 1) is None and tracks(db) == []


@pytest.mark.parametrize("seed", range(5))
def test_totals_are_sums_by_category_the_most_frequent_first(db, seed):
    rng = random.Random(seed)
    for number in range(30):
        stop = START + timedelta(minutes=rng.randint(1, 90))
        save(db, str(number), START, stop, rng.choice(list(CATEGORIES)[:4]), meters=rng.randint(0, 9999))
    shown = tracks(db)
    sums = totals(shown)
    counts = [each.number for each in sums.values()]
    assert sum(counts) == 30 and counts == sorted(counts, reverse=True)
    for category, each in sums.items():
        of_it = [one for one in shown if one.category == category]
        assert (each.number, each.seconds) == (len(of_it), sum(one.seconds for one in of_it))
        assert each.meters == pytest.approx(sum(one.meters for one in of_it))


@pytest.mark.parametrize("words, names", [
    ("", ["C", "B", "A"]), ("run", ["C", "A"]), ("RUN", ["C", "A"]), ("windy", ["B"]), ("b", ["B"]), ("xyz", []),
])  # fmt: skip
def test_a_search_looks_at_name_category_and_description(db, words, names):
    for hours, (name, category, description) in enumerate((("A", "running", ""), ("B", "", "Windy"), ("C", "", "Run"))):
        save(db, name, START + timedelta(hours=hours), START + timedelta(hours=hours), category, description)
    assert [one.name for one in tracks(db, words)] == names


@pytest.mark.parametrize("meters, text", [
    (0, "0 ft"), (0.5 * METERS_PER_MILE, "2,640 ft"), (0.51 * METERS_PER_MILE, "0.51 mi"),
    (1234.5 * METERS_PER_MILE, "1,234.50 mi"),
])  # fmt: skip
def test_distances_are_miles_or_feet(meters, text):
    assert distance_text(meters) == text


def test_heights_speeds_and_times():
    assert elevation_text(304.8) == "1,000 ft"
    assert speed_text(METERS_PER_MILE / 600) == "6.0 mph" and speed_text(0) == "0.0 mph"
    assert pace_text(METERS_PER_MILE / 605) == "10:05 min/mi" and pace_text(0) == "0:00 min/mi"
    assert [clock_text(seconds) for seconds in (0, 59, 60, 3599, 3600, 36_061)] == [
        "00:00", "00:59", "01:00", "59:59", "1:00:00", "10:01:01",
    ]  # fmt: skip


@pytest.mark.parametrize("units, texts", [
    ("METRIC", ("5.00 km", "400 m", "18.0 km/h", "3:20 min/km")),
    ("IMPERIAL", ("3.11 mi", "1,312 ft", "11.2 mph", "5:21 min/mi")),
    ("IMPERIAL_METER", ("3.11 mi", "400 m", "11.2 mph", "5:21 min/mi")),
    ("NAUTICAL", ("2.70 NM", "1,312 ft", "9.7 kn", "6:10 min/NM")),
])  # fmt: skip
def test_figures_in_other_units(units, texts):
    units = UNITS[units]
    assert texts == (
        distance_text(5000, units), distance_text(400, units), speed_text(5, units), pace_text(5, units),
    )  # fmt: skip


def test_a_filter_passes_types_and_whole_days(db):
    for hours, category in enumerate(("running", "hiking", "running")):
        save(db, category, START + timedelta(hours=12 * hours), START + timedelta(hours=12 * hours), category)
    day = START.date()
    assert [one.category for one in tracks(db) if Filter(frozenset(), day, day).passes(one)] == ["hiking", "running"]
    runs = Filter(frozenset({"running"}), day, day)
    assert [one.start for one in tracks(db) if runs.passes(one)] == [START]


def test_an_activity_goes_on(db):
    id = save(db, "Loop", START, START + timedelta(minutes=10), meters=600.0)
    later = START + timedelta(hours=2)
    go_on(db, id, later, later + timedelta(minutes=10))
    known = track(db, id)
    assert (known.seconds, known.moving, known.stop) == (1200, 1200, later + timedelta(minutes=10))
    assert TABLE.read(db, id)["avgspeed"] == pytest.approx(0.5)


def test_types_have_keys():
    assert [type_key(name) for name in ("hiking", "scooter", "chess", "")] == [
        "hiking", "kickscooter", "unknown", "unknown",
    ]  # fmt: skip
