"""Experts of AndroidLab's families in the Contacts app, on AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Iterator

from coach_gym.envs.apps.contacts.expert import Params, new_contact, open_person
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element


@expert("ContactsAddColleague")
def _add_colleague(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Company", p["company"])
    yield from s.fill("Phone", p["number"])
    yield from s.follow("Mobile", "Work", "Save")


@expert("ContactsAddWithEmail")
def _add_with_email(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Phone", p["number"])
    yield from s.scroll_to("Email")
    yield from s.fill("Email", p["email"])
    yield s.tap("Save")


@expert("ContactsChangeEmail")
def _change_email(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield from s.refill("Email", p["email"])
    yield s.tap("Save")


@expert("ContactsAddNote")
def _add_note(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield from s.follow("Edit contact", "More fields")
    yield from s.scroll_to("Notes")
    yield from s.fill("Notes", p["note"])
    yield s.tap("Save")


@expert("ContactsSetLabel")
def _set_label(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield from s.follow("More options", "Change labels", p["label"], "Save")


@expert("ContactsRemoveFavorite")
def _remove_favorite(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Remove from favorites")


@expert("ContactsDeleteByNumber")
def _delete_by_number(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Contacts")
    yield from s.fill("Search contacts", p["number"])
    yield s.tap(lambda element: element.long_clickable)
    yield from s.follow("More options", "Delete", "Delete")


@expert("ContactsEmailOf")
def _email_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield from s.scroll_to(_is_email)
    yield s.finish(s.find(_is_email).label.split(" ")[-1])


def _is_email(element: Element) -> bool:
    return element.label.startswith("Email ")


def tell_company(s: Screen, name: str) -> Iterator[str]:
    """Tells where somebody works."""
    yield from open_person(s, name)
    yield s.finish(s.find("organization_name").label)


expert("ContactsCompanyOf")(lambda s, p: tell_company(s, p["name"]))


@expert("ContactsCountAtCompany")
def _count_at_company(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Contacts")
    yield from s.fill("Search contacts", p["company"])
    found: set[str] = set()
    yield from s.sweep(lambda: found.update(element.label for element in s.elements if element.long_clickable))
    yield s.finish(str(len(found)))
