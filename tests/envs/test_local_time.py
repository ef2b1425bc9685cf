"""Apps show times in the time zone that is set, and store them as before."""

import gc
import weakref
from datetime import datetime

import pytest

from coach_gym.envs.apps.calendar.data import DATABASE, PACKAGE
from coach_gym.envs.apps.tasks import data as tasks
from coach_gym.envs.phone.providers import call_log, contacts, telephony
from coach_gym.envs.phone.shell import run
from coach_gym.envs.profiles import lab_phone
from tests.envs.hands import Hands

NEW_YORK = "setprop persist.sys.timezone America/New_York"  # four hours behind UTC in October
WAYS = (NEW_YORK, "cmd alarm set-timezone America/New_York", "service call alarm 3 s16 America/New_York")


def out(phone, command):
    return run(phone, command).stdout.decode()


def texts(phone):
    return [node.text for node in phone.ui().walk() if node.text]


class Abroad(Hands):
    """An app in New York, at noon of the day on which the phone is made."""

    def __init__(self, package, before=lambda phone: None):
        super().__init__(package)
        self.phone.now = datetime(2023, 10, 15, 16)
        before(self.phone)
        run(self.phone, NEW_YORK)


@pytest.mark.parametrize("way", WAYS)
def test_the_status_bar_shows_what_date_prints(phone, way):
    assert "15:34" in texts(phone)
    run(phone, way)
    assert out(phone, "date +%H:%M") == "11:34\n" and "11:34" in texts(phone)
    twin = phone.fork()
    run(phone, "setprop persist.sys.timezone Asia/Tokyo")
    assert "00:34" in texts(phone) and "Mon, Oct 16" in texts(phone) and "11:34" in texts(twin)


def test_the_clock_rings_at_its_hour_wherever_it_is():
    clock = Abroad("com.google.android.deskclock")
    run(clock.phone, "am start -a android.intent.action.SET_ALARM --ei android.intent.extra.alarm.HOUR 13")
    assert "triggerTime=2023-10-15 13:00" in out(clock.phone, "dumpsys alarm")
    assert "next_alarm_formatted=Sun 13:00" in out(clock.phone, "settings list system")
    clock.phone.now = datetime(2023, 10, 15, 16, 59)
    run(clock.phone, "sleep 60")
    assert [each.text for each in clock.phone.notifications] == ["13:00"]
    clock.tap("Clock")
    assert "13:00" in clock.ui and "Sun, Oct 15" in clock.ui


def test_the_world_clock_compares_with_the_zone_that_is_set():
    clock = Abroad("com.google.android.deskclock")
    clock.tap("Clock")
    for city, told in (("Tokyo", "13 hours ahead"), ("Boston", "same time"), ("Auckland", "17 hours ahead")):
        clock.tap("Add city", "Search for a city")
        clock.type(city)
        clock.tap(city)
        assert told in clock.ui
    run(clock.phone, "setprop persist.sys.timezone Etc/GMT+12")
    assert "Tomorrow, 25 hours ahead" in clock.ui


def test_messages_and_calls_are_of_the_local_day():
    def deliver(phone):
        telephony.deliver(phone, "+1555", "hello")
        call_log.add(call_log.opened(phone.storage), "+1555", call_log.MISSED, phone.now)

    app = Abroad("com.simplemobiletools.smsmessenger", deliver)
    assert "12:00" in app.ui
    app.tap("+1555")
    assert "12:00" in app.ui
    app.phone.launch("com.google.android.dialer")
    app.tap("Recents")
    assert "Oct 15 12:00" in app.ui


def test_events_take_place_at_local_times():
    insert = "INSERT INTO events (title, start_ts, end_ts, flags) VALUES"
    rows = f"{insert} ('Dinner', 1697425200, 1697428800, 0), ('Fair', 1697414400, 1697457600, 1)"  # 3 and 0 o'clock
    app = Abroad(PACKAGE, lambda phone: run(phone, f'sqlite3 {DATABASE} "{rows}"'))
    stored = app.storage.database(DATABASE).execute
    assert stored("SELECT datetime(start_ts, 'unixepoch', 'localtime') FROM events").fetchall() == [
        ("2023-10-15 23:00:00",), ("2023-10-15 20:00:00",),
    ]  # fmt: skip
    app.tap("15")
    assert "Dinner, 23:00 - 00:00" in app.ui and "Fair" not in app.ui
    app.tap("Next day")
    assert "Fair, All-day" in app.ui
    app.tap("New Event", "Title")
    app.type("Brunch")
    app.tap("Save")
    assert "Brunch, 13:00" in app.ui
    assert stored("SELECT start_ts FROM events WHERE title = 'Brunch'").fetchall() == [(1697475600,)]


def test_a_series_has_its_weekday_in_the_zone_that_is_set():
    row = "('Yoga', 1697425200, 1697428800, 604800, 64)"  # on Sundays at 23:00 there
    insert = f"INSERT INTO events (title, start_ts, end_ts, repeat_interval, repeat_rule) VALUES {row}"
    app = Abroad(PACKAGE, lambda phone: run(phone, f'sqlite3 {DATABASE} "{insert}"'))
    app.tap("22")
    assert "Yoga, 23:00 - 00:00" in app.ui
    app.hold("Yoga")
    app.tap("Delete", "This and all future occurrences")
    assert app.storage.database(DATABASE).execute("SELECT repeat_limit FROM events").fetchall() == [(1698029999,)]


def test_a_task_is_due_on_the_local_day():
    app = Abroad("org.tasks")
    app.tap("Create new task")
    app.type("Mow")
    app.back()
    app.tap("No due date", "Pick a time", "OK", "Save")
    assert "Mow, Today 09:00" in app.ui
    due = "SELECT datetime(dueDate / 1000, 'unixepoch') FROM tasks"
    assert app.storage.database(tasks.DATABASE).execute(due).fetchall() == [("2023-10-15 13:00:01",)]


def test_the_settings_say_which_zone_is_set():
    app = Hands(None, phone=lab_phone(270, 600))
    run(app.phone, "am start -a android.settings.DATE_SETTINGS")
    assert "Time zone, GMT+08:00 China Standard Time" in app.ui and "3:34 PM" in app.ui
    run(app.phone, NEW_YORK)
    assert "Time zone, GMT-04:00 New York" in app.ui and "3:34 AM" in app.ui


def test_open_databases_do_not_keep_their_phone():
    """The collector does not see what SQLite holds, and apps leave their databases open."""
    phone = lab_phone()
    phone.storage.database(contacts.PATH)
    gone = weakref.ref(phone), weakref.ref(phone.storage)
    del phone
    gc.collect()
    assert [each() for each in gone] == [None, None]
