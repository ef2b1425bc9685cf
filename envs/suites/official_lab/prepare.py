"""Prepares the embedded phone for a task, with the data that AndroidLab's judges and goals take for granted.

The apps make the data that all tasks share when they are installed. This module adds what differs from task to task:
an event to be edited, a city to be removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from coach_gym.envs.apps.calendario import data as calendario
from coach_gym.envs.apps.calendario.data import Event
from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.suites.official_lab import prepare_bluecoins, prepare_cantook, prepare_mapsme, prepare_pimusic

APPS: dict[str, Callable[[Phone], None]] = {
    "bluecoins": prepare_bluecoins.prepare,
    "cantook": prepare_cantook.prepare,
    "map": prepare_mapsme.prepare,
    "pimusic": prepare_pimusic.prepare,
}
"""What all tasks of an app start with, by the first part of their ids."""


def prepare(phone: Phone, task: str) -> None:
    """Brings a phone that was just reset, with its clock at the benchmark's date, into a task's initial state."""
    app = task.partition("_")[0]
    if app in APPS:
        APPS[app](phone)
    if task in PREPARED:
        PREPARED[task](phone)
    phone.changed()


def _with_event(event: Event, phone: Phone) -> None:
    calendario.save(phone.storage.database(calendario.PATH), event)


def _event(title: str, day: int, hour: int, **more: object) -> Callable[[Phone], None]:
    start = datetime(2024, 5, day, hour)
    return partial(_with_event, Event(title, start, start + timedelta(hours=1), **more))  # type: ignore[arg-type]


def _with_cities(names: list[str], phone: Phone) -> None:
    preferences.update(phone.storage, clock_data.PREFERENCES, clock_data.city_values(names))


def _with_people(phone: Phone) -> None:
    book = phone.storage.database(contacts.PATH)
    contacts.insert_all(book, [Contact(name, phones=[(f"{i}1223344", "Mobile")]) for i, name in enumerate(_MORE, 3)])


def _without_birthday(phone: Phone) -> None:
    """Removes ABC's birthday: AAA's is to be added, and the judge accepts the same birthday on ABC's page."""
    book = phone.storage.database(contacts.PATH)
    person = next(contact for contact in contacts.everybody(book) if contact.name == "ABC")
    contacts.update(book, replace(person, birthday=None))


_MORE = ("Chen", "Lee", "Xu")
PREPARED: dict[str, Callable[[Phone], None]] = {
    "calendar_5": _event("work", 10, 17),
    "calendar_6": _event("homework", 21, 13, notifications=(10,)),
    "calendar_7": _event("meeting", 13, 13, note="conference room B202"),
    "calendar_8": _event("work", 10, 17),
    "calendar_9": _event("work", 10, 17),
    "calendar_11": _event("this day", 10, 13),
    "calendar_12": _event("Today", 10, 13, recurrence="Weekly", note="this day"),
    "calendar_14": _event("exam", 20, 9, recurrence="Yearly"),
    "contacts_5": _with_people,
    "contacts_7": _without_birthday,
    "clock_16": partial(_with_cities, ["Barcelona"]),
    "clock_17": partial(_with_cities, ["Barcelona"]),
}
