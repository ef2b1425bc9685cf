"""Alarms as rows: what an edit leaves alone, and when they ring."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.envs.apps.clock import data
from coach_gym.envs.apps.clock.data import Alarm
from coach_gym.envs.phone.storage import Storage
from tests.envs.records import add_record, changed, records

NOW = datetime(2023, 10, 15, 15, 34)  # a Sunday
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1))
ON_OFF, LABELS = st.booleans(), st.text(max_size=20)
ALARMS = st.builds(Alarm, st.integers(0, 23), st.integers(0, 59), st.integers(0, 127), ON_OFF, LABELS, ON_OFF)


@pytest.fixture
def db():
    return Storage().create_database(data.ALARMS, data.SCHEMA)


@pytest.mark.parametrize(
    ("edit", "cells"),
    [
        ({"label": "gym"}, {"label": "gym"}), ({"hour": 9, "minute": 5}, {"hour": 9, "minutes": 5}),
        ({"days": 3}, {"daysofweek": 3}), ({"vibrate": False}, {"vibrate": 0}), ({"enabled": False}, {"enabled": 0}),
        ({"sound": "Argon"}, {"ringtone": "Argon"}), ({}, {}),
    ],
)  # fmt: skip
def test_an_edit_changes_what_it_is_about_and_nothing_else(db, edit, cells):
    known = {"hour": 7, "minutes": 0, "daysofweek": 1, "enabled": 1, "vibrate": 1, "label": "work", "ringtone": "Neon"}
    id = add_record(db, "alarm_templates", **known)
    add_record(db, "alarm_templates", **{**known, "hour": 8})
    before = records(db, "alarm_templates")
    alarm = next(alarm for alarm in data.alarms(db) if alarm.id == id)
    assert data.save(db, Alarm(**{**vars(alarm), **edit}), NOW) == id
    assert changed(before, records(db, "alarm_templates")) == [cells, {}]


@given(ALARMS, MOMENTS)
def test_an_alarm_rings_at_the_first_moment_that_fits(alarm, now):
    rings = alarm.rings(now)
    assert now < rings <= now + timedelta(days=8)
    assert (rings.hour, rings.minute, rings.second) == (alarm.hour, alarm.minute, 0)
    assert not alarm.days or alarm.days >> rings.weekday() & 1
    earlier = rings - timedelta(days=1)
    while earlier > now:
        assert alarm.days and not alarm.days >> earlier.weekday() & 1, "it could have rung before"
        earlier -= timedelta(days=1)


@given(st.lists(ALARMS, max_size=5))
def test_alarms_are_read_as_they_were_stored(alarms):
    db = Storage().create_database(data.ALARMS, data.SCHEMA)
    data.replace_all(db, alarms, NOW)
    stored = [Alarm(**{**vars(alarm), "id": id}) for id, alarm in enumerate(alarms, start=1)]
    assert data.alarms(db) == sorted(stored, key=lambda alarm: (alarm.hour, alarm.minute, alarm.id))
    scheduled = {id for (id,) in db.execute("SELECT alarm_id FROM alarm_instances")}
    assert scheduled == {alarm.id for alarm in stored if alarm.enabled}


def test_a_deleted_alarm_leaves_nothing(db):
    first, second = (data.save(db, Alarm(hour, 0), NOW) for hour in (7, 8))
    data.delete(db, first)
    assert [alarm.id for alarm in data.alarms(db)] == [second]
    assert db.execute("SELECT alarm_id FROM alarm_instances").fetchall() == [(second,)]


def test_a_new_alarm_gets_the_next_id(db):
    assert [data.save(db, Alarm(7, 0), NOW) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("hour", "shown"), [(0, "12:05\u200aAM"), (1, "1:05\u200aAM"), (12, "12:05\u200aPM"), (23, "11:05\u200aPM")]
)
def test_a_twelve_hour_clock(hour, shown):
    assert data.half_day(datetime(2023, 1, 1, hour, 5).time()) == shown


@given(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=6))
def test_cities_keep_their_order(names):
    assert data.cities(data.city_values(names)) == names
