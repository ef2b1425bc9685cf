"""Experts of AndroidLab's families in the calendar of AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.tasks.pickers import pick_date
from coach_gym.envs.tasks.screen import Screen, expert

APP = "Calendar"


def new_event(s: Screen, title: str) -> Iterator[str]:
    """Opens the form of a new event and gives it a title."""
    yield from s.open(APP)
    yield s.tap("Add event")
    yield from s.fill("Title", title)
    yield s.back()  # puts the keyboard away


def edit_event(s: Screen, title: str) -> Iterator[str]:
    """Opens the form of an event that is there."""
    yield from s.open(APP)
    yield from s.follow(title, "Edit event")


def set_day(s: Screen, day: date) -> Iterator[str]:
    """Sets the day of the start in a form."""
    yield s.tap("Starts on")
    yield from pick_date(s, day)


def set_note(s: Screen, text: str) -> Iterator[str]:
    """Sets the note in a form."""
    yield from s.scroll_to("Note")
    yield from s.refill("Note", text)
    yield s.back()


def remind(s: Screen, *names: str) -> Iterator[str]:
    """Adds notifications to a form."""
    for name in names:
        yield from s.follow("Add notification", name)


def repeat(s: Screen, how: str) -> Iterator[str]:
    """Sets the recurrence in a form."""
    yield from s.follow("Recurrence", how)


@expert("CalendarAddEvent")
def _add_titled(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_event(s, p["title"])
    yield from set_day(s, date.fromisoformat(p["day"]))
    yield s.tap("Save")


@expert("CalendarRenameEvent", "CalendarDescribeEvent", "CalendarLocateEvent")
def _fill_in(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, p["title"])
    fields = {"title": "Title", "description": "Note", "location": "Location"}
    field, text = next((fields[name], text) for name, text in p["changes"].items())
    yield from s.scroll_to(field)
    yield from s.refill(field, text)
    yield s.tap("Save")


@expert("CalendarRepeatEvent")
def _repeat_event(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, p["title"])
    yield from repeat(s, p["changes"]["repetition"])
    yield s.tap("Save")


@expert("CalendarAllDayEvent")
def _all_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, p["title"])
    yield from s.toggle("All day", True)
    yield s.tap("Save")


@expert("CalendarMoveEvent")
def _move(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, p["title"])
    yield from set_day(s, from_seconds(p["changes"]["start"]).date())
    yield s.tap("Save")


@expert("CalendarStartOfEvent")
def _start_of(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield from s.scroll_to(p["title"])
    hours = s.find(p["title"]).label.rpartition(", ")[2]
    yield s.finish(f"{datetime.strptime(hours.partition(' – ')[0], '%I:%M %p'):%H:%M}")
