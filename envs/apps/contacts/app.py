"""Contacts: the list of people, one person's page, and (in `contact_form`) the form for a new or old one."""

from __future__ import annotations

import sqlite3
from functools import partial

from coach_gym.envs.apps.contacts.form import ContactForm
from coach_gym.envs.apps.messages import app as messages
from coach_gym.envs.phone.app import App, Confirm, Dialog, Menu, Prompt, Screen
from coach_gym.envs.phone.intents import CALL, INSERT, VIEW, Intent
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Avatar,
    BottomNavigation,
    Button,
    CheckItem,
    Column,
    Empty,
    Fab,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

PLACES = (("account_outline", "Contacts"), ("star_circle_outline", "Highlights"))


class Contacts(App):
    package = "com.google.android.contacts"
    activity = "com.android.contacts.activities.PeopleActivity"
    label = "Contacts"
    icon = "account"
    color = "#1a73e8"

    def install(self) -> None:
        self.database(contacts.PATH, contacts.SCHEMA)

    def main(self) -> Screen:
        return People()

    def open(self, intent: Intent) -> bool:
        """A form for a new contact, filled with the `name`, `phone` and `email` of an insertion; or everybody."""
        if intent.action == VIEW and intent.data.startswith(("content://contacts", "content://com.android.contacts")):
            self.phone.launch(self.package)
            return True
        if intent.action != INSERT or not intent.type.endswith(("/contact", "/raw_contact")):
            return False
        first, _, last = intent.extra("name").strip().rpartition(" ")
        number, email = intent.extra("phone"), intent.extra("email")
        person = contacts.Contact(
            first or last, last if first else "", phones=[(number, "Mobile")] if number else [],
            emails=[email] if email else [],
        )  # fmt: skip
        self.phone.open_screen(self.package, ContactForm(person))
        return True

    @property
    def book(self) -> sqlite3.Connection:
        """The address book's database."""
        return self.phone.storage.database(contacts.PATH)


class ContactsScreen(Screen):
    """What the screens of this app have in common."""

    app: Contacts

    @property
    def book(self) -> sqlite3.Connection:
        return self.app.book


class People(ContactsScreen):
    """Everybody, or the favourites, or those that match the words in the search field."""

    def __init__(self) -> None:
        super().__init__()
        self.search = TextInput()
        self.place = "Contacts"
        self.chosen: list[int] = []

    def build(self) -> View:
        people = contacts.listing(self.book, self.search.text, self.place == "Highlights")
        rows = [self._row(id, name) for id, name in people]
        body = ListView(rows) if rows else Empty(self._nobody(), "account_outline")
        bottom = self._places()
        if self.chosen:
            delete = IconButton("delete_outline", "Delete", self._ask)
            return Scaffold(f"{len(self.chosen)} selected", body, self._unselect, [delete], bottom=bottom)
        field = TextField(self.search, "Search contacts", "open_search_bar", radius=24)
        fab = Fab("plus", "Create contact", self._create, "floating_action_button")
        return Scaffold(field, body, fab=fab, bottom=bottom)

    def _places(self) -> View:
        return BottomNavigation(PLACES, self.place, self._go)

    def _row(self, id: int, name: str) -> View:
        chosen = id in self.chosen
        tap = partial(self._toggle, id) if self.chosen else partial(self._open, id)
        return ListItem(name, on_tap=tap, on_long=partial(self._toggle, id), leading=Avatar(name), selected=chosen)

    def _nobody(self) -> str:
        return "No results" if self.search.text else "No favorites" if self.place == "Highlights" else "No contacts yet"

    def _go(self, place: str) -> None:
        self.place = place

    def _open(self, id: int) -> None:
        self.push(Person(id))

    def _create(self) -> None:
        form = ContactForm()
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
        self.chosen = []

    def on_back(self) -> bool:
        shown = (self.chosen, self.search.text, self.place)
        self.chosen, self.place = [], "Contacts"
        self.search.set("")
        return shown != ([], "", "Contacts")


