"""What the screens of Contacts share, and what differs between the app's versions on the two phones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from coach_gym.envs.phone.app import App, Host, Screen
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.phone.toolkit.view import View

CONTACTS, HIGHLIGHTS, ORGANIZE = "Contacts", "Highlights", "Organize"


@dataclass(frozen=True)
class Edition:
    """A version of the app.

    Attributes:
        places: Icon and name of each tab.
        person_row: Makes a row of a list of people, from a name, what a tap and a long press do, and whether it is
            selected.
        number_row: Makes a row of a person's page from a number, its label, and what a tap does.
        email_row: The same for an address.
        photo: Makes the picture on a person's page, from the name.
        write_to: Opens a conversation, from the phone, a number and a name.
        email_label: Label of a new address.
        labels_emails: Whether the form asks for the labels of addresses.
        shows_new: Whether saving a new contact leads to its page.
        people: Whom the address book of a new phone holds.
    """

    places: tuple[tuple[str, str], ...]
    person_row: Callable[[str, partial, partial | None, bool], View]
    number_row: Callable[[str, str, partial], View]
    email_row: Callable[[str, str, partial], View]
    photo: Callable[[str], View]
    write_to: Callable[[Host, str, str], Any]
    email_label: str = "Other"
    labels_emails: bool = False
    shows_new: bool = False
    people: tuple[Contact, ...] = ()


class AddressBook(App):
    """An app over Android's address book, in one of its editions."""

    package = "com.google.android.contacts"

    def __init__(self, phone: Host, edition: Edition) -> None:
        super().__init__(phone)
        self.edition = edition

    def install(self) -> None:
        """Makes the address book, with the people that a new phone has."""
        contacts.insert_all(contacts.opened(self.phone.storage), self.edition.people)


class ContactsScreen(Screen):
    """What the screens of this app have in common."""

    app: AddressBook

    @property
    def book(self) -> sqlite3.Connection:
        """The address book's database."""
        return contacts.opened(self.phone.storage)

    @property
    def edition(self) -> Edition:
        """The version of the app."""
        return self.app.edition
