"""Clock by touch: alarms are rows of its database; timers, stopwatch, cities and settings its preferences."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.app import APP
from coach_gym.envs.apps.clock.cities import OFFSETS
from coach_gym.envs.apps.clock.data import PAUSED, RESET, RUNNING, Alarm
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.tasks import answers, words
from coach_gym.ui import parse_ui
from tests.envs.hands import SCREENS, Hands

SUNDAY = datetime(2023, 10, 15, 15, 34)


@pytest.fixture
def hands():
    return Hands(APP.package)


@pytest.fixture(params=SCREENS, ids=str)
def any_hands(request):
    return Hands(APP.package, request.param)


def alarms(hands):
    return clock_data.alarms(hands.storage.database(clock_data.ALARMS))


def instances(hands):
    columns = "year, month + 1, day, hour, minutes, alarm_id"
    return hands.storage.database(clock_data.ALARMS).execute(f"SELECT {columns} FROM alarm_instances").fetchall()


def stored(hands):
    return preferences.load(hands.storage, clock_data.PREFERENCES)


def keep(hands, *kept):
    """Makes these the only alarms."""
    clock_data.replace_all(hands.storage.database(clock_data.ALARMS), kept, hands.phone.now)
    hands.phone.changed()


# alarms


def test_a_new_phone_has_the_two_alarms_of_the_app_both_off(hands):
    assert [(alarm.time, alarm.days, alarm.enabled) for alarm in alarms(hands)] == [
        ("08:30", 0b0011111, False),
        ("09:00", 0b1100000, False),
    ]
    assert hands.shows("08:30, Mon, Tue, Wed, Thu, Fri") and instances(hands) == []


def test_an_added_alarm_is_on_scheduled_and_unfolded(any_hands):
    keep(any_hands)
    assert any_hands.shows("No alarms")
    any_hands.tap("Add alarm", "7 hours", "25 minutes", "OK")
    assert alarms(any_hands) == [Alarm(7, 25, id=1)]
    assert instances(any_hands) == [(2023, 10, 16, 7, 25, 1)]
    assert any_hands.shows("Collapse alarm")
    assert any_hands.shows("Alarm set for 15 hours and 50 minutes from now.")


def test_cancelling_the_time_picker_adds_nothing(hands):
    hands.tap("Add alarm", "7 hours", "Cancel", "Add alarm")
    hands.back()
    assert len(alarms(hands)) == 2


def test_an_unfolded_alarm_gets_label_days_sound_and_vibration(any_hands):
    keep(any_hands, Alarm(6, 30))
    any_hands.tap("06:30", "Add label", "Label")
    any_hands.type("Early bus")
    any_hands.tap("OK", "Saturday", "Tuesday", "Monday", "Tuesday", "Alarm sound", "Krypton", "Vibrate")
    (alarm,) = alarms(any_hands)
    assert alarm == Alarm(6, 30, 0b0100001, True, "Early bus", False, "Krypton", 1)
    any_hands.tap("Collapse alarm")
    assert any_hands.shows("06:30, Early bus, Mon, Sat")
    assert instances(any_hands) == [(2023, 10, 16, 6, 30, 1)]


def test_a_switch_schedules_and_unschedules(hands):
    keep(hands, Alarm(6, 30, enabled=False), Alarm(18, 0))
    assert hands.shows("06:30, Not scheduled") and hands.shows("18:00, Today")
    switch = {e.label: e for e in hands.elements if e.id == "onoff"}
    hands.phone.tap(*switch["06:30"].center)
    hands.phone.tap(*switch["18:00"].center)
    assert [alarm.enabled for alarm in alarms(hands)] == [True, False]
    assert instances(hands) == [(2023, 10, 16, 6, 30, 1)]
    assert hands.shows("06:30, Tomorrow") and hands.shows("18:00, Not scheduled")


def test_changing_the_time_switches_the_alarm_on_and_keeps_the_list_sorted(hands):
    keep(hands, Alarm(6, 30, enabled=False, label="Run"), Alarm(7, 0))
    hands.tap("06:30, Run, Not scheduled", "06:30", "8 hours", "0 minutes", "OK")
    assert [(alarm.time, alarm.label, alarm.enabled) for alarm in alarms(hands)] == [
        ("07:00", "", True),
        ("08:00", "Run", True),
    ]


def test_deleting_removes_the_alarm_and_its_schedule(hands):
    keep(hands, Alarm(6, 30), Alarm(7, 0))
    hands.tap("06:30", "Delete")
    assert [alarm.time for alarm in alarms(hands)] == ["07:00"] and len(instances(hands)) == 1
    assert hands.shows("Alarm deleted")


def test_a_long_list_of_alarms_scrolls_to_its_end_above_the_button(any_hands):
    keep(any_hands, *(Alarm(hour, 0) for hour in range(24)))
    assert not any_hands.shows("23:00")
    width, height = any_hands.phone.width, any_hands.phone.height
    for _ in range(12):
        any_hands.phone.swipe((width // 2, height * 2 // 3), (width // 2, height // 3))
    last, add = any_hands.find("23:00"), any_hands.find("Add alarm")
    assert last.bounds[3] <= add.bounds[1]


@pytest.mark.parametrize(
    ("alarm", "rings"),
    [
        (Alarm(15, 35), "2023-10-15 15:35"),
        (Alarm(15, 34), "2023-10-16 15:34"),  # now is too late
        (Alarm(15, 34, days=0b1000000), "2023-10-22 15:34"),  # Sundays: in a week
        (Alarm(8, 0, days=0b0000100), "2023-10-18 08:00"),
    ],
)
def test_when_an_alarm_rings(alarm, rings):
    assert alarm.rings(SUNDAY) == datetime.fromisoformat(rings)


# timers


def test_the_keypad_shows_what_was_typed_as_a_duration(any_hands):
    any_hands.tap("Timer")
    assert any_hands.shows("00h 00m 00s") and not any_hands.shows("Start")
    any_hands.tap("0", "1", "2", "00", "5")
    assert any_hands.shows("01h 20m 05s") and any_hands.shows("1 hours, 20 minutes, 5 seconds")
    any_hands.tap("Delete")
    assert any_hands.shows("00h 12m 00s")
    any_hands.tap("3", "4", "5")  # the sixth digit is the last that fits
    assert any_hands.shows("12h 00m 34s")
    any_hands.tap("Alarm", "Timer")
    assert any_hands.shows("12h 00m 34s") and "timers_list" not in stored(any_hands)


def test_a_timer_runs_on_the_phones_clock_pauses_and_resets(hands):
    hands.tap("Timer", "5", "00", "Start")
    (timer,) = clock_data.timers(stored(hands))
    assert (timer.length, timer.state) == (300_000, RUNNING)
    hands.phone.elapse(timedelta(seconds=99))
    assert reading(hands, "timer_time") == "3:20"
    hands.tap("Pause")
    hands.phone.elapse(timedelta(hours=1))
    assert clock_data.timers(stored(hands))[0].state == PAUSED and reading(hands, "timer_time") == "3:20"
    hands.tap("Add 1 minute to timer", "Start")
    assert reading(hands, "timer_time") == "4:19"
    hands.phone.elapse(timedelta(minutes=5))
    assert reading(hands, "timer_time") == "-41"
    hands.tap("Reset")
    assert clock_data.timers(stored(hands))[0].state == RESET and reading(hands, "timer_time") == "5:00"


def reading(hands, id):
    return next(e.label for e in hands.elements if e.id == id)


def test_several_timers_are_listed_and_each_can_be_deleted(hands):
    hands.tap("Timer", "1", "00", "Start", "Add timer", "2", "00", "00", "Start")
    assert hands.shows("2h Timer") and hands.shows("1m Timer")
    hands.tap("Add timer", "7", "Cancel", "Delete timer")
    assert [timer.length for timer in clock_data.timers(stored(hands))] == [60_000]
    hands.tap("Delete timer")
    assert hands.shows("00h 00m 00s") and clock_data.timers(stored(hands)) == []


# stopwatch


def test_the_stopwatch_runs_laps_pauses_and_resets(any_hands):
    any_hands.tap("Stopwatch")
    assert [e.label for e in any_hands.elements].count("Stopwatch") == 2 and not any_hands.shows("Lap")
    any_hands.tap("Start")
    any_hands.phone.elapse(timedelta(seconds=9))
    assert reading(any_hands, "stopwatch_time_text") == "00:10.00"
    any_hands.tap("Lap")
    any_hands.phone.elapse(timedelta(minutes=61))
    any_hands.tap("Lap")
    assert any_hands.shows("# 1  00:10.00  00:10.00") and any_hands.shows("# 2  1:01:01.00  1:01:11.00")
    any_hands.tap("Pause")
    any_hands.phone.elapse(timedelta(minutes=5))
    assert reading(any_hands, "stopwatch_time_text") == "1:01:12.00" and not any_hands.shows("Lap")
    any_hands.tap("Start", "Reset")
    assert reading(any_hands, "stopwatch_time_text") == "00:00.00" and not any_hands.shows("# 1  00:10.00  00:10.00")


def test_the_stopwatch_goes_on_while_another_app_is_in_front(hands):
    hands.tap("Stopwatch", "Start")
    hands.phone.key("HOME")
    hands.phone.elapse(timedelta(seconds=28))
    hands.phone.launch(APP.package)
    assert reading(hands, "stopwatch_time_text") == "00:30.00"


# cities


def test_a_city_is_searched_added_shown_with_its_time_and_deleted(any_hands):
    any_hands.tap("Clock", "Add city", "Search for a city")
    any_hands.type("to")
    assert [e.label for e in any_hands.elements if e.clickable][-2:] == ["Tokyo", "Toronto"]
    any_hands.tap("Tokyo")
    assert any_hands.shows("Tokyo, Tomorrow, 9 hours ahead, 00:34")
    any_hands.tap("Add city", "Boston")
    assert clock_data.cities(stored(any_hands)) == ["Tokyo", "Boston"]
    assert any_hands.shows("Boston, Today, 4 hours behind, 11:34")
    any_hands.hold("Tokyo")
    any_hands.tap("Delete")
    assert clock_data.cities(stored(any_hands)) == ["Boston"]


def test_a_city_is_shown_once_and_an_unknown_one_not_at_all(hands):
    hands.tap("Clock", "Add city", "Accra", "Add city", "Accra", "Add city", "Search for a city")
    assert clock_data.cities(stored(hands)) == ["Accra"]
    hands.type("Atlantis")
    assert hands.shows("No cities found")


def test_every_city_that_tasks_name_has_a_time():
    assert set(words.CITIES.all) <= set(OFFSETS)


# settings


def test_settings_are_kept_in_the_preferences_and_change_what_they_say(hands):
    hands.tap("More options", "Settings", "Snooze length", "25 minutes", "Start week on", "Monday")
    hands.tap("Display time with seconds")
    assert stored(hands) == {"snooze_duration": "25", "week_start": "Monday", "display_clock_seconds": True}
    assert hands.find("Snooze length").label == "Snooze length, 25 minutes"
    hands.back()
    assert hands.shows("09:00, Sat, Sun")
    hands.tap("Clock")
    assert reading(hands, "digital_clock") == hands.phone.now.strftime("%H:%M:%S")


def test_back_closes_menu_dialog_and_screen_in_turn_and_then_the_app(hands):
    hands.tap("More options", "Settings", "Silence after")
    for expected in ("Silence after", "Add alarm"):
        hands.back()
        assert hands.shows(expected)
    hands.back()
    assert hands.phone.foreground == hands.phone.launcher.package


def test_a_snapshot_in_the_middle_of_an_edit_is_exact(any_hands):
    phone = any_hands.phone
    any_hands.tap("Add alarm", "7 hours", "30 minutes", "OK", "Add label", "Label")
    any_hands.type("Half")
    saved, text, frame = phone.snapshot(), any_hands.ui, phone.screenshot()
    any_hands.tap("OK", "Delete")
    any_hands.tap("Stopwatch", "Start")
    phone.restore(saved)
    assert any_hands.ui == text and np.array_equal(phone.screenshot(), frame) and stored(any_hands) == {}
    any_hands.type(" way")
    any_hands.tap("OK")
    assert [alarm.label for alarm in alarms(any_hands)] == ["Half way", "", ""]


# what Clock stands on


def test_preferences_survive_being_written_and_read():
    values = {
        "flag": True, "count": 3, "moment": 1 << 40, "share": 0.5, "name": 'a <b> & "c" \n', "none": "",
        "set": frozenset({"1", "<2>"}),
    }  # fmt: skip
    assert preferences.from_xml(preferences.to_xml(values)) == values
    storage = Storage()
    preferences.update(storage, "/data/p.xml", values)
    preferences.update(storage, "/data/p.xml", {"flag": None, "count": 4})
    assert preferences.load(storage, "/data/p.xml") == {k: v for k, v in values.items() if k != "flag"} | {"count": 4}


def test_preferences_are_in_androids_own_format():
    text = preferences.to_xml({"sw_state": 1, "sw_start_time": 1697384041000, "on": False}).decode()
    assert '<int name="sw_state" value="1" />' in text and '<long name="sw_start_time" value="1697384041000" />' in text
    assert '<boolean name="on" value="false" />' in text


@pytest.mark.parametrize(
    ("answer", "right"),
    [("07:30", True), ("7:30", True), ("7:30 AM", True), ("7:30 pm", False), ("07:30 or 08:30", False), ("", False),
     (None, False), ("730", False)],
)  # fmt: skip
def test_an_answer_is_one_time_of_day(answer, right):
    assert answers.same_time(answer, "07:30") is right
    assert answers.same_time("12:05 am", "00:05") and answers.same_time("12:05 p.m.", "12:05")


def test_the_keypad_and_the_cards_fit_small_screens():
    hands = Hands(APP.package, (360, 640))
    hands.tap("Timer", "9")
    keys = [e for e in parse_ui(hands.ui) if e.label in ("Delete", "00", "0")]
    assert len(keys) == 3 and all(e.bounds[3] < hands.find("Start").bounds[3] for e in keys)
