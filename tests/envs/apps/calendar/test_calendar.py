"""Simple Calendar Pro by touch: what a user does is what stands in the events' table, and repetitions fall right."""

import random
from datetime import date, datetime, timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar.data import DATABASE, DAY, MONTH, PACKAGE, REPETITIONS, WEEK, YEAR, Event, rule_for
from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.profiles import world_phone
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

NOW = datetime(2023, 10, 15, 15, 34)


def event(title, start, minutes=60, repetition="No repetition", **more):
    interval = REPETITIONS[repetition]
    at = to_seconds(start)
    return Event(None, at, at + 60 * minutes, title, interval=interval, rule=rule_for(interval, start.date()), **more)


class Calendar(Hands):
    def __init__(self, *events, size=(270, 600)):
        super().__init__(PACKAGE, size)
        for one in events:
            calendar_data.save(self.db, one, NOW)
        self.phone.changed()

    @property
    def db(self):
        return self.storage.database(DATABASE)

    @property
    def stored(self):
        """Title, start and end of all events."""
        rows = self.db.execute("SELECT title, start_ts, end_ts FROM events ORDER BY id").fetchall()
        return [(title, from_seconds(start), from_seconds(end)) for title, start, end in rows]

    def column(self, name):
        return [value for (value,) in self.db.execute(f"SELECT {name} FROM events ORDER BY id")]

    def touch(self, id):
        self.phone.tap(*next(e for e in self.elements if e.id == id).center)

    def marked(self, title):
        return self.find(title).selected


LUNCH = event("Team Lunch", datetime(2023, 10, 20, 12, 30))
YOGA = event("Yoga Class", datetime(2023, 10, 20, 18), repetition="Weekly")
VET = event("Vet Appointment", datetime(2023, 10, 17, 9), 15, location="Elm Street")


@pytest.mark.parametrize("size", SCREENS, ids=str)
def test_an_event_is_made_on_the_day_that_was_touched(size):
    app = Calendar(size=size)
    app.tap("20")
    assert app.shows("October 20 (Fri)") and app.shows("No items found")
    app.tap("New Event", "Title")
    app.type("Team Lunch")
    app.tap("Location")
    app.type("Park Lane")
    app.tap("Description")
    app.type("Bring cake")
    app.back()
    app.touch("event_start_time")
    app.tap("12 hours", "30 minutes", "OK")
    app.touch("event_end_time")
    app.tap("13 hours", "OK", "Save")
    assert app.stored == [("Team Lunch", datetime(2023, 10, 20, 12, 30), datetime(2023, 10, 20, 13, 30))]
    assert app.column("location") == ["Park Lane"] and app.column("description") == ["Bring cake"]
    assert app.column("repeat_interval") == app.column("repeat_rule") == app.column("flags") == [0]
    assert app.shows("Team Lunch, 12:30 - 13:30")


def test_a_new_event_is_proposed_for_the_next_full_hour_of_today():
    app = Calendar()
    app.tap("New Event", "Title")
    app.type("Nap")
    app.tap("Save")
    assert app.stored == [("Nap", datetime(2023, 10, 15, 16), datetime(2023, 10, 15, 16))]


def test_moving_the_start_keeps_the_length_and_moving_the_end_does_not():
    app = Calendar(LUNCH)
    app.tap("20", "Team Lunch")
    app.touch("event_start_date")
    app.tap("Next month", "02 November 2023", "OK")
    app.touch("event_start_time")
    app.tap("15 hours", "0 minutes", "OK")
    assert app.shows("Start date November 2 2023") and app.shows("End date November 2 2023")
    assert app.shows("End time 16:00")
    app.touch("event_end_date")
    app.tap("04 November 2023", "OK", "Save")
    assert app.stored == [("Team Lunch", datetime(2023, 11, 2, 15), datetime(2023, 11, 4, 16))]


def test_what_makes_no_sense_is_not_saved_and_says_why():
    app = Calendar()
    app.tap("New Event", "Save")
    assert app.shows("Title cannot be empty")
    app.tap("Title")
    app.type("Nap")
    app.back()
    app.touch("event_end_time")
    app.tap("9 hours", "0 minutes", "OK", "Save")
    assert app.shows("The event cannot end earlier than it starts") and app.stored == []


