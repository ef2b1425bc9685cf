"""Experts of AndroidLab's Clock families where the list of alarms is longer than the screen."""

import pytest

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.apps.clock.lab_expert import _parsed
from coach_gym.envs.suites.play import play
from coach_gym.envs.tasks.words import EVENTS, ParamRng

TIMES = [(hour, 5 * (hour % 12)) for hour in (0, 1, 5, 7, 9, 11, 12, 13, 16, 19, 22, 23)]
LABELS = EVENTS.draw_many(ParamRng(0), len(TIMES))
ALARMS = [[h, m, h % 3, h % 2 == 0, label] for (h, m), label in zip(TIMES, LABELS, strict=True)]


@pytest.fixture(scope="module", params=[(270, 600), (360, 640)], ids=str)
def env(request):
    return AndroidEnv("android_lab", screen_size=request.param, max_steps=60)


def solve(env, task, **params):
    observation, info = env.reset(options={"task": task, "params": {"alarms": ALARMS, **params}})
    shown = play(env, observation, info)
    assert shown.reward == 1.0, shown.actions


@pytest.mark.parametrize("place", range(len(TIMES)))
def test_any_alarm_of_a_long_list_is_found_by_its_time(env, place):
    hour, minute, _, on, label = ALARMS[place]
    about = {"time": f"{hour:02d}:{minute:02d}", "label": label}
    solve(env, "ClockDeleteAlarm", **about)
    solve(env, "ClockSwitchAlarm", **about, on_or_off="off" if on else "on")


@pytest.mark.parametrize("place", range(len(TIMES)))
def test_any_alarm_of_a_long_list_is_found_by_its_label(env, place):
    hour, minute, _, _, label = ALARMS[place]
    about = {"time": f"{hour:02d}:{minute:02d}", "label": label}
    solve(env, "ClockAlarmTime", **about)
    solve(env, "ClockMoveAlarm", **about, new_time="03:35")


@pytest.mark.parametrize("place", [0, 5, 11])
def test_an_alarm_without_a_label_gets_one(env, place):
    alarms = [[*alarm[:4], "" if number == place else alarm[4]] for number, alarm in enumerate(ALARMS)]
    hour, minute, _, _, label = ALARMS[place]
    about = {"time": f"{hour:02d}:{minute:02d}", "label": label, "new_label": "Nap"}
    solve(env, "ClockLabelAlarm", **about, alarms=alarms)


@pytest.mark.parametrize("state", ["on", "off"])
def test_alarms_are_counted_over_all_pages(env, state):
    solve(env, "ClockCountAlarms", on_or_off=state)


@pytest.mark.parametrize("at", ["00:00", "00:35", "11:59", "12:00", "12:01", "23:55", "09:07"])
def test_any_time_can_be_set(env, at):
    solve(env, "ClockAddAlarm", time=at, alarms=[])


@pytest.mark.parametrize(
    ("text", "hour"), [("12:05\u200aAM", 0), ("1:05\u200aAM", 1), ("12:05\u200aPM", 12), ("11:05\u200aPM", 23)]
)
def test_times_are_read_off_a_twelve_hour_clock(text, hour):
    assert (_parsed(text).hour, _parsed(text).minute) == (hour, 5)
