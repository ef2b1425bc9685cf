"""Experts of the Contacts app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]


@expert("ContactsAddContact")
def add_contact(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Phone", p["number"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsNewContactDraft")
def draft_contact(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, f"{p['first']} {p['last']}")
    yield from s.fill("Phone", p["number"])
    yield s.tap("Mobile")
    yield s.tap(p["label"])
    yield s.finish()


@expert("ContactsDeleteContact")
def delete_contact(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("More options")
    yield s.tap("Delete")
    yield s.tap("Delete")
    yield s.finish()


@expert("ContactsEditPhone")
def edit_phone(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield s.long_press("Phone")
    yield s.type(p["number"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsFavorite")
def favorite(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Add to favorites")
    yield s.finish()


@expert("ContactsPhoneNumberOf")
def phone_number_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.finish(row_with(s, "Mobile"))


@expert("ContactsAddColleague")
def add_colleague(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Company", p["company"])
    yield from s.fill("Phone", p["number"])
    yield s.tap("Mobile")
    yield s.tap("Work")
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsAddWithEmail")
def add_with_email(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Phone", p["number"])
    yield from s.scroll_to("Email")
    yield from s.fill("Email", p["email"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsChangeEmail")
def change_email(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield s.long_press("Email")
    yield s.type(p["email"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsAddNote")
def add_note(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield s.tap("More fields")
    yield from s.scroll_to("Notes")
    yield from s.fill("Notes", p["note"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsSetLabel")
def set_label(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("More options")
    yield s.tap("Change labels")
    yield s.tap(p["label"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsRemoveFavorite")
def remove_favorite(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Remove from favorites")
    yield s.finish()


@expert("ContactsDeleteByNumber")
def delete_by_number(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Contacts")
    yield from s.fill("Search contacts", p["number"])
    yield s.tap(lambda element: element.long_clickable)
    yield s.tap("More options")
    yield s.tap("Delete")
    yield s.tap("Delete")
    yield s.finish()


@expert("ContactsEmailOf")
def email_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.finish(row_with(s, "Email"))


@expert("ContactsCompanyOf")
def company_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.finish(s.find("organization_name").label)


@expert("ContactsCountAtCompany")
def count_at_company(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Contacts")
    yield from s.fill("Search contacts", p["company"])
    yield s.finish(str(sum(element.long_clickable for element in s.elements)))


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
    yield from s.scroll_to(name)
    yield s.tap(name)


def row_with(s: Screen, what: str) -> str:
    """What a row of somebody's page says above `what`."""
    return s.find(what).label.removesuffix(f", {what}")
