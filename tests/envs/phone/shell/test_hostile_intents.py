"""Intents and rows with values that no app expects: the phone goes on, and is drawn."""

import pytest

from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.phone.shell import run

AGES = "99999999999999999"
BYTES = "$(printf '\\xff\\xed\\xa0\\x80')"
COMMANDS = [
    f"am start -a android.intent.action.INSERT -t vnd.android.cursor.item/event --el beginTime {AGES} --el endTime 0",
    f"am start -a android.intent.action.VIEW -d content://com.android.calendar/time/{AGES}",
    f'am start -a android.intent.action.WEB_SEARCH --es query "{BYTES}"',
    f'am start -a android.intent.action.SENDTO -d "smsto:5{BYTES}" --es sms_body "{BYTES}"',
    f'am start -a android.intent.action.SEND -t text/plain --es android.intent.extra.TEXT "{BYTES}"',
    f'am broadcast -a ADB_INPUT_TEXT --es msg "{BYTES}"',
    "am start -a android.intent.action.SET_ALARM --ei android.intent.extra.alarm.HOUR 99 --ez"
    " android.intent.extra.alarm.SKIP_UI true",
    "am start -a android.intent.action.SET_TIMER --ei android.intent.extra.alarm.LENGTH -2147483648",
    *(
        f"content insert --uri content://sms --bind address:s:5 --bind body:s:x --bind date:l:{date};"
        " am start -n com.simplemobiletools.smsmessenger/.activities.MainActivity"
        for date in (AGES, f"-{AGES}", "253402300799999", "-62135596800000")
    ),
    *(
        f"content insert --uri content://sms --bind address:s:5 --bind body:s:x --bind type:i:{kind};"
        " am start -a android.intent.action.SENDTO -d smsto:5"
        for kind in (0, 3, 4, 6, 77)
    ),
    *(
        f"content insert --uri content://call_log/calls --bind number:s:1 --bind type:i:77 --bind date:l:{date};"
        " am start -n com.google.android.dialer/.extensions.GoogleDialtactsActivity"
        for date in (AGES, f"-{AGES}")
    ),
    *(
        f"content insert --uri content://com.android.calendar/events --bind title:s:x --bind calendar_id:i:1"
        f" --bind dtstart:l:{date} --bind dtend:l:{date}; am start -n"
        " com.simplemobiletools.calendar.pro/.activities.MainActivity"
        for date in (AGES, f"-{AGES}")
    ),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_phone_goes_on(phone, command):
    output = run(phone, f"{command}; content query --uri content://sms; dumpsys activity top; uiautomator dump")
    assert b"UI hierchary dumped" in output.stdout
    assert phone.screenshot().any()
    phone.tap(135, 300)
    phone.key("BACK")
    assert phone.screenshot().any() and phone.digest()


def test_times_out_of_reach_are_the_nearest():
    assert from_seconds(1e30).year == 9998 and from_seconds(-1e30).year == 1
    assert to_seconds(from_seconds(1_697_384_041)) == 1_697_384_041
