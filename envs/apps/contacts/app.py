"""Contacts: the list of people. A person's page, the form and the labels have files of their own."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.apps.contacts.edition import CONTACTS, HIGHLIGHTS, ORGANIZE, AddressBook, ContactsScreen, Edition
from coach_gym.envs.apps.contacts.form import ContactForm
from coach_gym.envs.apps.contacts.labels import LabelPage
from coach_gym.envs.apps.contacts.person import Person
from coach_gym.envs.phone.app import Confirm, Host, Prompt, Screen
from coach_gym.envs.phone.intents import CATEGORY, INSERT, INSERT_OR_EDIT, SENDTO, VIEW, Intent
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Avatar,
    BottomNavigation,
    Empty,
    Fab,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Scaffold,
    TextField,
)


def _person_row(name: str, on_tap: partial, on_long: partial | None, selected: bool) -> View:
    return ListItem(name, on_tap=on_tap, on_long=on_long, leading=Avatar(name), selected=selected)


def _number_row(number: str, label: str, on_tap: partial) -> View:
    return ListItem(number, label, on_tap)


def _email_row(address: str, label: str, on_tap: partial) -> View:
    return ListItem(address, "Email", on_tap)


def _write_to(phone: Host, number: str, name: str) -> None:
    phone.start(Intent(SENDTO, f"smsto:{number}"))


ANDROID_WORLD = Edition(
    places=(("account_outline", CONTACTS), ("star_circle_outline", HIGHLIGHTS)),
    person_row=_person_row,
    number_row=_number_row,
    email_row=_email_row,
    photo=Avatar,
    write_to=_write_to,
)


class Contacts(AddressBook):
    """The Contacts app."""

    activity = "com.android.contacts.activities.PeopleActivity"
    role = f"{CATEGORY}APP_CONTACTS"
    activities = (ContactForm.activity,)
    label = "Contacts"
    icon = "account"
    color = "#1a73e8"

    def __init__(self, phone: Host, edition: Edition = ANDROID_WORLD) -> None:
        super().__init__(phone, edition)

    def main(self) -> Screen:
        """Shows everybody."""
        return People()

    def open(self, intent: Intent) -> bool:
        """Shows a form filled with the `name`, `phone` and `email` of an insertion; or everybody."""
        if intent.action == VIEW and intent.data.startswith(("content://contacts", "content://com.android.contacts")):
            self.phone.launch(self.package)
            return True
        if intent.action not in (INSERT, INSERT_OR_EDIT) or not intent.type.endswith(("/contact", "/raw_contact")):
            return False
        first, _, last = intent.extra("name").strip().rpartition(" ")
        number, email = intent.extra("phone"), intent.extra("email")
        person = contacts.Contact(
            first or last, last if first else "", phones=[(number, "Mobile")] if number else [],
            emails=[(email, self.edition.email_label)] if email else [],
        )  # fmt: skip
        self.phone.open_screen(self.package, ContactForm(self.edition, person))
        return True


class People(ContactsScreen):
    """Everybody, or the favourites, or those that match the words in the search field; or the labels."""

    def __init__(self) -> None:
        super().__init__()
        self.search = TextInput()
        self.place = CONTACTS
        self.chosen: list[int] = []

    def build(self) -> View:
        """Lists people, or labels."""
        bottom = BottomNavigation(self.edition.places, self.place, partial(setattr, self, "place"))
        if self.place == ORGANIZE:
            return Scaffold(ORGANIZE, ListView(self._labels()), bottom=bottom)
        people = contacts.listing(self.book, self.search.text, self.place == HIGHLIGHTS)
        rows = [self._row(id, name) for id, name in people]
        body = ListView(rows) if rows else Empty(self._nobody(), "account_outline")
        if self.chosen:
            delete = IconButton("delete_outline", "Delete", self._ask)
            return Scaffold(f"{len(self.chosen)} selected", body, self._unselect, [delete], bottom=bottom)
        field = TextField(self.search, "Search contacts", "open_search_bar", radius=24)
        fab = Fab("plus", "Create contact", self._create, "floating_action_button")
        return Scaffold(field, body, fab=fab, bottom=bottom)

    def _row(self, id: int, name: str) -> View:
        tap = partial(self._toggle, id) if self.chosen else partial(self._open, id)
        return self.edition.person_row(name, tap, partial(self._toggle, id), id in self.chosen)

    def _nobody(self) -> str:
        return "No results" if self.search.text else "No favorites" if self.place == HIGHLIGHTS else "No contacts yet"

    def _labels(self) -> list[View]:
        titles = contacts.groups(self.book)
        rows = [ListItem(title, on_tap=partial(self._show, title), leading=Icon("label_outline")) for title in titles]
        create = ListItem("Create label", on_tap=self._ask_label, leading=Icon("plus"))
        return [Header("Labels"), *rows, create]

    def _ask_label(self) -> None:
        self.push(Prompt("Create label", self._create_label, hint="Label name", yes="Save"))

    def _create_label(self, title: str) -> None:
        if title.strip():
            contacts.create_group(self.book, title.strip())
            self._show(title.strip())

    def _show(self, title: str) -> None:
        self.push(LabelPage(title))

    def _open(self, id: int) -> None:
        self.push(Person(id))

    def _create(self) -> None:
        form = ContactForm(self.edition, saved=self._open if self.edition.shows_new else None)
        self.push(form)
        self.focus(form.first)

    def _toggle(self, id: int) -> None:
        if id in self.chosen:
            self.chosen.remove(id)
        else:
            self.chosen.append(id)
        self.phone.focus = None

    def _unselect(self) -> None:
        self.chosen = []

    def _ask(self) -> None:
        title = "Delete contact?" if len(self.chosen) == 1 else f"Delete {len(self.chosen)} contacts?"
        self.push(Confirm(title, "", "Delete", self._delete))

    def _delete(self) -> None:
        for id in self.chosen:
            contacts.delete(self.book, id)
        self._unselect()

    def on_back(self) -> bool:
        """Returns to everybody, if anything else is shown."""
        shown = (self.chosen, self.search.text, self.place)
        self.chosen, self.place = [], CONTACTS
        self.search.set("")
        return shown != ([], "", CONTACTS)


APP = Contacts
