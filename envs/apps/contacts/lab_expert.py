"""Experts of AndroidLab's families in the Contacts app, on AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Iterator

from coach_gym.envs.apps.contacts.expert import Params, new_contact, open_person
from coach_gym.envs.tasks.screen import Screen, expert


@expert("ContactsAddColleague")
def _add_colleague(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Company", p["company"])
    yield from s.fill("Phone", p["number"])
    yield s.tap("Mobile")
    yield s.tap("Work")
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsAddWithEmail")
def _add_with_email(s: Screen, p: Params) -> Iterator[str]:
    yield from new_contact(s, p["name"])
    yield from s.fill("Phone", p["number"])
    yield from s.scroll_to("Email")
    yield from s.fill("Email", p["email"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsChangeEmail")
def _change_email(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield s.long_press("Email")
    yield s.type(p["email"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsAddNote")
def _add_note(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Edit contact")
    yield s.tap("More fields")
    yield from s.scroll_to("Notes")
    yield from s.fill("Notes", p["note"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsSetLabel")
def _set_label(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("More options")
    yield s.tap("Change labels")
    yield s.tap(p["label"])
    yield s.tap("Save")
    yield s.finish()


@expert("ContactsRemoveFavorite")
def _remove_favorite(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.tap("Remove from favorites")
    yield s.finish()


@expert("ContactsDeleteByNumber")
def _delete_by_number(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Contacts")
    yield from s.fill("Search contacts", p["number"])
    yield s.tap(lambda element: element.long_clickable)
    yield s.tap("More options")
    yield s.tap("Delete")
    yield s.tap("Delete")
    yield s.finish()


@expert("ContactsEmailOf")
def _email_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.finish(s.find(lambda element: element.label.startswith("Email ")).label.split(" ")[-1])


@expert("ContactsCompanyOf")
def _company_of(s: Screen, p: Params) -> Iterator[str]:
    yield from open_person(s, p["name"])
    yield s.finish(s.find("organization_name").label)


@expert("ContactsCountAtCompany")
def _count_at_company(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Contacts")
    yield from s.fill("Search contacts", p["company"])
    yield s.finish(str(sum(element.long_clickable for element in s.elements)))