def test_an_event_for_all_day_has_no_hours():
    app = Calendar(LUNCH)
    app.tap("20", "Team Lunch", "All-day")
    assert not any(e.label.startswith(("Start time", "End time")) for e in app.elements)
    app.tap("Save")
    assert app.column("flags") == [1]
    assert app.stored == [("Team Lunch", datetime(2023, 10, 20), datetime(2023, 10, 20, 12))]
    assert app.shows("Team Lunch, All-day")
    app.tap("Team Lunch", "All-day", "Save")
    assert app.column("flags") == [0]


@pytest.mark.parametrize("name, interval, rule", [
    ("Daily", 86_400, 0), ("Weekly", 604_800, 16), ("Monthly", 2_592_001, 1), ("Yearly", 31_536_000, 1),
    ("No repetition", 0, 0),
])  # fmt: skip
def test_repetition_is_stored_as_the_real_app_does(name, interval, rule):
    app = Calendar(LUNCH)
    app.tap("20", "Team Lunch")
    app.touch("event_repetition")
    app.tap(name, "Save")
    assert app.column("repeat_interval") == [interval]
    assert app.column("repeat_rule") == [rule], "the 20th of October 2023 is a Friday: bit 4"


def test_a_weekly_event_repeats_on_several_days_until_one():
    app = Calendar(YOGA)
    app.tap("20", "Yoga Class")
    app.tap("Repeat on")
    assert [e.label for e in app.elements if e.checked] == ["Friday"]
    app.tap("Monday", "OK")
    assert app.shows("Repeat on, Mon, Fri")
    app.tap("Repeat till", "A date", "Next month", "06 November 2023", "OK")
    assert app.shows("Repeat till, November 6 2023")
    app.tap("Save")
    assert app.column("repeat_rule") == [0b10001] and app.column("repeat_limit") == [at(20, 0) + 18 * DAY - 1]
    app.back()
    assert [e.label for e in app.elements if "Yoga" in e.label] == []
    app.tap("23")
    assert app.shows("Yoga Class, 18:00 - 19:00")


def test_without_a_weekday_the_rule_stays():
    app = Calendar(YOGA)
    app.tap("20", "Yoga Class", "Repeat on", "Friday", "OK", "Save")
    assert app.column("repeat_rule") == [0b10000]


def test_reminders_are_stored_in_order_and_reminded_of_at_their_times():
    app = Calendar(LUNCH)
    app.tap("20", "Team Lunch", "No reminder", "1 hour before", "Add another reminder", "10 minutes before")
    app.tap("Save")
    minutes = [app.column(f"reminder_{index}_minutes") for index in (1, 2, 3)]
    assert minutes == [[10], [60], [-1]]
    app.phone.elapse(datetime(2023, 10, 20, 11, 29, 50) - app.phone.now)
    assert not app.phone.notifications
    app.phone.elapse(timedelta(seconds=20))
    assert [(each.title, each.text) for each in app.phone.notifications] == [("Team Lunch", "12:30")]
    app.phone.elapse(timedelta(minutes=70))
    assert len(app.phone.notifications) == 2
    app.tap("Team Lunch", "10 minutes before", "No reminder", "Save")
    assert app.column("reminder_1_minutes") == [60] and app.column("reminder_2_minutes") == [-1]


def test_every_occurrence_of_a_repeated_event_is_reminded_of():
    app = Calendar(YOGA)
    app.tap("20", "Yoga Class", "No reminder", "1 day before", "Save")
    app.phone.elapse(timedelta(days=20))
    assert [each.title for each in app.phone.notifications] == ["Yoga Class"] * 3


def test_an_event_can_have_a_type_of_its_own():
    app = Calendar(LUNCH)
    app.tap("20", "Team Lunch", "Regular event", "Add a new type")
    app.type("Work")
    app.tap("OK")
    assert app.shows("Work")
    app.tap("Save", "Team Lunch", "Work", "Regular event", "Save")
    assert app.column("event_type") == [1]
    assert app.db.execute("SELECT id, title FROM event_types").fetchall() == [(1, "Regular event"), (2, "Work")]


