"""What Android's alarm service and the settings tell of the Clock's alarms and timers."""

from datetime import timedelta

import pytest

from coach_gym.envs.apps.clock.data import ALARMS
from coach_gym.envs.phone.shell import run

EXTRA = "android.intent.extra.alarm"
SET_ALARM = f"am start -a android.intent.action.SET_ALARM --ei {EXTRA}.HOUR 7 --ei {EXTRA}.MINUTES 30 > /dev/null"
SET_TIMER = f"am start -a android.intent.action.SET_TIMER --ei {EXTRA}.LENGTH 300 > /dev/null"
NEXT = "settings get system next_alarm_formatted"


def out(phone, command):
    return run(phone, command).stdout.decode()


def test_an_alarm_is_pending_until_it_rings(phone):
    assert "  0 pending alarms:\n" in out(phone, "dumpsys alarm") and out(phone, NEXT) == "null\n"
    told = out(phone, f"{SET_ALARM}; dumpsys alarm")
    assert "  1 pending alarms:\n" in told and "com.google.android.deskclock}" in told
    assert "      Alarm clock:\n        triggerTime=2023-10-16 07:30:00.000\n" in told
    assert out(phone.fork(), NEXT) == "Mon 07:30\n"
    phone.elapse(timedelta(days=1))
    assert "  0 pending alarms:\n" in out(phone, "dumpsys alarm") and out(phone, NEXT) == "null\n"


@pytest.mark.parametrize(("hours", "told"), [("12", "Mon 7:30 AM"), ("24", "Mon 07:30")])
def test_the_next_alarm_is_a_setting_that_is_not_stored(phone, hours, told):
    before = phone.storage.settings | {("system", "time_12_24"): hours}
    run(phone, f"{SET_ALARM}; settings put system time_12_24 {hours}")
    assert out(phone, NEXT) == f"{told}\n" and f"next_alarm_formatted={told}\n" in out(phone, "settings list system")
    row = "content query --uri content://settings/system/next_alarm_formatted"
    assert out(phone, row).endswith(f"value={told}\n") and phone.storage.settings == before


def test_a_timer_wakes_the_clock_but_is_no_alarm(phone):
    told = out(phone, f"{SET_TIMER}; dumpsys alarm")
    assert "TIMER_EXPIRED\n      type=RTC_WAKEUP origWhen=2023-10-15 15:39:00.000" in told
    assert "Alarm clock:" not in told and out(phone, NEXT) == "null\n"


def test_times_are_those_of_the_zone_that_is_set(phone):
    told = out(phone, f"{SET_ALARM}; setprop persist.sys.timezone Asia/Tokyo; dumpsys alarm")
    assert "triggerTime=2023-10-16 07:30:00.000" in told and "time:1697409000000 = 2023-10-16 07:30" in told


def test_a_date_that_is_none_never_comes(phone):
    run(
        phone,
        f'{SET_ALARM}; sqlite3 {ALARMS} "UPDATE alarm_instances SET month = 12; INSERT INTO alarm_instances'
        " SELECT NULL, 'x', month, day, hour, minutes, vibrate, label, ringtone, 0, NULL FROM alarm_instances\"",
    )
    assert "  0 pending alarms:\n" in out(phone, "dumpsys alarm")
