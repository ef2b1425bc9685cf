"""What the checks of the families of AndroidLab's calendar let pass."""

from datetime import date, datetime, timedelta

import pytest

from coach_gym.envs.apps.calendario import data
from coach_gym.envs.apps.calendario.data import Event
from coach_gym.envs.apps.calendario.lab_tasks import CalendarAddEvent, CalendarAllDayEvent, CalendarLocateEvent
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.profiles import ANDROID_LAB


@pytest.fixture(scope="module")
def made_device():
    return PhoneDevice(270, 600, ANDROID_LAB)


def calendar(device, statement, *values):
    with device.database(data.PATH) as db:
        db.execute(statement, values)


def start_on(device, title, at, **more):
    with device.database(data.PATH) as db:
        db.execute("DELETE FROM event WHERE title = ?", (title,))
        data.save(db, Event(title, at, at + timedelta(minutes=10), **more))


@pytest.mark.parametrize(("hours", "score"), [(0, 1), (23, 1), (24, 0), (-1, 0)])
def test_the_hours_of_a_new_event_are_free_but_its_day_is_not(device, begin, hours, score):
    task = begin(CalendarAddEvent)
    day = datetime.combine(date.fromisoformat(task.params["day"]), datetime.min.time())
    start_on(device, task.params["title"], day + timedelta(hours=hours))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize(
    "more", [{"all_day": True}, {"recurrence": "Daily"}, {"note": "x"}, {"location": "x"}, {"notifications": ()}]
)
def test_a_new_event_has_nothing_that_was_not_asked_for(device, begin, more):
    task = begin(CalendarAddEvent)
    noon = datetime.fromisoformat(f"{task.params['day']} 12:00")
    start_on(device, task.params["title"], noon)
    assert task.evaluate(device, None) == 1
    start_on(device, task.params["title"], noon, **more)
    assert task.evaluate(device, None) == 0


def test_an_event_for_all_day_must_be_on_its_day(device, begin):
    task = begin(CalendarAllDayEvent)
    (chosen,) = [one["title"] for one in task.expected() if one["all_day"]]
    calendar(device, "UPDATE event SET all_day = 1, ends = date(starts) || ' 23:59:00' WHERE title = ?", chosen)
    assert task.evaluate(device, None) == 1
    calendar(device, "UPDATE event SET starts = datetime(starts, '-1 day') WHERE title = ?", chosen)
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("harm", [
    "DELETE FROM event WHERE title != ?", "UPDATE event SET note = 'x' WHERE title != ?",
    "UPDATE event SET ends = datetime(ends, '+1 minute') WHERE title = ?",
    "UPDATE event SET notifications = '' WHERE title = ?",
])  # fmt: skip
def test_everything_else_must_stay_as_it_is(device, begin, harm):
    task = begin(CalendarLocateEvent)
    calendar(device, "UPDATE event SET location = ? WHERE title = ?", task.params["new"], task.params["title"])
    assert task.evaluate(device, None) == 1
    calendar(device, harm, task.params["title"])
    assert task.evaluate(device, None) == 0
