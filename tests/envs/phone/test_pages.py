"""Screens that several apps share: searches, selections, forms, folders, and Android's own screens for files."""

import pytest

from coach_gym.envs.phone.documents import Destination, SaveDocument
from coach_gym.envs.phone.folders import SHARED, FolderScreen, by_name, by_size
from coach_gym.envs.phone.pages import FormPage, SearchPage, SelectionPage
from coach_gym.envs.phone.records import Table
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import ListItem, ListView, Scaffold, TextField
from tests.envs.phone.sampler import showing

FRUIT = ("Apple", "Banana", "Cherry")


class Fruits(SearchPage):
    def build(self):
        rows = [ListItem(name) for name in FRUIT if self.words.casefold() in name.casefold()]
        return Scaffold(self.title_or_field("Fruits", "search"), ListView(rows), actions=[self.search_button()])


class Basket(SelectionPage):
    def build(self):
        rows = [ListItem(n, "", self.pick(n), self.pick(n), selected=n in self.selected) for n in FRUIT]
        return self.selecting(ListView(rows), []) if self.selected else Scaffold("Basket", ListView(rows))


    def pick(self, name):
        return lambda: self.toggle(name)


class Form(FormPage):
    def __init__(self, id=None, name="", note=""):
        super().__init__(id)
        self.name, self.note = TextInput(name), TextInput(note)
        self.opened()

    def values(self):
        return {"name": self.name.text, "note": self.note.text}

    def unsaved(self):
        return bool(self.changes()) if self.id is not None else any(self.values().values())

    def build(self):
        return Scaffold("Form", ListView([TextField(self.name, "Name"), TextField(self.note, "Note")]))


def test_a_search_narrows_the_list_and_back_ends_it():
    hands = showing(Fruits())
    hands.phone.top.search()
    hands.type("an")
    assert hands.shows("Banana") and not hands.shows("Apple")
    hands.back()
    hands.back()
    assert all(map(hands.shows, (*FRUIT, "Fruits")))
    hands.back()
    assert len(hands.phone.stack) == 1


def test_a_new_search_begins_empty():
    hands = showing(Fruits())
    for _ in range(2):
        hands.tap("Search")
        hands.type("ch")
        assert not hands.shows("Apple")
        hands.tap("Close")
        assert hands.shows("Apple")


def test_a_selection_grows_shrinks_and_ends():
    hands = showing(Basket())
    page = hands.phone.top
    hands.hold("Apple")
    hands.tap("Cherry")
    assert page.selected == ["Apple", "Cherry"] and hands.shows("2 selected")
    hands.tap("Apple")
    assert page.selected == ["Cherry"]
    hands.back()
    assert not page.selected and hands.shows("Basket")


@pytest.mark.parametrize(
    ("id", "typed", "changes"),
    [
        (None, "", {"name": "", "note": ""}),
        (None, "x", {"name": "x", "note": ""}),
        (7, "", {}),
        (7, "x", {"name": "nx"}),
    ],
)
def test_a_form_knows_what_to_write(id, typed, changes):
    form = Form(id, *(("n", "t") if id else ()))
    form.name.insert(typed)
    assert form.changes() == changes


@pytest.mark.parametrize(
    ("typed", "answer", "left"), [("", None, True), ("x", "Discard", True), ("x", "Cancel", False)]
)
def test_a_form_asks_before_it_loses_anything(typed, answer, left):
    hands = showing(Form(7, "n"))
    form = hands.phone.top
    form.name.insert(typed)
    hands.back()
    if answer:
        assert hands.shows("Discard changes?")
        hands.tap(answer)
    assert (form not in hands.phone.stack) == left


def test_records_are_read_whole_and_written_column_by_column():
    db = Storage().create_database("/x.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b DEFAULT 5)")
    table = Table("t", "id")
    id = table.insert(db, {"a": 1})
    assert table.read(db, id) == {"id": id, "a": 1, "b": 5}
    table.update(db, id, {"a": 2})
    table.update(db, id, {})
    assert table.read(db, id) == {"id": id, "a": 2, "b": 5}
    table.delete(db, id)
    assert table.read(db, id) == {}


# folders


class Files(FolderScreen):
    def build(self):
        rows = [ListItem(entry.name, on_tap=lambda e=entry: self.toggle(e.path)) for entry in self.listed()]
        return Scaffold(self.folder.rpartition("/")[2], ListView(rows))


