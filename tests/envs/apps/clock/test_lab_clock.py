"""The Clock of AndroidLab's phone."""

import pytest

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.phone import preferences
from coach_gym.envs.profiles import lab_phone
from coach_gym.envs.suites.official_lab import compressed
from coach_gym.ui import to_dump
from tests.envs.hands import Hands


@pytest.fixture
def clock():
    return Hands(clock_data.PACKAGE, phone=lab_phone(360, 800))


def alarms(clock):
    return clock_data.alarms(clock.storage.database(clock_data.ALARMS))


def pick(clock, half, hour, minute=None):
    clock.tap(half, f"{hour} hours")
    if minute is not None:
        clock.tap(f"{minute} minutes")
    clock.tap("OK")


def test_alarms_are_shown_on_a_twelve_hour_clock(clock):
    times = [element.label for element in clock.elements if element.id == "digital_clock"]
    assert times == ["7:30\u200aAM", "9:00\u200aAM", "11:15\u200aAM", "4:00\u200aPM"]


@pytest.mark.parametrize(
    ("half", "hour", "stored"), [("AM", 12, 0), ("PM", 12, 12), ("AM", 7, 7), ("PM", 4, 16), ("PM", 11, 23)]
)
def test_hours_before_and_after_noon(clock, half, hour, stored):
    clock.tap("Add alarm")
    pick(clock, half, hour, 5)
    assert (stored, 5) in [(alarm.hour, alarm.minute) for alarm in alarms(clock)]


def test_hours_can_be_typed(clock):
    clock.tap("Add alarm", "Switch to text input", "Hour")
    clock.type("12")
    clock.tap("Minute")
    clock.type("7")
    clock.tap("AM", "OK")
    assert (0, 7) in [(alarm.hour, alarm.minute) for alarm in alarms(clock)]


def test_half_of_the_day_can_be_turned_after_the_hour(clock):
    clock.tap("Add alarm", "AM", "9 hours", "PM", "OK")
    assert 21 in [alarm.hour for alarm in alarms(clock)]


def test_an_alarm_is_unfolded_changed_and_deleted(clock):
    clock.tap("Expand alarm", "Add label", "Label")
    clock.type("early")
    clock.tap("OK", "Vibrate", "Sunday", "Ringtone", "Argon")
    first = alarms(clock)[0]
    assert (first.label, first.vibrate, first.sound, first.days) == ("early", False, "Argon", 0b1011111)
    clock.tap("Collapse alarm", "Expand alarm", "Delete")
    assert [alarm.hour for alarm in alarms(clock)] == [9, 11, 16]


def test_the_switch_tells_its_time_and_turns_the_alarm_off(clock):
    switch = next(element for element in clock.elements if element.id == "onoff")
    assert switch.checkable and switch.checked and switch.desc == ""
    clock.phone.tap(*switch.center)
    assert not alarms(clock)[0].enabled


def test_an_alarm_lies_flat_in_the_compressed_screen(clock):
    tree = compressed.tree(to_dump(clock.phone.ui()))[compressed.TITLE]
    words = [key.rpartition(";")[2].strip() for key in tree]
    at = words.index("7:30\u200aAM")
    assert words[at : at + 4] == ["7:30\u200aAM", "Mon, Tue, Wed, Thu, Fri", "Expand alarm", "Alarm"]


def test_the_chosen_tab_can_have_the_focus_but_not_be_touched(clock):
    tabs = {node.desc: node for node in clock.phone.ui().walk() if node.cls == "android.widget.FrameLayout"}
    assert (tabs["Alarm"].selected, tabs["Alarm"].clickable, tabs["Alarm"].focusable) == (True, False, True)
    assert (tabs["Clock"].selected, tabs["Clock"].clickable) == (False, True)


def test_cities_are_compared_with_shanghai(clock):
    clock.tap("Clock", "Add city", "Search for a city")
    clock.type("Barc")
    clock.tap("Barcelona")
    assert "Today, 6 hours behind" in clock.ui
    clock.hold("Barcelona")
    clock.tap("Delete")
    assert not clock.shows("Barcelona")


def test_bedtime_is_kept(clock):
    clock.tap("Bedtime", "Bedtime 11:00\u200aPM")
    pick(clock, "PM", 10)
    clock.tap("Sunrise alarm", "sleep sound None", "Rainfall")
    assert clock.shows("Bedtime 10:00\u200aPM") and clock.shows("sleep sound Rainfall")
    values = preferences.load(clock.storage, clock_data.PREFERENCES)
    assert (values["bedtime"], values["wakeup_alarm"], values["sleep_sound"]) == ("22:00", True, "Rainfall")


def test_settings_have_a_style_and_a_home(clock):
    clock.tap("More options", "Settings", "Style", "Analog", "Home time zone", "(GMT+9:00) Osaka, Tokyo")
    values = preferences.load(clock.storage, clock_data.PREFERENCES)
    assert (values["clock_style"], values["home_time_zone"]) == ("analog", "(GMT+9:00) Osaka, Tokyo")
    assert clock.shows("Silence after")
    clock.back()
    clock.tap("Clock")
    assert [element.id for element in clock.elements if element.label == "3:34\u200aPM"] == ["analog_clock"]
