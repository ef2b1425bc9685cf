"""What the checks of the Clock's families let pass, on the phone that each runs on."""

from dataclasses import replace

import pytest

from coach_gym.envs.apps.clock import data, lab_tasks, task_alarms, world_tasks
from coach_gym.envs.apps.clock.cities import time_in
from coach_gym.envs.apps.clock.lab import HOURS_AHEAD
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone import preferences
from coach_gym.envs.profiles import ANDROID_LAB
from coach_gym.ui import Node
from tests.envs.hands import Hands


@pytest.fixture(scope="module")
def made_device():
    return PhoneDevice(270, 600, ANDROID_LAB)


def alarms(device, change):
    """Stores what `change` makes of the alarms."""
    with device.database(data.ALARMS) as db:
        data.replace_all(db, change(data.alarms(db)), device.now)


def put(device, **values):
    known = lab_tasks.values(device)
    device.write(data.PREFERENCES, preferences.to_xml({**known, **values}))


CHANGES = {
    "hour": lambda a: replace(a, hour=(a.hour + 1) % 24), "minute": lambda a: replace(a, minute=(a.minute + 1) % 60),
    "days": lambda a: replace(a, days=a.days ^ 1), "off": lambda a: replace(a, enabled=not a.enabled),
    "label": lambda a: replace(a, label=f"{a.label}s"), "sound": lambda a: replace(a, sound="Argon"),
    "vibration": lambda a: replace(a, vibrate=not a.vibrate),
}  # fmt: skip


@pytest.mark.parametrize("wrong", CHANGES)
@pytest.mark.parametrize(
    "family", [lab_tasks.ClockAddAlarm, lab_tasks.ClockAddAlarmWithLabel, lab_tasks.ClockAddRepeatingAlarm]
)
def test_every_detail_of_a_new_alarm_counts(device, begin, family, wrong):
    task = begin(family)
    alarms(device, lambda there: [*there, task.added()])
    assert task.evaluate(device, None) == 1
    alarms(device, lambda there: [CHANGES[wrong](a) if a.time == task.added().time else a for a in there])
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("wrong", CHANGES)
@pytest.mark.parametrize(
    "family",
    [lab_tasks.ClockDeleteAlarm, lab_tasks.ClockSwitchAlarm, lab_tasks.ClockMoveAlarm, lab_tasks.ClockLabelAlarm],
)
def test_other_alarms_must_stay_as_they_are(device, begin, family, wrong):
    task = begin(family)
    alarms(device, lambda there: task.expected())
    assert task.evaluate(device, None) == 1
    other = task.others[0]
    alarms(device, lambda there: [CHANGES[wrong](a) if a.time == other.time else a for a in there])
    assert task.evaluate(device, None) == 0


def test_one_alarm_twice_is_one_too_many(device, begin):
    task = begin(lab_tasks.ClockAddAlarm)
    alarms(device, lambda there: [*task.expected(), task.added()])
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("hours", range(-1, 2))
def test_the_time_in_a_city_follows_the_phones_zone(device, hours):
    task = lab_tasks.ClockCityTime({"city": "Tokyo", "cities": ["Tokyo", "Lima"], "alarms": []})
    task.setup(device)
    there = time_in("Tokyo", device.now, HOURS_AHEAD + hours)
    assert task.evaluate(device, f"{there:%H:%M}") == float(hours == 0)
    assert task.evaluate(device, f"{there:%I:%M %p}") == float(hours == 0)


def test_a_city_must_come_after_those_that_were_there(device, begin):
    task = begin(lab_tasks.ClockAddCity)
    shown, city = task.params["cities"], task.params["city"]
    for cities, score in (([*shown, city], 1), ([city, *shown], 0), ([city], 0), ([*shown, city, city], 0)):
        put(device, **data.city_values(cities))
        assert task.evaluate(device, None) == score


@pytest.mark.parametrize(
    ("change", "score"),
    [({}, 1), ({"state": data.PAUSED}, 0), ({"length": 1000}, 0), ({"state": data.RESET}, 0)],
)
def test_a_timer_must_run_for_as_long_as_asked(device, begin, change, score):
    task = begin(lab_tasks.ClockStartTimer)
    length = 60_000 * task.params["minutes"]
    timer = data.Timer(length, length, data.RUNNING, data.milliseconds(device.now))
    data.save_timer(device.phone.storage, replace(timer, **change))
    assert task.evaluate(device, None) == score


def test_snoozing_must_be_the_only_setting_that_changes(device, begin):
    task = begin(lab_tasks.ClockSnoozeLength)
    put(device, snooze_duration=str(task.params["minutes"]))
    assert task.evaluate(device, None) == 1
    put(device, auto_silence="5")
    assert task.evaluate(device, None) == 0


def test_which_answers_tell_a_time(accepts):
    entries = [[7, 30, 0, True, "Gym"], [9, 0, 0, True, "Work"]]
    task = lab_tasks.ClockAlarmTime({"time": "07:30", "label": "Gym", "alarms": entries})
    accepts(task, right=("07:30", "7:30", "7:30 AM", "7:30\u200aAM", "7:30 a.m."), wrong=("19:30", "7:30 PM", "09:00"))


def test_which_answers_tell_a_number(accepts):
    entries = [[7, 30, 0, True, "Gym"], [9, 0, 0, True, "Work"], [10, 0, 0, False, "Nap"]]
    task = lab_tasks.ClockCountAlarms({"on_or_off": "on", "alarms": entries})
    accepts(task, right=("2", "2."), wrong=("1", "3", "two", "2 alarms", "12"))


def test_drawn_alarms_share_neither_hour_nor_label():
    from coach_gym.envs.tasks.words import ParamRng

    for seed in range(30):
        drawn = task_alarms.entries(ParamRng(seed), 5)
        assert len({hour for hour, *_ in drawn}) == len({label for *_, label in drawn}) == 5


@pytest.mark.parametrize(
    ("family", "shown", "reached"),
    [
        (world_tasks.ClockStopWatchRunning, ["Pause", "Lap"], True),
        (world_tasks.ClockStopWatchRunning, ["Start"], False),
        (world_tasks.ClockStopWatchPausedVerify, ["Stopwatch", "Stopwatch", "Start"], True),
        (world_tasks.ClockStopWatchPausedVerify, ["Stopwatch", "Stopwatch", "Pause"], False),
        (world_tasks.ClockStopWatchPausedVerify, ["Timer", "Stopwatch", "Start"], False),
    ],
)
def test_what_the_screen_has_to_show(family, shown, reached):
    assert family({"alarms": []}).reached([Node(text=text) for text in shown]) == reached


def test_a_timer_typed_is_read_off_the_display_and_nothing_else():
    task = world_tasks.ClockTimerEntry({"hours": 1, "minutes": 2, "seconds": 3, "alarms": []})
    display = f"{data.PACKAGE}:id/timer_setup_time"
    assert task.reached([Node(text="01h 02m 03s", id=display)])
    assert not task.reached([Node(text="01h 02m 04s", id=display)])
    assert not task.reached([Node(text="01h 02m 03s", id=f"{data.PACKAGE}:id/timer_time")])


def test_what_is_typed_in_the_search_for_cities_is_no_timer():
    device = PhoneDevice(270, 600)
    task = world_tasks.ClockTimerEntry({"hours": 1, "minutes": 2, "seconds": 3, "alarms": []})
    task.setup(device)
    hands = Hands(data.PACKAGE, phone=device.phone)
    hands.tap("Clock", "Add city", "Search for a city")
    hands.type("01h 02m 03s")
    assert "01h 02m 03s" in hands.ui and task.evaluate(device, None) == 0