def test_an_event_on_another_weekday_repeats_on_that_one():
    app = Calendar(YOGA)
    app.tap("20", "Yoga Class")
    app.touch("event_start_date")
    app.tap("18 October 2023", "OK", "Save")
    assert app.column("repeat_rule") == [4]


def test_changing_a_later_occurrence_moves_the_whole_series():
    app = Calendar(YOGA)
    app.tap("27", "Yoga Class")
    app.select_text("Title")
    app.type("Dance")
    app.back()
    app.touch("event_start_time")
    app.tap("19 hours", "OK", "Save")
    assert app.stored == [("Dance", datetime(2023, 10, 20, 19), datetime(2023, 10, 20, 20))]
    assert app.column("repeat_rule") == [16]


def at(*moment):
    return to_seconds(datetime(2023, 10, *moment))


SERIES = {  # every third day from the 17th on, but not on the 20th
    "title": "Gym ", "start_ts": at(17, 9), "end_ts": at(17, 10, 15), "repeat_interval": 3 * DAY, "repeat_rule": 0,
    "repeat_limit": at(31, 0), "repetition_exceptions": '["20231020"]', "flags": 0,
}  # fmt: skip
FAIR = {"title": "Fair", "start_ts": at(17, 1), "end_ts": at(19, 23), "flags": 1 | 16, "repeat_interval": 0}


def refill(app, hint, text):
    app.select_text(hint)
    app.type(text)
    app.back()


@pytest.mark.parametrize("known, edit, change", [
    (SERIES, lambda app: refill(app, "Title", "Run"), {"title": "Run"}),
    (SERIES, lambda app: refill(app, "Location", "Park"), {"location": "Park"}),
    (SERIES, lambda app: refill(app, "Description", "Shoes"), {"description": "Shoes"}),
    (SERIES, lambda app: app.tap("End time 10:15", "11 hours", "OK"), {"end_ts": at(17, 11, 15)}),
    (SERIES, lambda app: app.tap("Start time 09:00", "8 hours", "OK"),
     {"start_ts": at(17, 8), "end_ts": at(17, 9, 15)}),
    (SERIES, lambda app: app.tap("Custom", "Weekly"), {"repeat_interval": WEEK, "repeat_rule": 1 << 0}),
    (FAIR, lambda app: refill(app, "Title", "Expo"), {"title": "Expo"}),
    (FAIR, lambda app: app.tap("All-day"), {"flags": 16}),
])  # fmt: skip
def test_an_edit_of_a_full_event_changes_what_was_edited_and_the_time_of_the_change(known, edit, change):
    app = Calendar(size=(540, 1200))
    for day in (0, 1):
        times = {end: known[end] + day * WEEK for end in ("start_ts", "end_ts")}
        add_record(app.db, "events", **{**known, **times, "title": known["title"] + str(day)})
    before = records(app.db, "events")
    app.tap("23" if known is SERIES else "17")
    app.tap(known["title"] + "0")
    edit(app)
    app.tap("Save")
    after = records(app.db, "events")
    assert changed(before, after) == [{**change, "last_updated": after[0]["last_updated"]}, {}]


def test_deleting_one_occurrence_changes_the_exceptions_alone():
    app = Calendar(size=(540, 1200))
    add_record(app.db, "events", **SERIES)
    before = records(app.db, "events")
    app.tap("23")
    app.tap("Gym ", "Delete", "Only this occurrence")
    assert changed(before, records(app.db, "events")) == [{"repetition_exceptions": '["20231020", "20231023"]'}]


def test_deleting_asks_first():
    app = Calendar(LUNCH, VET)
    app.tap("20", "Team Lunch", "Delete", "No")
    assert len(app.stored) == 2 and app.shows("Edit Event")
    app.tap("Delete", "Yes")
    assert [title for title, *_ in app.stored] == ["Vet Appointment"]
    assert app.shows("October 20 (Fri)")


