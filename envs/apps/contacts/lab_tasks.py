"""AndroidLab's families of the Contacts app, on address books that hold more than numbers."""

from __future__ import annotations

import random
from abc import abstractmethod
from dataclasses import replace
from typing import Any

from coach_gym.envs.apps.contacts import address_book
from coach_gym.envs.apps.contacts.world_tasks import AddressBookTask
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.words import ParamRng

LABELS = ("Book club", "Clients", "Family", "Football", "Friends", "Neighbours", "School", "Suppliers")
TRADES = ("Bakery", "Books", "Clinic", "Motors", "Studio", "Travel")


def card(rng: ParamRng, name: str, number: str) -> dict[str, Any]:
    """Draws everything about one person, as the arguments of `address_book.contact`: JSON."""
    company = f"{words.NOUNS.draw(rng).title()} {rng.choice(TRADES)}"
    return {"name": name, "number": number, "emails": [email(rng, name)], "company": company}


def cards(rng: ParamRng, count: int) -> list[dict[str, Any]]:
    """Draws different people."""
    return [card(rng, *person) for person in address_book.people(rng, count)]


def email(rng: ParamRng, name: str) -> str:
    """Draws an e-mail address with a name in it."""
    return f"{name.split()[0].lower()}@{words.NOUNS.draw(rng)}.org"


