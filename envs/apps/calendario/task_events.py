"""Events as task parameters, and the calendar of AndroidLab's phone as checks read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from coach_gym.envs.apps.calendar import task_events as events
from coach_gym.envs.apps.calendar.task_events import EventParams
from coach_gym.envs.apps.calendario import data
from coach_gym.envs.apps.calendario.data import Event
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.epoch import from_seconds

ONCE = "No repetition"  # as parameters say it


def store(device: Device, wanted: Iterable[EventParams]) -> None:
    """Adds events to a device's calendar."""
    with device.database(data.PATH) as db:
        for one in wanted:
            data.save(db, _event(one))


def holds(device: Device, wanted: Iterable[EventParams]) -> bool:
    """Returns whether the calendar holds exactly these events."""
    with device.database(data.PATH) as db:
        return Counter(map(_card, data.events(db))) == Counter(_card(_event(one)) for one in wanted)


def titled(device: Device, title: str) -> EventParams | None:
    """Returns the hours of an event as if it had nothing else but a title; None if there is no such event."""
    with device.database(data.PATH) as db:
        found = next((event for event in data.events(db) if event.title == title), None)
    if found is None:
        return None
    return events.event(title, found.starts, (found.ends - found.starts) // timedelta(minutes=1))


def _event(one: EventParams) -> Event:
    starts = from_seconds(one["start"])
    recurrence = data.RECURRENCES[0] if one["repetition"] == ONCE else one["repetition"]
    return Event(
        one["title"], starts, starts + timedelta(minutes=one["minutes"]), one["all_day"], recurrence,
        one["description"], location=one["location"],
    )  # fmt: skip


def _card(event: Event) -> tuple:
    """Returns what tells two events apart; of all-day events, only the days."""
    starts, ends = (event.starts.date(), event.ends.date()) if event.all_day else (event.starts, event.ends)
    texts = (event.title, event.note, event.location, event.recurrence)
    return texts, starts, ends, event.all_day, event.notifications
