"""Experts of the Simple Calendar Pro app."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from coach_gym.envs.tasks.pickers import pick_time
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Simple Calendar Pro"
NOW = datetime(2023, 10, 15, 15, 34)  # when the phone starts
_START = datetime(1970, 1, 1)


@expert(
    "SimpleCalendarAddOneEvent",
    "SimpleCalendarAddOneEventRelativeDay",
    "SimpleCalendarAddOneEventTomorrow",
    "SimpleCalendarAddOneEventInTwoWeeks",
    "SimpleCalendarAddRepeatingEvent",
)
def add(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Makes the event on its day."""
    start = _time(p["start"])
    yield from open_day(s, start.date())
    yield s.tap("New Event")
    yield from s.fill("Title", p["title"])
    yield from s.fill("Description", p["description"])
    yield s.back()  # puts the keyboard away
    yield from _set_time(s, "Start", start.time())
    yield from _set_time(s, "End", (start + timedelta(minutes=p["minutes"])).time())
    if p["repetition"] != "No repetition":
        yield from s.scroll_to("No repetition")
        yield s.tap("No repetition")
        yield s.tap(p["repetition"])
    yield s.tap("Save")


@expert("SimpleCalendarDeleteEvents", "SimpleCalendarDeleteEventsOnRelativeDay")
def delete_of_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Selects all events of the day and deletes them."""
    yield from open_day(s, date.fromisoformat(p["day"]))
    first, *rest = [row.label for row in rows(s)]
    yield s.long_press(first)
    for label in rest:
        yield s.tap(label)
    yield s.tap("Delete")
    yield s.tap("Yes")


@expert("SimpleCalendarDeleteOneEvent")
def delete_one(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the event and deletes it."""
    yield from open_event(s, p["title"], _time(p["start"]).date())
    yield s.tap("Delete")
    yield s.tap("Yes")


@expert(
    "SimpleCalendarEventsOnDate",
    "SimpleCalendarAnyEventsOnDate",
    "SimpleCalendarEventOnDateAtTime",
    "SimpleCalendarEventsInTimeRange",
)
def titles_on_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the titles of the day's events between two times."""
    yield from open_day(s, _time(p["from"]).date())
    found = entries(s, _time(p["from"]).date())
    yield s.finish(", ".join(entry.title for entry in found if _time(p["from"]) <= entry.start <= _time(p["to"])))


@expert("SimpleCalendarFirstEventAfterStartTime")
def first_after(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the title of the day's first event after a time."""
    yield from open_day(s, _time(p["from"]).date())
    found = entries(s, _time(p["from"]).date())
    yield s.finish(next(entry.title for entry in found if entry.start > _time(p["from"])))


@expert("SimpleCalendarNextEvent")
def next_event(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list up to the first event after now."""
    found = yield from read_list(s, _time(p["from"]))
    yield s.finish(next(entry.title for entry in found if entry.start > _time(p["from"])))


@expert("SimpleCalendarEventsInNextWeek")
def titles_in_week(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list up to the end of the week."""
    found = yield from read_list(s, _time(p["to"]))
    yield s.finish(", ".join(entry.title for entry in found if _time(p["from"]) <= entry.start <= _time(p["to"])))


@expert("SimpleCalendarLocationOfEvent")
def location_of(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the event and reads its location."""
    yield from _open_list(s)
    yield from s.scroll_to(p["title"])
    yield s.tap(p["title"])
    yield s.finish(s.find("Location").value)


@expert("SimpleCalendarNextMeetingWithPerson")
def next_meeting(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list for the next meeting with the person."""
    found = yield from read_list(s)
    title = f"Meeting with {p['name']}"
    start = next(entry.start for entry in found if entry.title == title and entry.start > NOW)
    yield s.finish(f"{start:%B %-d %Y %H:%M}")


@dataclass(frozen=True)
class Entry:
    """An event in a list."""

    title: str
    start: datetime


def open_day(s: Screen, day: date) -> Iterator[str]:
    """From anywhere to the list of a day's events, through its month."""
    yield from s.open(APP)
    while (month := _shown_month(s)) != day.replace(day=1):
        yield s.tap("Next month" if month < day else "Previous month")
    yield s.tap(str(day.day))


def open_event(s: Screen, title: str, day: date) -> Iterator[str]:
    """From anywhere to an event of a day."""
    yield from open_day(s, day)
    yield from s.scroll_to(title)
    yield s.tap(title)


def rows(s: Screen) -> list[Element]:
    """Returns the rows of a list of events."""
    return [element for element in s.elements if element.long_clickable]


def _shown_month(s: Screen) -> date:
    """Returns the month in the title, which leaves out the current year."""
    title = s.find(_is_month).label
    return datetime.strptime(title if " " in title else f"{title} {NOW.year}", "%B %Y").date()


def _is_month(element: Element) -> bool:
    return element.cls == "TextView"


def _set_time(s: Screen, which: str, at: time) -> Iterator[str]:
    """Sets the time of start or end, unless it is right."""
    if not s.has(f"{which} time {at:%H:%M}"):
        field = f"event_{which.lower()}_time"
        yield from s.scroll_to(field)
        yield s.tap(field)
        yield from pick_time(s, at)


def _open_list(s: Screen) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Change view")
    yield s.tap("Simple event list")


def read_list(s: Screen, until: datetime = datetime.max) -> Generator[str, None, list[Entry]]:
    """Reads all events from today up to a time, and some after it."""
    yield from _open_list(s)
    seen: dict[Entry, None] = {}
    day, days = NOW.date(), dict[str, date]()
    while True:
        day, days = _read_page(s, day, days, seen)
        if any(entry.start > until for entry in seen) or not any(element.scrollable for element in s.elements):
            break
        before = s.text
        yield s.scroll("down")
        if s.text == before:
            break
    return sorted(seen, key=lambda entry: entry.start)


def entries_by_day(s: Screen) -> list[Entry]:
    """Returns the events on the screen, dated by the headings above them."""
    seen: dict[Entry, None] = {}
    _read_page(s, NOW.date(), {}, seen)
    return list(seen)


def _read_page(s: Screen, day: date, days: Mapping[str, date], seen: dict[Entry, None]) -> tuple[date, dict[str, date]]:
    """Adds the events on the screen to those seen.

    Args:
        s: The screen.
        day: Day of the last heading before this page.
        days: Days of the rows on the page before. Those that are still on top of this page keep theirs.
        seen: The events of the pages before.

    Returns:
        Day of the last heading, and days of the rows on this page.
    """
    here: dict[str, date] = {}
    for element in s.elements:
        if element.long_clickable:
            here[element.label] = days.get(element.label, day)
            seen |= dict.fromkeys(_entry(element, here[element.label]))
        elif element.label.endswith(")"):
            day, days = datetime.strptime(f"{element.label} {NOW.year}", "%B %d (%a) %Y").date(), {}
    return day, here


def entries(s: Screen, day: date) -> list[Entry]:
    """Returns the events on the screen, all of one day."""
    return [entry for row in rows(s) for entry in _entry(row, day)]


def _entry(row: Element, day: date) -> list[Entry]:
    """Returns the event of a row; none if its second line is hidden at the edge of the list."""
    title, *hours = row.label.split(", ")
    return [Entry(title, datetime.combine(day, time.fromisoformat(hours[-1][:5])))] if hours else []


def _time(seconds: int) -> datetime:
    return _START + timedelta(seconds=seconds)
