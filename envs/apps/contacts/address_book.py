"""People as task parameters, and the address book as checks read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.words import ParamRng

Person = list[str]
"""Name and phone number: JSON."""


def people(rng: ParamRng, count: int) -> list[Person]:
    """Draws people who share no name and no number."""
    return [[name, number] for name, number in zip(words.full_names(rng, count), numbers(rng, count), strict=True)]


def numbers(rng: ParamRng, count: int) -> list[str]:
    """Draws different phone numbers."""
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        drawn[words.phone_number(rng)] = None
    return list(drawn)


def other_number(number: str) -> str:
    """Returns a number with another last digit."""
    return number[:-1] + str((int(number[-1]) + 1) % 10)


def contact(name: str, number: str = "", emails: Iterable[str] = (), **more: Any) -> Contact:
    """Returns a contact with a first and a last name, perhaps with a mobile number and e-mail addresses."""
    first, _, last = name.partition(" ")
    phones = [(number, "Mobile")] if number else []
    return Contact(first, last, phones=phones, emails=[(address, "Other") for address in emails], **more)


def store(device: Device, entries: Iterable[Contact]) -> None:
    """Adds contacts to a device's address book."""
    with device.database(contacts.PATH) as db:
        contacts.insert_all(db, entries)


def replace(device: Device, entries: Iterable[Contact]) -> None:
    """Makes these the only contacts of a device."""
    with device.database(contacts.PATH) as db:
        contacts.replace_all(db, entries)


def store_groups(device: Device, titles: Iterable[str]) -> None:
    """Adds labels that contacts can be given."""
    with device.database(contacts.PATH) as db:
        for title in titles:
            contacts.create_group(db, title)


def card(entry: Contact) -> tuple:
    """Returns everything about a contact, such that two ways to write the same are equal.

    A number is its digits, and which of the name's words stand in which field does not matter.
    """
    numbers = sorted((contacts.digits(number), label) for number, label in entry.phones)
    more = (entry.company, entry.title, entry.note, entry.starred, sorted(entry.labels))
    facts = (entry.website, str(entry.birthday), entry.address, entry.nickname)
    return (entry.name, numbers, sorted(address for address, _ in entry.emails), *more, *facts)


def unlabelled(entry: Contact) -> tuple:
    """Returns a `card` without the labels of phone numbers."""
    name, numbers, *rest = card(entry)
    return (name, [number for number, _ in numbers], *rest)


def holds(device: Device, expected: Iterable[Contact], key: Callable[[Contact], tuple] = unlabelled) -> bool:
    """Returns whether the address book holds exactly the expected contacts."""
    with device.database(contacts.PATH) as db:
        return sorted(map(key, contacts.everybody(db))) == sorted(map(key, expected))