@pytest.mark.parametrize("answer, left", [
    ("Only this occurrence", [20, 3, 10]), ("This and all future occurrences", [20]), ("All occurrences", []),
])  # fmt: skip
def test_of_a_repeated_event_any_part_can_be_deleted(answer, left):
    app = Calendar(YOGA)
    app.tap("27", "Yoga Class", "Delete", answer)
    found = calendar_data.between(app.db, date(2023, 10, 1), date(2023, 11, 10))
    assert [one.day.day for one in found] == left


def test_ending_a_series_with_its_first_occurrence_leaves_nothing():
    app = Calendar(YOGA)
    app.tap("20", "Yoga Class", "Delete", "This and all future occurrences")
    assert app.stored == []


def test_a_long_touch_marks_events_to_delete_together():
    app = Calendar(LUNCH, event("Haircut", datetime(2023, 10, 20, 8)), event("Gym", datetime(2023, 10, 20, 7)), VET)
    app.tap("20")
    assert app.rows == ["Gym", "Haircut", "Team Lunch"]
    app.hold("Haircut")
    app.tap("Gym")
    assert app.shows("2 selected") and app.marked("Gym") and not app.marked("Team Lunch")
    app.back()
    assert app.shows("October 20 (Fri)"), "back unmarks first"
    app.hold("Haircut")
    app.tap("Team Lunch", "Haircut", "Gym", "Delete", "Yes")
    assert [title for title, *_ in app.stored] == ["Haircut", "Vet Appointment"]
    assert app.rows == ["Haircut"]


def test_months_and_days_are_turned_by_arrows_and_fingers():
    app = Calendar(LUNCH)
    app.tap("Next month", "Next month", "Next month")
    assert app.shows("January 2024")
    app.phone.swipe((60, 300), (220, 300))
    assert app.shows("December")
    app.tap("More options", "Go to today", "20", "Previous day")
    assert app.shows("October 19 (Thu)") and app.rows == []
    app.phone.swipe((220, 300), (60, 300))
    assert app.rows == ["Team Lunch"]
    app.back()
    app.tap("More options", "Go to date", "17 October 2023", "OK")
    assert app.shows("October 17 (Tue)")


def test_the_list_begins_today_and_counts_every_occurrence():
    app = Calendar(YOGA, VET, event("Past", datetime(2023, 10, 14, 9)), event("Early", datetime(2023, 10, 15, 7)))
    app.tap("Change view", "Simple event list")
    shown = [e.label for e in app.elements if e.long_clickable or e.label.startswith("October")]
    assert shown[:6] == [
        "October 15 (Sun)", "Early, 07:00 - 08:00", "October 17 (Tue)", "Vet Appointment, 09:00 - 09:15",
        "October 20 (Fri)", "Yoga Class, 18:00 - 19:00",
    ]  # fmt: skip
    app.tap("Search")
    app.type("elm st")
    assert app.rows == ["Vet Appointment"], "places are searched, too"
    app.back()
    app.tap("Vet Appointment")
    assert next(e for e in app.elements if e.hint == "Location").value == "Elm Street"


def test_the_month_view_marks_today_and_opens_a_daily_view():
    app = Calendar(LUNCH)
    assert [e.label for e in app.elements if e.selected] == ["15"]
    assert sum(e.label.isdecimal() for e in app.elements) == 31
    plain = app.phone.screenshot()
    calendar_data.save(app.db, event("Gala", datetime(2023, 10, 9, 9)), NOW)
    app.phone.changed()
    assert not np.array_equal(app.phone.screenshot(), plain), "events are painted into the days"
    app.tap("Change view", "Daily view")
    assert app.shows("October 15 (Sun)")


def test_leaving_with_changes_asks_and_without_does_not():
    app = Calendar(LUNCH)
    app.tap("20", "Team Lunch", "Navigate up", "Team Lunch", "All-day")
    app.back()
    app.tap("Cancel")
    assert app.shows("Edit Event")
    app.tap("Navigate up", "Discard")
    assert app.shows("October 20 (Fri)") and app.column("flags") == [0]


