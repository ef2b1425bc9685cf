"""The calendar of AndroidLab's phone."""

from datetime import datetime, timedelta

import pytest

from coach_gym.envs.apps.calendario import data
from coach_gym.envs.apps.calendario.data import Event
from coach_gym.envs.profiles import lab_phone
from tests.envs.hands import Hands

NOON = datetime(2024, 5, 10, 12)


@pytest.fixture
def calendar():
    phone = lab_phone(360, 800)
    phone.now = NOON
    return Hands(data.PACKAGE, phone=phone)


def events(calendar):
    return data.events(calendar.storage.database(data.PATH))


def add(calendar, title, starts, **more):
    event = Event(title, starts, starts + timedelta(hours=1), **more)
    data.save(calendar.storage.database(data.PATH), event)
    calendar.phone.changed()


def write(calendar, title):
    calendar.tap("Add event", "Title")
    calendar.type(title)
    calendar.back()


def test_an_event_is_stored_only_by_save(calendar):
    write(calendar, "work")
    calendar.back()
    assert events(calendar) == []
    write(calendar, "work")
    calendar.tap("Save")
    (event,) = events(calendar)
    assert (event.title, event.starts, event.notifications) == ("work", NOON.replace(hour=13), (30,))
    assert calendar.shows("30 minutes before") and calendar.shows("Edit event")  # its page


def test_an_event_needs_a_title(calendar):
    calendar.tap("Add event", "Save")
    assert events(calendar) == [] and "Enter a title" in calendar.ui


def test_a_later_start_takes_the_end_along(calendar):
    write(calendar, "work")
    calendar.tap("Starts at", "PM", "5 hours", "OK", "Starts on", "21 May 2024", "OK", "Save")
    (event,) = events(calendar)
    assert (event.starts, event.ends) == (datetime(2024, 5, 21, 17), datetime(2024, 5, 21, 18))


def test_an_end_before_the_start_is_on_the_next_day(calendar):
    write(calendar, "night")
    calendar.tap("Ends at", "AM", "2 hours", "OK", "Save")
    assert events(calendar)[0].ends == datetime(2024, 5, 11, 2)


def test_notifications_are_added_and_removed(calendar):
    add(calendar, "meeting", NOON)
    calendar.tap("meeting", "Edit event", "Remove 30 minutes before", "Add notification", "10 minutes before")
    calendar.tap("Add notification", "5 minutes before", "Save")
    assert events(calendar)[0].notifications == (5, 10)


def test_editing_changes_the_event_and_not_another(calendar):
    add(calendar, "one", NOON)
    add(calendar, "two", NOON)
    calendar.tap("two", "Edit event", "All day", "Recurrence", "Weekly", "Note")
    calendar.type("Hello")
    calendar.back()
    calendar.tap("Save")
    one, two = events(calendar)
    assert (one.all_day, one.recurrence, one.note) == (False, "Does not repeat", "")
    assert (two.all_day, two.recurrence, two.note) == (True, "Weekly", "Hello")


def test_days_have_names(calendar):
    for days, title in ((0, "a"), (1, "b"), (3, "c"), (22, "d")):
        add(calendar, title, NOON + timedelta(days=days))
    names = [element.label for element in calendar.elements]
    assert {"Today", "Tomorrow", "Mon, May 13", "Sat, Jun 01"} <= set(names)


def test_times_are_on_a_twelve_hour_clock(calendar):
    add(calendar, "late", NOON.replace(hour=0, minute=5))
    assert "12:05 AM – 1:05 AM" in calendar.ui


def test_an_event_is_deleted_after_a_question(calendar):
    add(calendar, "exam", NOON)
    calendar.tap("exam", "Delete event", "Cancel")
    assert len(events(calendar)) == 1
    calendar.tap("Delete event", "Delete")
    assert events(calendar) == [] and calendar.shows("No events")


def test_a_location_is_stored_and_shown(calendar):
    write(calendar, "work")
    calendar.tap("Location")
    calendar.type("Oak Avenue")
    calendar.back()
    calendar.tap("Save")
    (event,) = events(calendar)
    assert event.location == "Oak Avenue" and calendar.shows("Oak Avenue")


def test_an_edit_keeps_everything_else(calendar):
    add(
        calendar, "work", NOON, note="B202", location="Oak Avenue", recurrence="Weekly", notifications=(10, 45),
        all_day=True,
    )  # fmt: skip
    (before,) = events(calendar)
    calendar.tap("work")
    assert calendar.shows("45 minutes before")
    calendar.tap("Edit event")
    calendar.select_text("Title")
    calendar.type("play")
    calendar.back()
    calendar.tap("Save")
    (after,) = events(calendar)
    assert after.title == "play" and after.__dict__ | {"title": "work"} == before.__dict__
