"""Alarms and timers ring when their time has come, and what is done about it lasts."""

import time
from datetime import datetime, timedelta

import pytest

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.data import ALARMS, PACKAGE, PREFERENCES, RESET, RUNNING, Alarm, Timer
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.system.system import START
from coach_gym.envs.profiles import world_phone
from tests.envs.hands import SCREENS, Hands

DAILY = 0b1111111


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    return Hands(PACKAGE, request.param)


def set_alarm(hands, **values):
    alarm = Alarm(15, 40, label="Tea", **values)
    clock_data.replace_all(hands.storage.database(ALARMS), [alarm], hands.phone.now)


def stored(hands):
    (alarm,) = clock_data.alarms(hands.storage.database(ALARMS))
    return alarm


def run_until(hands, hour, minute, second=0):
    """As many small steps as it takes."""
    while hands.phone.now < START.replace(hour=hour, minute=minute, second=second):
        hands.phone.elapse(timedelta(seconds=7))


def shade(hands):
    return [(n.title, n.text) for n in hands.phone.notifications]


def pull_down(hands):
    hands.phone.shade = 1
    hands.phone.changed()


def test_an_alarm_rings_once_and_disturbs_no_screen(hands):
    set_alarm(hands)
    before = hands.phone.top
    run_until(hands, 15, 39, 50)
    assert shade(hands) == []
    run_until(hands, 15, 49)
    assert shade(hands) == [("Tea", "15:40")] and hands.phone.top is before


def test_a_stopped_alarm_is_off_unless_it_repeats(hands):
    for days, enabled in ((0, False), (DAILY, True)):
        hands.phone.now = START
        set_alarm(hands, days=days)
        run_until(hands, 15, 41)
        pull_down(hands)
        hands.tap("Tea")
        assert hands.shows("15:40") and hands.shows("Tea")
        hands.tap("Stop")
        assert stored(hands).enabled == enabled and not hands.shows("Stop")
        rows = hands.storage.database(ALARMS).execute("SELECT day, hour, alarm_state FROM alarm_instances").fetchall()
        assert rows == ([(16, 15, 0)] if enabled else [])


def test_a_snoozed_alarm_rings_again_after_the_minutes_of_the_settings(hands):
    preferences.update(hands.storage, PREFERENCES, {"snooze_duration": "5"})
    set_alarm(hands)
    run_until(hands, 15, 41)
    pull_down(hands)
    hands.tap("Tea", "Snooze")
    assert hands.shows("Snoozing for 5 minutes") and shade(hands) == []
    run_until(hands, 15, 45, 50)
    assert shade(hands) == []
    run_until(hands, 15, 47)
    assert [title for title, _ in shade(hands)] == ["Tea"]


@pytest.mark.parametrize("days", [0, DAILY])
def test_an_alarm_that_nobody_hears_falls_silent_and_counts_as_missed(days):
    hands = Hands(PACKAGE)
    set_alarm(hands, days=days)
    run_until(hands, 15, 52)
    assert shade(hands) == [("Missed alarm", "15:40 Tea"), ("Tea", "15:40")]
    assert stored(hands).enabled == bool(days)


def test_an_alarm_can_be_told_never_to_fall_silent():
    hands = Hands(PACKAGE)
    preferences.update(hands.storage, PREFERENCES, {"auto_silence": "-1"})
    set_alarm(hands)
    run_until(hands, 16, 30)
    assert shade(hands) == [("Tea", "15:40")] and stored(hands).enabled


def test_an_alarm_that_is_off_or_deleted_does_not_ring(hands):
    set_alarm(hands, enabled=False)
    run_until(hands, 15, 45)
    assert shade(hands) == []
    hands.phone.now = START
    set_alarm(hands)
    run_until(hands, 15, 41)
    clock_data.delete(hands.storage.database(ALARMS), 1)
    pull_down(hands)
    hands.tap("Tea")
    assert hands.shows("Nothing rings any more")
    hands.tap("Close")


def test_a_clock_that_is_set_rings_nothing(hands):
    set_alarm(hands)
    hands.phone.now = datetime(2023, 10, 15, 18, 0)
    hands.phone.elapse(timedelta(seconds=1))
    assert shade(hands) == []


def start_timer(hands, seconds):
    length = 1000 * seconds
    clock_data.save_timer(hands.storage, Timer(length, length, RUNNING, clock_data.milliseconds(hands.phone.now)))


def timer(hands):
    return clock_data.timers(preferences.load(hands.storage, PREFERENCES))[0]


def test_a_timer_says_when_its_time_is_up_and_stops(hands):
    start_timer(hands, 60)
    hands.phone.elapse(timedelta(seconds=59))
    assert shade(hands) == []
    hands.phone.elapse(timedelta(seconds=11))
    hands.phone.elapse(timedelta(seconds=10))
    assert shade(hands) == [("Timer", "Time's up")]
    pull_down(hands)
    hands.tap("Timer")
    assert hands.shows("Time's up")
    hands.tap("Stop")
    assert timer(hands).state == RESET and timer(hands).left == 60_000


def test_a_timer_can_get_another_minute(hands):
    start_timer(hands, 5)
    hands.phone.elapse(timedelta(seconds=20))
    pull_down(hands)
    hands.tap("Timer", "Add 1 minute")
    assert 57_000 <= timer(hands).remaining(hands.phone.now) <= 60_000 and timer(hands).length == 5000
    hands.phone.elapse(timedelta(seconds=70))
    assert shade(hands) == [("Timer", "Time's up")]


def test_what_rings_is_part_of_a_snapshot(hands):
    set_alarm(hands)
    saved = hands.phone.snapshot()
    for _ in range(2):
        run_until(hands, 15, 41)
        pull_down(hands)
        hands.tap("Tea", "Stop")
        hands.phone.restore(saved)
        assert shade(hands) == [] and stored(hands).enabled


def test_passing_time_costs_next_to_nothing():
    phone = world_phone(270, 600)
    start = time.process_time()
    for _ in range(2000):
        phone.elapse(timedelta(seconds=1))
    assert (time.process_time() - start) / 2000 < 2e-4