class CardsTask(AddressBookTask):
    """A task on an address book that holds `params["people"]` at the start, each a `card`, and nobody else."""

    def setup(self, device: Device) -> None:
        """Makes these people the only contacts."""
        address_book.replace(device, self.people)

    @property
    def people(self) -> list[Contact]:
        """Whom the address book holds at the start."""
        return [address_book.contact(**person) for person in self.params["people"]]

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares everything about the people with `expected`."""
        return float(address_book.holds(device, self.expected(), address_book.card))

    @classmethod
    def someone(cls, rng: ParamRng, most: int = 7) -> dict[str, Any]:
        """Returns parameters of a task about one of several people."""
        people = cards(rng, rng.randint(3, most))
        return {"name": rng.choice(people)["name"], "people": people}


class ContactsAddColleague(CardsTask):
    """A new contact with a company and a number that is labelled."""

    template = "Create a contact: {name}, company {company}, work phone {number}."
    difficulty = "medium"
    budget = 26

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a new person and two to six others."""
        new, *people = cards(rng, rng.randint(2, 6))
        return {"name": new["name"], "company": new["company"], "number": new["number"], "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody, and the new person."""
        new = address_book.contact(self.params["name"], company=self.params["company"])
        new.phones = [(self.params["number"], "Work")]
        return [*self.people, new]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a number with another last digit."""
        return {**self.params, "number": address_book.other_number(self.params["number"])}


class ContactsAddWithEmail(CardsTask):
    """A new contact with a number and an e-mail address."""

    template = "Save {name} as a new contact with mobile number {number} and email {email}."
    difficulty = "medium"
    budget = 22

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a new person and two to six others."""
        new, *people = cards(rng, rng.randint(2, 6))
        return {"name": new["name"], "number": new["number"], "email": new["emails"][0], "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody, and the new person."""
        new = address_book.contact(self.params["name"], self.params["number"], emails=[self.params["email"]])
        return [*self.people, new]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns an address that ends otherwise."""
        return {**self.params, "email": self.params["email"].replace(".org", ".com")}


class ContactsChangeEmail(CardsTask):
    """An e-mail address exchanged for another."""

    template = "Change the email of {name} to {email}."
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws people and an address that nobody has."""
        params = cls.someone(rng)
        known = {person["emails"][0] for person in params["people"]}
        return {**params, "email": next(e for e in iter(lambda: email(rng, params["name"]), None) if e not in known)}

    def expected(self) -> list[Contact]:
        """Returns everybody, one with the new address."""
        return [*self.others(), replace(self.chosen, emails=[(self.params["email"], "Other")])]


class ContactsAddNote(CardsTask):
    """A note about somebody."""

    template = "Add this note to the contact {name}: {note}"
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws people and a sentence."""
        return {**cls.someone(rng), "note": words.SENTENCES.draw(rng)}

    def expected(self) -> list[Contact]:
        """Returns everybody, one with the note."""
        return [*self.others(), replace(self.chosen, note=self.params["note"])]


class ContactsSetLabel(CardsTask):
    """An existing label, given to somebody."""

    template = "Give {name} the label {label}."
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws people and three labels."""
        labels = sorted(rng.sample(LABELS, 3))
        return {**cls.someone(rng), "labels": labels, "label": rng.choice(labels)}

    def setup(self, device: Device) -> None:
        """Adds the labels, too."""
        super().setup(device)
        address_book.store_groups(device, self.params["labels"])

    def expected(self) -> list[Contact]:
        """Returns everybody, one with the label."""
        return [*self.others(), replace(self.chosen, labels=[self.params["label"]])]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another label."""
        return another(rng, self.params, "label", self.params["labels"])


class ContactsRemoveFavorite(CardsTask):
    """One of several favourites, no longer one."""

    template = "Remove {name} from the favorite contacts."
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws people, two or three of them favourites."""
        people = cards(rng, rng.randint(4, 7))
        favorites = rng.sample(people, rng.randint(2, 3))
        for person in favorites:
            person["starred"] = True
        return {"name": rng.choice(favorites)["name"], "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody, one without the star."""
        return [*self.others(), replace(self.chosen, starred=False)]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another favourite."""
        return another(rng, self.params, "name", [contact.name for contact in self.people if contact.starred])


class ContactsDeleteByNumber(CardsTask):
    """Somebody removed who is known by number alone, among too many people to look at them all."""

    template = "Delete the contact whose phone number is {number}."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws nine to fourteen people."""
        people = cards(rng, rng.randint(9, 14))
        chosen = rng.choice(people)
        return {"name": chosen["name"], "number": chosen["number"], "people": people}

    def expected(self) -> list[Contact]:
        """Returns everybody else."""
        return self.others()

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns somebody else's number."""
        numbers = {person["number"] for person in self.params["people"]} - {self.params["number"]}
        return {**self.params, "number": rng.choice(sorted(numbers))}


class _FactOf(CardsTask):
    """A question about somebody."""

    kind = "query"
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws up to fourteen people."""
        return cls.someone(rng, most=14)

    @abstractmethod
    def fact(self) -> str:
        """Returns the right answer."""

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the fact; the address book must not have changed."""
        right = (answer or "").strip(" .").casefold() == self.fact().casefold()
        return float(right and super().evaluate(device, answer))


class ContactsEmailOf(_FactOf):
    """A question about an e-mail address."""

    template = "What is the email address of {name}?"

    def fact(self) -> str:
        return self.chosen.emails[0][0]


class ContactsCompanyOf(_FactOf):
    """A question about where somebody works."""

    template = "Which company does {name} work for?"

    def fact(self) -> str:
        return self.chosen.company


class ContactsCountAtCompany(CardsTask):
    """A question whose answer is counted in what a search finds."""

    template = "How many of my contacts work for {company}?"
    difficulty = "medium"
    kind = "query"
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two companies with different numbers of people."""
        people = cards(rng, rng.randint(8, 11))
        sizes = rng.sample(range(1, 5), 2)  # different, so that the one is a wrong answer for the other
        large, small = people[0]["company"], people[4]["company"]
        for person in people[: sizes[0]]:
            person["company"] = large
        for person in people[4 : 4 + sizes[1]]:
            person["company"] = small
        count = sum(person["company"] == large for person in people)
        return {"company": large, "count": count, "other": small, "people": people}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the number; the address book must not have changed."""
        right = (answer or "").strip(" .") == str(self.params["count"])
        return float(right and super().evaluate(device, answer))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other company."""
        return {**self.params, "company": self.params["other"]}


TASKS = (
    ContactsAddColleague,
    ContactsAddWithEmail,
    ContactsChangeEmail,
    ContactsAddNote,
    ContactsSetLabel,
    ContactsRemoveFavorite,
    ContactsDeleteByNumber,
    ContactsEmailOf,
    ContactsCompanyOf,
    ContactsCountAtCompany,
)
