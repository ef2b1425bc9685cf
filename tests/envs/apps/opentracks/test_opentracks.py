"""OpenTracks by touch: the list says what the database holds, and what a user changes stands there."""

from datetime import datetime, timedelta

import pytest

from coach_gym.envs.apps.opentracks.data import DATABASE, PACKAGE, clock_text, distance_text, save
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

START = datetime(2023, 10, 12, 8, 0)
TRACKS = (  # name, category, description, hours later, minutes, meters
    ("Round the lake", "running", "Windy", 0, 45, 5005),
    ("Old railway", "cycling", "", 24, 90, 24140),
    ("Pool", "swimming", "Good for running", 48, 30, 322),
)


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    db = hands.storage.database(DATABASE)
    for name, category, description, hours, minutes, meters in TRACKS:
        start = START + timedelta(hours=hours)
        save(db, name, start, start + timedelta(minutes=minutes), category, description, meters)
    hands.phone.changed()
    return hands


def rows(hands):
    return [e.label for e in hands.elements if e.clickable and "[" in e.label]


def stored(hands, columns):
    return hands.storage.database(DATABASE).execute(f"SELECT {columns} FROM tracks ORDER BY _id").fetchall()


def test_a_row_tells_day_length_and_distance_and_the_latest_is_first(hands):
    assert rows(hands) == [
        "Pool, Oct 14 2023, 08:00, [swimming] Good for running, 30:00, 1,056 ft",
        "Old railway, Oct 13 2023, 08:00, [cycling] , 1:30:00, 15.00 mi",
        "Round the lake, Oct 12 2023, 08:00, [running] Windy, 45:00, 3.11 mi",
    ]


@pytest.mark.parametrize(
    ("words", "found"), [("RUN", ["Pool", "Round the lake"]), ("rail", ["Old railway"]), ("chess", [])]
)
def test_search_looks_at_names_types_and_descriptions(hands, words, found):
    hands.tap("Search")
    hands.type(words)
    hands.back()
    assert [row.split(", ")[0] for row in rows(hands)] == found
    hands.tap("Clear query")
    assert len(rows(hands)) == 3


def test_the_details_of_one(hands):
    hands.tap("Old railway")
    for text in ("cycling", "15.00 mi", "1:30:00", "10.0 mph", "Oct 13 2023 08:00", "Oct 13 2023 09:30"):
        assert hands.shows(text)


def test_editing_changes_type_and_keeps_the_rest(hands):
    hands.tap("Round the lake", "Edit", "Choose activity type", "hiking", "Save")
    changed = stored(hands, "name, category, activity_type, totaldistance")[0]
    assert changed == ("Round the lake", "hiking", "hiking", 5005)
    assert hands.shows("hiking")


@pytest.mark.parametrize("full", [True, False], ids=["full record", "bare record"])
@pytest.mark.parametrize("hint, change", [
    ("Name", {"name": "New"}), ("Description", {"description": "New"}),
    ("Activity type", {"category": "New", "activity_type": "New"}),
])  # fmt: skip
def test_an_edit_changes_what_was_edited(hint, change, full):
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(DATABASE)
    for name in ("Loop ", "Hike "):
        add_record(db, "tracks", full, name=name)
    hands.phone.changed()
    before = records(db, "tracks")
    hands.tap("Hike ", "Edit")
    hands.hold(hint)
    hands.type("New")
    hands.back()
    hands.tap("Save")
    assert changed(before, records(db, "tracks")) == [{}, change]


def test_deleting_asks_first(hands):
    hands.tap("Pool", "More options", "Delete", "Cancel")
    assert len(stored(hands, "name")) == 3
    hands.tap("More options", "Delete", "OK")
    assert stored(hands, "name") == [("Round the lake",), ("Old railway",)] and len(rows(hands)) == 2


def test_totals_are_of_what_was_searched_for(hands):
    hands.tap("Search")
    hands.type("run")
    hands.back()
    hands.tap("More options", "Aggregated statistics")
    assert hands.shows("running (1)") and hands.shows("swimming (1)") and not hands.shows("cycling (1)")


def test_recording_takes_as_long_as_it_lasts(hands):
    hands.tap("Record")
    hands.phone.elapse(timedelta(minutes=2))
    hands.tap("Stop")
    hands.tap("Name")
    hands.phone.long_press(*hands.find("Name").center)
    hands.type("On the spot")
    hands.back()
    hands.tap("Save")
    name, length, meters = stored(hands, "name, totaltime, totaldistance")[-1]
    assert name == "On the spot" and 120_000 <= length < 130_000 and meters == 0


def test_distances_and_times_are_written_as_in_america():
    assert [distance_text(m) for m in (0, 804, 805, 1609.344, 40_000_000)] == [
        "0 ft", "2,638 ft", "0.50 mi", "1.00 mi", "24,854.85 mi",
    ]  # fmt: skip
    assert [clock_text(s) for s in (0, 59, 3599, 3600, 36_061)] == ["00:00", "00:59", "59:59", "1:00:00", "10:01:01"]
