"""The shell reads the phone's clock in the time zone that is set."""

from datetime import datetime

import pytest

from coach_gym.envs.phone.shell import run
from coach_gym.envs.profiles import lab_phone


def out(phone, command):
    return run(phone, command).stdout.decode()


ZONES = {  # at 15:34 in UTC
    "date": "Sun Oct 15 15:34:00 UTC 2023",
    "TZ=Asia/Tokyo date": "Mon Oct 16 00:34:00 JST 2023",
    "TZ=America/New_York date '+%T %z %:z %s %%s'": "11:34:00 -0400 -04:00 1697384040 %s",
    "TZ=XYZ-5:30 date; TZ='<+0530>-5:30' date +%Z": "Sun Oct 15 21:04:00 XYZ 2023\n+0530",
    "TZ=No/Zone date; TZ=localtime date +%Z; TZ=../../etc/localtime date +%Z": "Sun Oct 15 15:34:00 GMT 2023\nGMT\nGMT",
    "export TZ=Asia/Tokyo; date -u": "Sun Oct 15 15:34:00 UTC 2023",
    "TZ=Asia/Tokyo date -d '2024-01-01 12:00' +%s": "1704078000",
    "TZ=Asia/Tokyo date -d '2024-01-01 12:00Z'; date -I s": "Mon Jan  1 21:00:00 JST 2024\n2023-10-15T15:34:00+00:00",
    "setprop persist.sys.timezone Europe/Berlin; date; TZ=UTC date +%T": "Sun Oct 15 17:34:00 CEST 2023\n15:34:00",
    "service call alarm 3 s16 Asia/Tokyo > /dev/null; date +%Z": "JST",
    "service call alarm 3 s16 No/Zone > /dev/null; date +%Z; getprop persist.sys.timezone": "GMT\nGMT",
    "cmd alarm set-timezone No/Zone; date +%Z; cmd alarm set-time 1700000000000; date +%s": "GMT\n1700000000",
    "cmd alarm set-time 99999999999999; cmd alarm set-time; cmd alarm x; echo $?": "255",
    "export TZ=Asia/Tokyo; touch -d '2024-01-01 08:00' /sdcard/t; stat -c '%y %Y' /sdcard/t; date -r /sdcard/t +%H": (
        "2024-01-01 08:00:00.000000000 +0900 1704063600\n08"
    ),
    "touch -d '2024-01-01T08:00:00Z' /sdcard/t; TZ=Asia/Tokyo ls -ll /sdcard/t | cut -d' ' -f6-8": (
        "2024-01-01 17:00:00.000000000 +0900"
    ),
    "setprop persist.sys.timezone Asia/Tokyo; log x; logcat -dv time | tail -n 1 | cut -c1-14": "10-16 00:34:00",
    "TZ=Asia/Tokyo sqlite3 :memory: \"select datetime('now', 'localtime'), datetime('2024-01-01', 'utc')\"": (
        "2023-10-16 00:34:00|2023-12-31 15:00:00"
    ),
    "TZ=UTC; sqlite3 :memory: \"select time('now', 'localtime')\"; unset TZ; setprop persist.sys.timezone Asia/Tokyo; "
    "sqlite3 :memory: \"select time('now', 'localtime')\"": "15:34:00\n00:34:00",
    "TZ=Asia/Tokyo uptime | cut -c1-9": " 00:34:00",
    "log x; TZ=Asia/Tokyo logcat -d -t 1 -v time,UTC | tail -n 1 | cut -c1-14": "10-15 15:34:00",
    "setprop persist.sys.timezone Asia/Tokyo; dumpsys alarm | grep RTC": "  nowRTC=2023-10-16 00:34:00.000",
}


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_times_of_ages_away_have_every_zone(phone, day):
    for zone in ("Asia/Tokyo", "America/New_York"):
        run(phone, f"TZ={zone} touch -d {day} /sdcard/t")
        for other in ("UTC", "Asia/Tokyo", "America/New_York"):
            assert out(phone, f"TZ={other} ls -l /sdcard/t; TZ={other} date -r /sdcard/t +%:z").count("\n") == 2


@pytest.mark.parametrize(("command", "expected"), ZONES.items(), ids=ZONES)
def test_the_shell_follows_the_time_zone(phone, command, expected):
    assert out(phone, command) == f"{expected}\n"


def test_a_shells_zone_is_not_that_of_apps(phone):
    run(phone, "TZ=Asia/Tokyo sqlite3 /sdcard/new.db \"create table t as select time('now', 'localtime') as at\"")
    stored = phone.storage.database("/storage/emulated/0/new.db")
    assert stored.execute("SELECT at, time('now', 'localtime') FROM t").fetchone() == ("00:34:00", "15:34:00")


def test_a_time_is_set_in_the_zone_that_is_set(phone):
    run(phone, "setprop persist.sys.timezone Asia/Tokyo; date '2024-05-10 09:00:00'")
    assert phone.now == datetime(2024, 5, 10)
    twin = phone.fork()
    run(phone, "setprop persist.sys.timezone UTC")
    assert out(twin, "date; date -u +%T") == "Fri May 10 09:00:00 JST 2024\n00:00:00\n"


def test_the_clock_of_androidlabs_phone_is_shanghais():
    phone = lab_phone(270, 600)
    run(phone, "date '2024-05-10 12:00:00'")
    assert phone.now == datetime(2024, 5, 10, 12)
    assert out(phone, "date; TZ=UTC date") == "Fri May 10 12:00:00 CST 2024\nFri May 10 04:00:00 UTC 2024\n"