class Person(ContactsScreen):
    """All that is known of one person, and what can be done with it."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        contact = contacts.get(self.book, self.id)
        if contact is None:
            return Scaffold("", Empty("This contact does not exist any more", "account_outline"), self.pop)
        star = ("star", "Remove from favorites") if contact.starred else ("star_outline", "Add to favorites")
        actions = [
            IconButton("pencil_outline", "Edit contact", self._edit, "menu_edit"),
            IconButton(*star, self._star, "menu_star"),
            IconButton("dots_vertical", "More options", self._menu),
        ]
        return Scaffold("", ListView([self._heading(contact), *self._rows(contact)]), self.pop, actions)

    def _heading(self, contact: contacts.Contact) -> View:
        lines = [Text(contact.name, 24, align="center", id="large_title")]
        work = ", ".join(filter(None, (contact.title, contact.company)))
        if work and contact.name != work:
            lines.append(Text(work, 14, theme.SECONDARY, align="center", id="organization_name"))
        return Column([Row([Avatar(contact.name)], justify="center"), *lines, self._shortcuts(contact)], 8, 16)

    def _shortcuts(self, contact: contacts.Contact) -> View:
        if not contact.phones:
            return Row([Button("Add phone", self._edit, kind="tonal")], justify="center")
        number = contact.phones[0][0]
        call = Button("Call", partial(self._call, number), kind="tonal")
        return Row([call, Button("Text", partial(self._text, number), kind="tonal")], 12, justify="center")

    def _rows(self, contact: contacts.Contact) -> list[View]:
        rows = [ListItem(number, label, partial(self._call, number)) for number, label in contact.phones]
        rows += [ListItem(address, "Email", partial(self._copy, address)) for address in contact.emails]
        known = (("Notes", contact.note), ("Labels", ", ".join(contact.labels)))
        rows += [ListItem(text, what, important=True) for what, text in known if text]
        return rows

    def _edit(self) -> None:
        self.push(ContactForm(contacts.get(self.book, self.id)))

    def _star(self) -> None:
        contact = self._contact()
        contact.starred = not contact.starred
        contacts.update(self.book, contact)

    def _contact(self) -> contacts.Contact:
        return contacts.get(self.book, self.id) or contacts.Contact()

    def _call(self, number: str) -> None:
        self.phone.start(Intent(CALL, f"tel:{number}"))

    def _text(self, number: str) -> None:
        messages.write_to(self.phone, number)

    def _copy(self, text: str) -> None:
        self.phone.clipboard = text
        self.notify("Copied to clipboard")

    def _menu(self) -> None:
        self.push(Menu([("Change labels", self._labels), ("Delete", self._ask)]))

    def _labels(self) -> None:
        self.push(Labels(self.id))

    def _ask(self) -> None:
        self.push(Confirm("Delete contact?", "", "Delete", self._delete))

    def _delete(self) -> None:
        contacts.delete(self.book, self.id)
        self.pop()
        self.notify("1 contact deleted")


class Labels(Dialog, ContactsScreen):
    """Check marks for the labels of one person."""

    def __init__(self, id: int) -> None:
        super().__init__("Change labels")
        self.id = id
        self.marked: list[str] | None = None  # None: nothing changed yet

    def content(self) -> list[View]:
        marked = self._marked()
        rows = [CheckItem(t, t in marked, partial(self._toggle, t)) for t in contacts.groups(self.book)]
        return [*rows, ListItem("Create new", on_tap=self._ask)]

    def buttons(self) -> list[View]:
        return [self.button("Cancel"), self.button("Save", self._save)]

    def _marked(self) -> list[str]:
        contact = contacts.get(self.book, self.id)
        return self.marked if self.marked is not None else contact.labels if contact else []

    def _toggle(self, title: str) -> None:
        self.marked = list(self._marked())
        if title in self.marked:
            self.marked.remove(title)
        else:
            self.marked.append(title)

    def _ask(self) -> None:
        self.push(Prompt("Create label", self._create, hint="Label name", yes="Save"))

    def _create(self, title: str) -> None:
        if title.strip():
            contacts.create_group(self.book, title.strip())
            self.marked = sorted({*self._marked(), title.strip()})

    def _save(self) -> None:
        contact = contacts.get(self.book, self.id)
        if contact is not None:
            contact.labels = self._marked()
            contacts.update(self.book, contact)


APP = Contacts
