"""Experts of AndroidWorld's families in the Contacts app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]


@expert("ContactsAddContact")
def _add_contact(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Phone", p["number"])
    yield s.tap("Save")


@expert("ContactsNewContactDraft")
def _draft_contact(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, f"{p['first']} {p['last']}")
    yield from s.fill("Phone", p["number"])
    yield from s.follow("Mobile", p["label"])


@expert("ContactsDeleteContact")
def _delete_contact(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield from s.follow("More options", "Delete", "Delete")


@expert("ContactsEditPhone")
def _edit_phone(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield from s.refill("Phone", p["number"])
    yield s.tap("Save")


@expert("ContactsFavorite")
def _favorite(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Add to favorites")


@expert("ContactsPhoneNumberOf")
def _phone_number_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.finish(_row_with(s, "Mobile"))


def new_contact(s: Screen, name: str) -> Iterator[str]:
    """Starts a contact with a name."""
    first, _, last = name.partition(" ")
    yield from s.open("Contacts")
    yield s.tap("Create contact")
    yield from s.fill("First name", first)
    yield from s.fill("Last name", last)


def open_person(s: Screen, name: str) -> Iterator[str]:
    """Goes to somebody's page."""
    yield from s.open("Contacts")
    yield from s.follow(name)


def _row_with(s: Screen, what: str) -> str:
    """Returns what a row of somebody's page says above `what`."""
    return s.find(what).label.removesuffix(f", {what}")