@pytest.fixture
def files():
    hands = showing(Files(f"{SHARED}/a"))
    for path, size in (("a/big.txt", 30), ("a/small.txt", 1), ("a/deep/inner.txt", 9), ("b/big.txt", 2)):
        hands.storage.write(f"{SHARED}/{path}", b"x" * size)
    hands.phone.changed()
    return hands


def names(hands):
    return [entry.name for entry in hands.phone.top.listed()]


def test_a_folder_lists_folders_first_in_any_order(files):
    assert names(files) == ["deep", "big.txt", "small.txt"]
    files.phone.top.sort_by(by_size)
    assert names(files) == ["deep", "small.txt", "big.txt"]
    files.phone.top.sort_by(by_name, descending=True)
    assert names(files) == ["deep", "small.txt", "big.txt"]


def test_an_order_is_asked_for_by_name(files):
    files.phone.top.ask_order({"Size, largest first": (by_size, True), "Name": (by_name, False)})
    files.tap("Size, largest first")
    assert names(files) == ["deep", "big.txt", "small.txt"]


def test_a_search_finds_below_the_folder_alone(files):
    screen = files.phone.top
    screen.start_search()
    files.type("inner")
    assert names(files) == ["inner.txt"]
    screen.end_search()
    assert len(names(files)) == 3


def test_back_ends_selection_then_search_then_goes_up(files):
    screen = files.phone.top
    screen.enter(f"{SHARED}/a/deep")
    screen.start_search()
    files.phone.focus = None
    screen.toggle(f"{SHARED}/a/deep/inner.txt")
    for expected in ("search", "deep", "a", None):
        files.back()
        if expected == "search":
            assert not screen.selected and screen.query is not None
        elif expected:
            assert screen.query is None and screen.folder.endswith(expected)
    assert screen not in files.phone.stack


def test_going_up_ends_at_the_root(files):
    screen = files.phone.top
    screen.enter(f"{SHARED}/a/deep")
    for _ in range(3):
        screen.up()
    assert screen.at_root and screen.folder == f"{SHARED}/a"


def test_everything_selected_is_moved_copied_or_deleted(files):
    screen, storage = files.phone.top, files.storage
    screen.select_all()
    screen.copy_selected(f"{SHARED}/c")
    assert storage.listdir(f"{SHARED}/c") == ["big.txt", "deep", "small.txt"] == storage.listdir(f"{SHARED}/a")
    screen.toggle(f"{SHARED}/a/big.txt")
    screen.move_selected(f"{SHARED}/b")
    assert storage.listdir(f"{SHARED}/b") == ["big (1).txt", "big.txt"] and "big.txt" not in names(files)
    screen.select_all()
    screen.delete_selected()
    assert names(files) == [] and storage.files_below(f"{SHARED}/c")


@pytest.mark.parametrize(
    ("name", "there", "message"),
    [("new.txt", "new.txt", ""), ("big.txt", "small.txt", "already exists"), ("a/b", "small.txt", "can't be used")],
)
def test_renaming_refuses_names_that_are_taken_or_impossible(files, name, there, message):
    screen = files.phone.top
    screen.toggle(f"{SHARED}/a/small.txt")
    screen.ask_rename()
    files.type(name)
    files.tap("OK")
    assert files.storage.exists(f"{SHARED}/a/{there}") and not screen.selected
    assert (files.phone.message is not None) == bool(message)
    assert not message or message in files.phone.message[0]


# Android's own screens


def test_a_destination_is_found_by_walking(files):
    chosen = []
    files.phone.push(files.phone.apps["org.example.sampler"], Destination("MOVE", chosen.append))
    files.tap("a", "deep")
    files.back()
    files.tap("MOVE")
    assert chosen == [f"{SHARED}/a"]


def test_a_destination_can_be_refused(files):
    chosen = []
    files.phone.push(files.phone.apps["org.example.sampler"], Destination("MOVE", chosen.append))
    files.tap("CANCEL")
    assert not chosen and isinstance(files.phone.top, Files)


@pytest.mark.parametrize(("name", "saved"), [("", "paper.pdf"), ("mine.pdf", "mine.pdf"), ("a/b", None)])
def test_a_document_is_saved_under_a_free_name(files, name, saved):
    chosen = []
    files.phone.push(files.phone.apps["org.example.sampler"], SaveDocument("paper.pdf", chosen.append))
    screen = files.phone.top
    if name:
        screen.name.set(name)
    files.tap("SAVE" if files.shows("SAVE") else "Save")
    assert chosen == ([f"{SHARED}/Download/{saved}"] if saved else [])
    assert (files.phone.message is None) == (saved is not None)
