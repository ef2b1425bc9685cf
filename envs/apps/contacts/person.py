"""A person's page, and the dialog for the person's labels."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.apps.contacts.edition import ContactsScreen
from coach_gym.envs.apps.contacts.form import ContactForm, birthday_text
from coach_gym.envs.phone.app import Confirm, Dialog, Menu, Prompt
from coach_gym.envs.phone.intents import CALL, Intent
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    CheckItem,
    Column,
    Empty,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
)


class Person(ContactsScreen):
    """Everything about one person, and what can be done with it."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the person, or that there is no such person any more."""
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

    def _heading(self, contact: Contact) -> View:
        lines = [Text(contact.name, 24, align="center", id="large_title")]
        work = ", ".join(filter(None, (contact.title, contact.company)))
        if work and contact.name != work:
            lines.append(Text(work, 14, theme.SECONDARY, align="center", id="organization_name"))
        photo = Row([self.edition.photo(contact.name)], justify="center")
        return Column([photo, *lines, self._shortcuts(contact)], 8, 16)

    def _shortcuts(self, contact: Contact) -> View:
        if not contact.phones:
            return Row([Button("Add phone", self._edit, kind="tonal")], justify="center")
        number = contact.phones[0][0]
        call = Button("Call", partial(self._call, number), kind="tonal")
        text = Button("Text", partial(self.edition.write_to, self.phone, number, contact.name), kind="tonal")
        return Row([call, text], 12, justify="center")

    def _rows(self, contact: Contact) -> list[View]:
        edition = self.edition
        rows = [edition.number_row(number, label, partial(self._call, number)) for number, label in contact.phones]
        rows += [edition.email_row(address, label, partial(self._copy, address)) for address, label in contact.emails]
        facts = (
            (contact.nickname, "Nickname"), (contact.address, "Address"),
            (birthday_text(contact.birthday), "Birthday"), (contact.website, "Website"), (contact.friend, "Friend"),
            (contact.note, "Notes"), (", ".join(contact.labels), "Labels"),
        )  # fmt: skip
        return rows + [ListItem(text, what, important=True) for text, what in facts if text]

    def _edit(self) -> None:
        self.push(ContactForm(self.edition, contacts.get(self.book, self.id)))

    def _star(self) -> None:
        contact = contacts.get(self.book, self.id)
        if contact is not None:
            contact.starred = not contact.starred
            contacts.update(self.book, contact)

    def _call(self, number: str) -> None:
        self.phone.start(Intent(CALL, f"tel:{number}"))

    def _copy(self, text: str) -> None:
        self.phone.clipboard = text
        self.notify("Copied to clipboard")

    def _menu(self) -> None:
        self.push(Menu([("Change labels", lambda: self.push(Labels(self.id))), ("Delete", self._ask)]))

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
        """Lists the labels, and "Create new"."""
        marked = self._marked()
        rows = [CheckItem(t, t in marked, partial(self._toggle, t)) for t in contacts.groups(self.book)]
        return [*rows, ListItem("Create new", on_tap=self._ask)]

    def buttons(self) -> list[View]:
        """Returns "Cancel" and "Save"."""
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
