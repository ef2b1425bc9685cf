"""AndroidWorld's families of the Contacts app."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from coach_gym.envs.apps.contacts import address_book
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.providers.contacts import Contact, digits
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng
from coach_gym.ui import Node


class AddressBookTask(Task):
    """A task on an address book that holds `params["people"]` at the start: names and numbers."""

    apps = ("Contacts",)

    def setup(self, device: Device) -> None:
        """Adds the people."""
        address_book.store(device, self.people)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the address book with `expected`."""
        return float(address_book.holds(device, self.expected()))

    @property
    def people(self) -> list[Contact]:
        """Whom the address book holds at the start."""
        return [address_book.contact(*person) for person in self.params["people"]]

    def expected(self) -> list[Contact]:
        """Returns whom the address book has to hold in the end, and nobody else."""
        return self.people

    @property
    def chosen(self) -> Contact:
        """The person whom the goal names."""
        return next(contact for contact in self.people if contact.name == self.params["name"])

    def others(self) -> list[Contact]:
        """Returns everybody but the person whom the goal names."""
        return [contact for contact in self.people if contact.name != self.params["name"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns somebody else."""
        return {**self.params, "name": rng.choice(self.others()).name}


class ContactsAddContact(AddressBookTask):
    """A new contact with a name and a phone number."""

    template = "Add {name} to the contacts with phone number {number}."
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a new person and one to seven others."""
        (name, number), *people = address_book.people(rng, rng.randint(1, 7))
        return {"name": name, "number": number, "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody, and the new person."""
        return [*self.people, address_book.contact(self.params["name"], self.params["number"])]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a number with another last digit."""
        return {**self.params, "number": address_book.other_number(self.params["number"])}


class ContactsNewContactDraft(AddressBookTask):
    """The form for a new contact, filled in and left on the screen unsaved."""

    template = (
        "Start a new contact: first name {first}, last name {last}, phone {number} with the label {label}. "
        "Leave the form open, do not save it."
    )
    budget = 22

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a new person, a label, and one to six others."""
        (name, number), *people = address_book.people(rng, rng.randint(1, 6))
        first, last = name.split(" ")
        label = rng.choice(["Home", "Work"])
        return {"first": first, "last": last, "number": number, "label": label, "people": people}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Reads the form on the screen; the address book must not have changed."""
        shown = list(device.ui().walk())
        first, last, phone = (_typed(shown, hint) for hint in ("First name", "Last name", "Phone"))
        wanted = self.params
        filled = (first, last, digits(phone)) == (wanted["first"], wanted["last"], digits(wanted["number"]))
        labelled = any(node.text == wanted["label"] and node.desc == f"{node.text} Phone" for node in shown)
        return float(filled and labelled and super().evaluate(device, answer))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other label."""
        return {**self.params, "label": {"Home": "Work", "Work": "Home"}[self.params["label"]]}


def _typed(nodes: list[Node], hint: str) -> str:
    """Returns what is in the field with that hint, "" if it is not on the screen."""
    return next((node.text.strip() for node in nodes if node.hint == hint), "")


class ContactsDeleteContact(AddressBookTask):
    """One of several contacts removed."""

    template = "Delete the contact {name}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to seven people and picks one."""
        people = address_book.people(rng, rng.randint(3, 7))
        return {"name": rng.choice(people)[0], "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody else."""
        return self.others()


class ContactsEditPhone(AddressBookTask):
    """A contact's only number exchanged for another."""

    template = "{name} has a new phone number: {number}. Replace the old one in the contacts."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws people and a number that nobody has."""
        (_, number), *people = address_book.people(rng, rng.randint(4, 7))
        return {"name": rng.choice(people)[0], "number": number, "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody, one with the new number."""
        return [*self.others(), address_book.contact(self.params["name"], self.params["number"])]


class ContactsFavorite(AddressBookTask):
    """A contact marked as a favourite."""

    template = "Add {name} to the favorite contacts."
    budget = 8
    sample = ContactsDeleteContact.sample

    def expected(self) -> list[Contact]:
        """Returns everybody, one with a star."""
        return [*self.others(), replace(self.chosen, starred=True)]


class ContactsPhoneNumberOf(AddressBookTask):
    """A question about a number."""

    template = "What is the phone number of {name}?"
    kind = "query"
    budget = 8
    sample = ContactsDeleteContact.sample

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer's digits with the number; the address book must not have changed."""
        number = dict(map(tuple, self.params["people"]))[self.params["name"]]
        return float(digits(answer or "") == digits(number) and super().evaluate(device, answer))


TASKS = (
    ContactsAddContact,
    ContactsNewContactDraft,
    ContactsDeleteContact,
    ContactsEditPhone,
    ContactsFavorite,
    ContactsPhoneNumberOf,
)
