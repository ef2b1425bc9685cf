"""OpenTracks by touch: the list says what the database holds, and what a user changes stands there."""

from datetime import datetime, timedelta

import pytest

from coach_gym.envs.apps.opentracks.data import DATABASE, PACKAGE, SETTINGS, clock_text, distance_text, save
from coach_gym.envs.phone import preferences
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
    hands.tap("Round the lake", "Edit", "Choose activity type", "biking", "Save")
    changed = stored(hands, "name, category, activity_type, totaldistance")[0]
    assert changed == ("Round the lake", "biking", "biking", 5005)
    assert hands.shows("biking")


@pytest.mark.parametrize("full", [True, False], ids=["full record", "bare record"])
@pytest.mark.parametrize("hint, change", [
    ("Name", {"name": "New"}), ("Description", {"description": "New"}),
    ("Activity type", {"category": "New", "activity_type": "unknown"}),
])  # fmt: skip
def test_an_edit_changes_what_was_edited(hint, change, full):
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(DATABASE)
    for name in ("Loop ", "Hike "):
        add_record(db, "tracks", full, name=name)
    hands.phone.changed()
    before = records(db, "tracks")
    hands.tap("Hike ", "Edit")
    hands.select_text(hint)
    hands.type("New")
    hands.back()
    hands.tap("Save")
    assert changed(before, records(db, "tracks")) == [{}, change]


def test_deleting_asks_first(hands):
    hands.tap("Pool", "More options", "Delete", "Cancel")
    assert len(stored(hands, "name")) == 3
    hands.tap("More options", "Delete", "OK")
    assert stored(hands, "name") == [("Round the lake",), ("Old railway",)] and len(rows(hands)) == 2


def test_totals_are_filtered_by_type_and_day(hands):
    hands.tap("More options", "Aggregated stats")
    assert [name for name in ("running (1)", "swimming (1)", "cycling (1)") if not hands.shows(name)] == []
    hands.tap("Filter")
    assert hands.find("From").label == "From, Oct 15, 2023" and hands.find("To").label == "To, Oct 21, 2023"
    hands.tap("OK")
    assert hands.shows("No activities for this filter")
    hands.tap("Clear filter", "Filter", "cycling", "From", "13 October 2023", "OK", "OK")
    assert hands.shows("swimming (1)") and not hands.shows("cycling (1)") and not hands.shows("running (1)")


def test_selected_activities_are_summed_up_and_deleted(hands):
    hands.hold("Pool")
    hands.tap("Old railway", "Aggregated stats")
    assert hands.shows("swimming (1)") and hands.shows("cycling (1)") and not hands.shows("running (1)")
    hands.back()
    hands.hold("Pool")
    assert hands.shows("Edit")
    hands.tap("Select all")
    assert hands.shows("3 selected") and not hands.shows("Edit")
    hands.tap("Delete", "Cancel")
    assert len(stored(hands, "name")) == 3
    hands.tap("Delete", "OK")
    assert stored(hands, "name") == [] and hands.shows("No recorded tracks yet")


def test_a_selected_activity_is_edited(hands):
    hands.hold("Pool")
    hands.tap("Edit")
    assert hands.shows("Edit track") and hands.find("Name").value == "Pool"
    hands.back()
    assert hands.shows("OpenTracks")


def test_paces_are_told_where_they_are_usual_unless_the_settings_say_otherwise(hands):
    hands.tap("Round the lake")
    assert hands.shows("14:28 min/mi") and hands.shows("Avg moving pace")
    hands.tap("More options", "Settings", "Default Units and Activity", "Preferred rate", "Speed")
    hands.tap("Preferred units", "Metric (km, m)")
    for _ in range(2):
        hands.back()
    assert hands.shows("6.7 km/h") and hands.shows("5.00 km")
    assert preferences.load(hands.storage, SETTINGS) == {"statsRate": "SPEED", "statsUnits": "METRIC"}
    hands.back()
    assert rows(hands)[0].endswith("30:00, 322 m")


def test_recording_takes_as_long_as_it_lasts(hands):
    hands.tap("Record")
    hands.phone.elapse(timedelta(minutes=2))
    hands.tap("Stop")
    assert hands.shows("Hold to stop")
    hands.hold("Stop")
    hands.select_text("Name")
    hands.type("On the spot")
    hands.back()
    hands.tap("Stop")
    name, length, meters = stored(hands, "name, totaltime, totaldistance")[-1]
    assert name == "On the spot" and 120_000 <= length < 130_000 and meters == 0


def test_a_stopped_recording_goes_on_or_is_discarded(hands):
    hands.tap("Record")
    hands.phone.elapse(timedelta(minutes=2))
    hands.hold("Stop")
    hands.phone.elapse(timedelta(minutes=60))
    hands.tap("Record")
    hands.phone.elapse(timedelta(minutes=1))
    hands.hold("Stop")
    assert 180_000 <= stored(hands, "totaltime")[-1][0] < 190_000
    hands.tap("Discard", "OK")
    assert len(stored(hands, "name")) == len(TRACKS) and hands.shows("OpenTracks")


def test_a_track_is_resumed(hands):
    hands.tap("Pool", "More options", "Resume track")
    hands.phone.elapse(timedelta(minutes=5))
    hands.hold("Stop")
    hands.tap("Stop")
    assert stored(hands, "totaltime")[-1][0] // 60_000 == 35


def test_distances_and_times_are_written_as_in_america():
    assert [distance_text(m) for m in (0, 804, 805, 1609.344, 40_000_000)] == [
        "0 ft", "2,638 ft", "0.50 mi", "1.00 mi", "24,854.85 mi",
    ]  # fmt: skip
    assert [clock_text(s) for s in (0, 59, 3599, 3600, 36_061)] == ["00:00", "00:59", "59:59", "1:00:00", "10:01:01"]
