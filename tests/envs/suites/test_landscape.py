"""Experts solve tasks on a screen on its side, where pages and dialogs have little height."""

import gymnasium as gym
import pytest

import coach_gym  # noqa: F401
from coach_gym.envs.suites.play import play


@pytest.mark.parametrize(
    "task",
    [
        "AndroidWorld/ClockTimerEntry",  # a keypad beside what it types
        "AndroidWorld/MarkorCreateNote",  # the buttons of a dialog above the keyboard
        "AndroidWorld/SimpleSmsResend",  # a list that leaves room for what is typed
        "AndroidWorld/MarkorTranscribeVideo",  # a picture that leaves room for its controls
        "AndroidWorld/ContactsAddContact",  # a form that scrolls
        "AndroidWorld/TasksSetDueDate",  # a calendar that scrolls in a dialog
        "AndroidWorld/BrowserMultiply",  # a verdict below the keyboard
        "AndroidLab/ClockSwitchAlarm",  # a list of which two rows are seen
        "AndroidLab/ContactsCountAtCompany",  # rows to be counted over several pages
        "AndroidLab/MapsNavigate",  # a map that leaves room for the way's description
    ],
)
def test_a_task_can_be_solved_on_a_screen_on_its_side(task):
    env = gym.make(f"{task}-v0", screen_size=(600, 270), max_steps=60, disable_env_checker=True)
    shown = play(env, *env.reset(seed=3))
    assert shown.info.get("is_success"), shown.info
