"""Pages that apps share: a search in the title, a selection in a list, and a form that writes only what changed."""

from functools import partial

import numpy as np
import pytest

from coach_gym.envs.phone.app import DatabaseApp, Screen
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.records import Table
from coach_gym.envs.phone.screens.pages import FormPage, SearchPage, SelectionPage
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, IconButton, ListItem, ListView, Scaffold, TextField
from tests.envs.hands import Hands
from tests.envs.records import add_record, changed, records

PACKAGE = "org.example.shelf"
BOOKS = Table("books", "id")


class Shelf(DatabaseApp):
    """An app of this test: a list of books."""

    package = PACKAGE
    label = "Shelf"
    path = f"/data/data/{PACKAGE}/databases/books.db"
    schema = "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author TEXT, shelf INTEGER DEFAULT 1);"

    def main(self) -> Screen:
        return Books()


class Books(SearchPage, SelectionPage[int]):
    """All books: to search, to select and delete, to add."""

    app: Shelf

    def build(self) -> View:
        found = self.app.db.execute("SELECT id, title FROM books WHERE instr(title, ?) ORDER BY id", (self.words,))
        body = ListView([self._row(*row) for row in found])
        if self.selected:
            return self.selecting(body, [IconButton("delete_outline", "Delete", self._delete)])
        add = IconButton("plus", "Add", lambda: self.push(Form()))
        return Scaffold(self.title_or_field("Books", "field"), body, actions=[self.search_button(), add])

    def _row(self, id: int, title: str) -> View:
        toggle = partial(self.toggle, id)
        tap = toggle if self.selected else lambda: self.push(Form(id, BOOKS.read(self.app.db, id)))
        return ListItem(title or "Untitled", "", tap, toggle, selected=id in self.selected)

    def _delete(self) -> None:
        for id in self.selected:
            BOOKS.delete(self.app.db, id)
        self.unselect()


class Form(FormPage):
    """Title and author of a book."""

    app: Shelf
    stay = "Keep on"

    def __init__(self, id: int | None = None, book: dict | None = None) -> None:
        super().__init__(id)
        self.inputs = {column: TextInput((book or {}).get(column) or "") for column in ("title", "author")}
        self.opened()

    def values(self) -> dict[str, str]:
        return {column: field.text.strip() for column, field in self.inputs.items()}

    def unsaved(self) -> bool:
        return bool(self.changes()) if self.id else any(self.values().values())

    def build(self) -> View:
        fields = [TextField(field, column) for column, field in self.inputs.items()]
        return Scaffold("Book", Column([*fields, Button("Save", self._save)]), self.leave)

    def _save(self) -> None:
        if self.id is None:
            BOOKS.insert(self.app.db, self.changes())
        else:
            BOOKS.update(self.app.db, self.id, self.changes())
        self.pop()


@pytest.fixture
def hands():
    hands = Hands(PACKAGE, phone=Phone(360, 640, apps=[Shelf]))
    for title in ("Waves", "Woods", "Hills"):
        BOOKS.insert(database(hands), {"title": title})
    hands.phone.changed()
    return hands


def database(hands):
    return hands.storage.database(Shelf.path)


def titles(hands):
    return [title for (title,) in database(hands).execute("SELECT title FROM books ORDER BY id")]


def shown(hands):
    return [element.label for element in hands.elements if element.long_clickable]


# searching


def test_a_search_narrows_the_list_and_its_button_ends_it(hands):
    assert hands.shows("Books")
    hands.tap("Search")
    assert not hands.shows("Books") and shown(hands) == ["Waves", "Woods", "Hills"]
    hands.type("W")
    assert shown(hands) == ["Waves", "Woods"]
    hands.tap("Close")
    assert hands.shows("Books") and len(shown(hands)) == 3


def test_a_search_begins_with_the_cursor_in_an_empty_field(hands):
    hands.tap("Search")
    hands.type("Hills")
    hands.tap("Close", "Search")
    assert hands.find("field" if hands.shows("field") else "Search").focused
    assert len(shown(hands)) == 3


def test_back_ends_the_search_before_it_leaves(hands):
    hands.tap("Search")
    hands.type("Hills")
    hands.back()  # puts the keyboard away
    hands.back()
    assert hands.shows("Books") and len(shown(hands)) == 3
    hands.back()
    assert hands.phone.foreground != PACKAGE


# selecting


def test_a_long_touch_selects_and_touches_then_select_more(hands):
    hands.hold("Woods")
    assert hands.shows("1 selected") and hands.find("Woods").selected
    hands.tap("Hills", "Waves", "Hills")
    assert hands.shows("2 selected") and not hands.find("Hills").selected
    hands.tap("Delete")
    assert titles(hands) == ["Hills"] and hands.shows("Books")


def test_unselecting_the_last_item_ends_the_selection(hands):
    hands.hold("Woods")
    hands.tap("Woods")
    assert hands.shows("Books")


@pytest.mark.parametrize("leave", [lambda hands: hands.back(), lambda hands: hands.tap("Navigate up")])
def test_back_and_the_arrow_end_the_selection(hands, leave):
    hands.hold("Woods")
    leave(hands)
    assert hands.shows("Books") and hands.phone.foreground == PACKAGE and len(titles(hands)) == 3


def test_a_snapshot_keeps_the_selection(hands):
    hands.hold("Woods")
    saved, frame = hands.phone.snapshot(), hands.phone.screenshot()
    for _ in range(2):
        hands.tap("Waves", "Delete")
        assert titles(hands) == ["Hills"]
        hands.phone.restore(saved)
        assert len(titles(hands)) == 3 and np.array_equal(hands.phone.screenshot(), frame)


# forms


def test_a_new_record_is_written_whole(hands):
    hands.tap("Add", "title")
    hands.type("Seas ")
    hands.tap("Save")
    assert records(database(hands), "books")[-1] == {"id": 4, "title": "Seas", "author": "", "shelf": 1}


@pytest.mark.parametrize("full", [True, False])
def test_an_edit_writes_the_field_that_changed_and_nothing_else(hands, full):
    add_record(database(hands), "books", full, title=" Seas ")
    hands.phone.changed()
    before = records(database(hands), "books")
    hands.tap(" Seas ")
    hands.select_text("author")
    hands.type("Ann")
    hands.tap("Save")
    assert changed(before, records(database(hands), "books")) == [{}, {}, {}, {"author": "Ann"}]


def test_saving_without_a_change_writes_nothing(hands):
    add_record(database(hands), "books", title=" Seas ")
    hands.phone.changed()
    before = records(database(hands), "books")
    hands.tap(" Seas ", "Save")
    assert records(database(hands), "books") == before and hands.shows("Books")


@pytest.mark.parametrize("leave", [lambda hands: hands.back(), lambda hands: hands.tap("Navigate up")])
def test_leaving_asks_only_if_something_would_be_lost(hands, leave):
    hands.tap("Woods")
    leave(hands)
    assert hands.shows("Books")
    hands.tap("Woods", "author")
    hands.type("Ann")
    hands.back()  # puts the keyboard away
    leave(hands)
    hands.tap("Keep on")
    assert hands.shows("Book")
    leave(hands)
    hands.tap("Discard")
    assert hands.shows("Books") and records(database(hands), "books")[1]["author"] is None


def test_text_that_is_typed_back_is_no_change(hands):
    hands.tap("Woods")
    hands.select_text("title")
    hands.type("Trees")
    hands.select_text("title")
    hands.type("Woods")
    hands.back()
    hands.back()
    assert hands.shows("Books")
