"""Events as rows: they are read as they were stored, and an edit changes what it is about."""

from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.envs.apps.calendario import data
from coach_gym.envs.apps.calendario.app import clock, day_name
from coach_gym.envs.apps.calendario.data import NOTIFICATIONS, RECURRENCES, Event
from coach_gym.envs.phone.storage import Storage
from tests.envs.records import changed, records

NOON = datetime(2024, 5, 10, 12)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(lambda at: at.replace(microsecond=0))
MINUTES = st.lists(st.integers(0, 2000), max_size=3).map(tuple)
TEXTS = st.text(max_size=10)
EVENTS = st.builds(Event, TEXTS, MOMENTS, MOMENTS, st.booleans(), st.sampled_from(RECURRENCES), TEXTS, MINUTES, TEXTS)


def new_calendar():
    return Storage().create_database(data.PATH, data.SCHEMA)


@pytest.fixture
def db():
    return new_calendar()


@given(st.lists(EVENTS, max_size=4))
def test_events_are_read_as_they_were_stored(events):
    db = new_calendar()
    stored = [replace(event, id=data.save(db, event)) for event in events]
    assert data.events(db) == sorted(stored, key=lambda event: (event.starts, event.id))


@given(EVENTS, EVENTS, EVENTS)
def test_an_event_that_is_saved_again_takes_its_own_place(before, after, other):
    db = new_calendar()
    id, other_id = data.save(db, before), data.save(db, other)
    assert data.save(db, replace(after, id=id)) == id
    assert {event.id: event for event in data.events(db)} == {
        id: replace(after, id=id), other_id: replace(other, id=other_id)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "column"),
    [
        ({"title": "Lunch"}, "title"), ({"note": "x"}, "note"), ({"location": "x"}, "location"),
        ({"all_day": True}, "all_day"), ({"recurrence": "Daily"}, "recurrence"),
        ({"notifications": (5,)}, "notifications"), ({"starts": NOON - timedelta(hours=1)}, "starts"),
        ({"ends": NOON + timedelta(hours=9)}, "ends"),
    ],
)  # fmt: skip
def test_an_edit_changes_one_column_and_keeps_those_that_we_do_not_know(db, edit, column):
    db.execute("ALTER TABLE event ADD COLUMN color TEXT DEFAULT 'blue'")
    event = Event("Work", NOON, NOON + timedelta(hours=1), note="B202", location="Here", notifications=(10, 45))
    event.id = data.save(db, event)
    db.execute("UPDATE event SET color = 'red'")
    before = records(db, "event")
    data.save(db, replace(event, **edit))
    ((cells),) = changed(before, records(db, "event"))
    assert list(cells) == [column]


def test_a_deleted_event_is_gone(db):
    first, second = (data.save(db, Event(title, NOON, NOON)) for title in ("a", "b"))
    data.delete(db, first)
    assert [event.id for event in data.events(db)] == [second]


def test_every_notification_has_a_name_also_one_that_the_app_does_not_offer():
    assert [data.notification_text(minutes) for minutes in NOTIFICATIONS.values()] == list(NOTIFICATIONS)
    assert data.notification_text(45) == "45 minutes before"


@pytest.mark.parametrize(
    ("day", "shown"),
    [
        (date(2024, 5, 10), "Today"), (date(2024, 5, 11), "Tomorrow"), (date(2024, 5, 9), "Thu, May 09"),
        (date(2024, 5, 13), "Mon, May 13"), (date(2025, 5, 10), "Sat, May 10"),
    ],
)  # fmt: skip
def test_days_have_names(day, shown):
    assert day_name(day, NOON.date()) == shown


@pytest.mark.parametrize(("hour", "shown"), [(0, "12:05 AM"), (9, "9:05 AM"), (12, "12:05 PM"), (17, "5:05 PM")])
def test_hours_are_those_of_a_twelve_hour_clock(hour, shown):
    assert clock(datetime(2024, 5, 10, hour, 5)) == shown
