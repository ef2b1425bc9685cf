"""The labels of the address book, and the people with one of them."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.apps.contacts.edition import ContactsScreen
from coach_gym.envs.apps.contacts.person import Person
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Button, CheckItem, IconButton, ListView, Scaffold


class LabelPage(ContactsScreen):
    """The people with one label."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def build(self) -> View:
        """Lists the people with the label."""
        members = contacts.members(self.book, self.title)
        rows = [self.edition.person_row(name, partial(self._open, id), None, False) for id, name in members]
        add = IconButton("account_plus_outline", "Add contacts", lambda: self.push(ChooseMembers(self.title)))
        return Scaffold(f"{self.title} • label", ListView(rows, focusable=True), self.pop, [add])

    def _open(self, id: int) -> None:
        self.push(Person(id))


class ChooseMembers(ContactsScreen):
    """Check marks to give people a label."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.chosen: list[int] = []

    def build(self) -> View:
        """Lists the people without the label."""
        known = {id for id, _ in contacts.members(self.book, self.title)}
        rows = [self._row(id, name) for id, name in contacts.listing(self.book) if id not in known]
        return Scaffold("Choose contacts", ListView(rows), self.pop, [Button("Add", self._done)])

    def _row(self, id: int, name: str) -> View:
        return CheckItem(name, id in self.chosen, partial(self._toggle, id))

    def _toggle(self, id: int) -> None:
        self.chosen = [other for other in self.chosen if other != id] + [id] * (id not in self.chosen)

    def _done(self) -> None:
        for id in self.chosen:
            contact = contacts.get(self.book, id)
            if contact is not None:
                contact.labels.append(self.title)
                contacts.update(self.book, contact)
        self.pop()
