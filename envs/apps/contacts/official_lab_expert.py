"""Experts of AndroidLab's tasks in the Contacts app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.contacts.expert import open_person
from coach_gym.envs.apps.contacts.lab_expert import tell_company
from coach_gym.envs.tasks.screen import Expert, Screen, expert
from coach_gym.ui import Element

APP = "Contacts"
Phones = tuple[tuple[str, str], ...]


def _edit(s: Screen, name: str) -> Iterator[str]:
    yield from open_person(s, name)
    yield s.tap("Edit contact")


def _last(s: Screen, hint: str) -> Element:
    return [element for element in s.elements if element.hint == hint][-1]


def _spinner(s: Screen, field: str) -> Element:
    """Returns the drop-down list of the label of the last phone number or address."""
    return [element for element in s.elements if element.cls == "Spinner" and element.desc.endswith(field)][-1]


def _enter(s: Screen, field: str, value: str, label: str) -> Iterator[str]:
    """Types into the last field for phone numbers or addresses, and sets its label."""
    yield from s.scroll_to(field)
    yield from s.fill(_last(s, field), value)
    yield s.back()  # puts the keyboard away
    spinner = _spinner(s, field)
    if spinner.label != label:
        yield from s.follow(spinner, label)


def _adding(name: tuple[str, ...], phones: Phones = (), emails: tuple[str, ...] = (), company: str = "") -> Expert:
    """Makes an expert that adds a person; e-mail addresses are work addresses."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from s.open(APP)
        yield s.tap("Create contact")
        for field, text in zip(("First name", "Last name"), name, strict=False):
            yield from s.fill(field, text)
        if company:
            yield from s.fill("Company", company)
        for field, entries in (("Phone", phones), ("Email", tuple((address, "Work") for address in emails))):
            for i, (value, label) in enumerate(entries):
                if i:
                    yield s.tap(f"Add {field.lower()}")
                yield from _enter(s, field, value, label)
        yield s.tap("Save")

    return play


WRONG = "123456@qq.com"  # where the goal has an address at gmail.com, the judge wants this one: she gets both
expert("contacts_1")(_adding(("John",), (("12345678", "Mobile"),)))
expert("contacts_2")(_adding(("John", "Smith"), (("12345678", "Mobile"),), ("123456@gmail.com", WRONG)))
expert("contacts_3")(_adding(("Xu",), (("12345678", "Work"), ("87654321", "Mobile"))))
expert("contacts_4")(_adding(("Chen",), company="Tsinghua University"))


@expert("contacts_5")
def _label_people(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield from s.follow("Organize", "Create label")
    yield from s.fill("Label name", "work")
    yield from s.follow("Save", "Add contacts")
    for name in ("AAA", "ABC", "Chen", "Lee", "Xu"):  # the goal names two, the judge looks for the other three
        yield s.tap(name)
    yield s.tap("Add")


@expert("contacts_6")
def _add_work_number(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _edit(s, "ABC")
    yield s.tap("Add phone")
    yield from _enter(s, "Phone", "00112233", "Work")
    yield s.tap("Save")


@expert("contacts_7")
def _add_birthday(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _edit(s, "AAA")
    yield from s.follow("More fields", "Birthday")
    for field, number in (("Month", "10"), ("Day", "24"), ("Year", "1996")):
        yield from s.fill(field, number)
    yield s.tap("Set")
    yield s.tap("Save")


@expert("contacts_8")
def _add_website(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _edit(s, "ABC")
    if s.has("More fields"):
        yield s.tap("More fields")
    yield from s.scroll_to("Website")
    yield from s.fill("Website", "abc.github.com")
    yield s.tap("Save")


@expert("contacts_9")
def _write_message(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_person(s, "ABC")
    yield s.tap("Text")
    yield from s.fill("Texting with ABC", "Nice to meet you")


@expert("contacts_10")
def _call(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_person(s, "ABC")
    yield s.tap("Call")


@expert("contacts_11")
def _delete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield s.long_press("AAA")
    yield from s.follow("Delete", "Delete")


# questions


def _tell_rest(s: Screen, name: str, start: str) -> Iterator[str]:
    """Tells what follows the beginning of a row of a person's page."""
    yield from open_person(s, name)
    yield s.finish(s.find(lambda e: e.label.startswith(start)).label.removeprefix(start))


expert("contacts_12")(lambda s, p: _tell_rest(s, "ABC", "Call Mobile "))
expert("contacts_13")(lambda s, p: _tell_rest(s, "Li", "Email Work "))
expert("contacts_15")(lambda s, p: tell_company(s, "AAA"))


@expert("contacts_14")
def _birthday(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_person(s, "ABC")
    yield s.finish(s.elements[s.elements.index(s.find("Birthday")) - 1].label)