def test_a_snapshot_in_the_middle_of_an_edit_is_exact():
    app = Calendar(LUNCH, YOGA)
    app.tap("20", "Yoga Class", "Delete")
    saved, frame, ui, stored = app.phone.snapshot(), app.phone.screenshot(), app.ui, app.stored
    app.tap("All occurrences")
    assert app.stored != stored
    for _ in range(2):
        app.phone.restore(saved)
        assert np.array_equal(app.phone.screenshot(), frame) and app.ui == ui and app.stored == stored
        app.tap("Only this occurrence")
        assert app.shows("October 20 (Fri)") and app.rows == ["Team Lunch"]


# when repeated events take place


def dates(one, first=date(2023, 1, 1), last=date(2025, 12, 31)):
    db = world_phone(270, 600).storage.database(DATABASE)
    calendar_data.save(db, one, NOW)
    return [found.day for found in calendar_data.between(db, first, last)]


def test_monthly_and_yearly_events_skip_what_has_no_such_day():
    assert dates(event("A", datetime(2023, 10, 31, 9), repetition="Monthly"))[:3] == [
        date(2023, 10, 31), date(2023, 12, 31), date(2024, 1, 31),
    ]  # fmt: skip
    leap = event("B", datetime(2024, 2, 29, 9), repetition="Yearly")
    assert dates(leap, last=date(2028, 12, 31)) == [date(2024, 2, 29), date(2028, 2, 29)]


@pytest.mark.parametrize("interval", [DAY, 3 * DAY, WEEK, 2 * WEEK])
def test_days_and_weeks_agree_with_counting(interval):
    """Against stepping through the calendar in seconds, on random starts and weekdays."""
    rng = random.Random(interval)
    for _ in range(20):
        first = datetime(2023, 1, 1, 10) + timedelta(days=rng.randrange(300))
        weekdays = {first.weekday(), rng.randrange(7)} if interval % WEEK == 0 else set(range(7))
        rule = sum(1 << day for day in weekdays) if interval % WEEK == 0 else 0
        start = to_seconds(first)
        monday = first.date() - timedelta(days=first.weekday())
        expected = []
        for n in range(120):
            day = first.date() + timedelta(days=n)
            steps = (day - monday).days // 7 if interval % WEEK == 0 else n
            if day.weekday() in weekdays and steps % (interval // (WEEK if interval % WEEK == 0 else DAY)) == 0:
                expected.append(day)
        one = Event(1, start, start + 60, "A", interval=interval, rule=rule)
        assert [d for n in range(120) if one.takes_place(d := first.date() + timedelta(days=n))] == expected


def test_limits_and_exceptions_end_or_interrupt_a_series():
    start = to_seconds(datetime(2023, 10, 15, 9))
    one = Event(1, start, start, "A", interval=DAY, limit=start + 3 * DAY, exceptions='["20231017"]')
    days = [date(2023, 10, 14) + timedelta(days=n) for n in range(8)]
    assert [day.day for day in days if one.takes_place(day)] == [15, 16, 18]


def test_an_event_over_midnight_is_listed_on_both_days():
    app = Calendar(event("Night Shift", datetime(2023, 10, 20, 22), 480), event("Late", datetime(2023, 10, 21), 0))
    app.tap("20")
    assert app.rows == ["Night Shift"]
    app.tap("Next day")
    assert app.rows == ["Night Shift", "Late"]
    app.tap("Next day")
    assert app.rows == []


@pytest.mark.parametrize("size", SCREENS, ids=str)
def test_every_day_of_every_month_can_be_touched(size):
    app = Calendar(event("A", datetime(2023, 1, 31, 9), repetition="Monthly"), YOGA, size=size)
    for _ in range(12):
        app.tap("Next month")
        days = [e for e in app.elements if e.label.isdecimal()]
        assert len(days) in (28, 29, 30, 31)
        app.phone.tap(*days[-1].center)
        assert app.shows("Navigate up"), f"the last of {days[-1].label} days"
        app.back()


def test_the_intervals_are_told_apart():
    assert [Event(1, 0, 0, interval=i).repetition for i in (0, DAY, WEEK, MONTH, YEAR, 2 * DAY)] == [
        *REPETITIONS, "Custom"
    ]  # fmt: skip
