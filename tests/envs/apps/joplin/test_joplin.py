"""Joplin by touch: notebooks, notes, to-dos and their check boxes, as its database holds them."""

import sqlite3

import pytest

from coach_gym.envs.apps.joplin import data
from coach_gym.envs.apps.joplin.data import DATABASE, PACKAGE
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

NOTES = (  # notebook, title, body, to-do
    ("Work", "Plan", "# Goals\n- first\n- [ ] write it\n- [x] read it", False),
    ("Work", "Call Ann", "about the Plan", True),
    ("Recipes", "Soup", "1. boil\n2. eat", False),
)


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    db = hands.storage.database(DATABASE)
    books = {title: data.create_folder(db, title, hands.phone.now) for title in ("Work", "Recipes")}
    for book, title, body, todo in NOTES:
        data.create(db, books[book], title, body, hands.phone.now, todo)
    hands.phone.changed()
    return hands


def stored(hands, columns, table="notes"):
    return hands.storage.database(DATABASE).execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()


def find(hands, words):
    hands.tap("Search")
    hands.type(words)
    hands.back()


def titles(hands):
    known = {row[0] for row in stored(hands, "title")}
    return {element.label for element in hands.elements} & known


def test_the_side_menu_goes_to_a_notebook_and_back_to_all_notes(hands):
    assert titles(hands) == {"Plan", "Call Ann", "Soup"}
    hands.tap("Sidebar", "Work")
    assert titles(hands) == {"Plan", "Call Ann"}
    hands.tap("Sidebar", "All notes")
    assert titles(hands) == {"Plan", "Call Ann", "Soup"}


def test_only_a_to_do_has_a_box_and_ticking_it_completes_it(hands):
    boxes = [element for element in hands.elements if element.checkable]
    assert [box.label for box in boxes] == ["to-do: Call Ann"]
    hands.tap("to-do: Call Ann")
    assert [bool(row[0]) for row in stored(hands, "todo_completed")] == [False, True, False]
    assert hands.find("to-do: Call Ann").checked
    hands.tap("to-do: Call Ann")
    assert not any(row[0] for row in stored(hands, "todo_completed"))


def test_search_finds_every_word_in_titles_and_texts(hands):
    find(hands, "PLAN")
    assert titles(hands) == {"Plan", "Call Ann"}
    hands.tap("Clear")
    hands.tap("Search")
    hands.type("plan about")
    assert titles(hands) == {"Call Ann"}


def test_search_finds_what_others_wrote_into_the_normalised_table(hands):
    """As official benchmark code seeds notes: without lower case in the bodies."""
    db = hands.storage.database(DATABASE)
    db.execute("INSERT INTO notes(id, title, body, created_time, updated_time) VALUES ('x', 'Big Day', 'Sing', 1, 1)")
    db.execute("INSERT INTO notes_normalized(id, title, body) VALUES ('x', 'big day', 'Sing')")
    find(hands, "sing day")
    assert titles(hands) == {"Big Day"}


def test_markdown_is_shown_as_it_looks_and_its_boxes_can_be_ticked(hands):
    hands.tap("Plan")
    assert hands.shows("Goals") and hands.shows("• first")
    assert not hands.find("write it").checked and hands.find("read it").checked
    hands.tap("write it", "read it")
    assert stored(hands, "body")[0] == ("# Goals\n- first\n- [x] write it\n- [ ] read it",)


def test_a_new_to_do_goes_to_the_notebook_that_is_shown(hands):
    hands.tap("Sidebar", "Recipes", "Add new", "New to-do")
    hands.type("Buy salt")
    hands.back()
    hands.tap("Save changes")
    title, todo, folder = stored(hands, "title, is_todo, parent_id")[-1]
    assert (title, todo, data.folder_title(hands.storage.database(DATABASE), folder)) == ("Buy salt", 1, "Recipes")
    assert stored(hands, "title, is_todo", "notes_normalized")[-1] == ("buy salt", 1)


def test_editing_is_kept_when_left_with_back(hands):
    hands.tap("Soup", "Edit", "Add body")
    hands.type("\n3. wash up")
    hands.back()
    hands.back()
    assert stored(hands, "body")[2] == ("1. boil\n2. eat\n3. wash up",) and hands.shows("3. wash up")


def test_converting_moving_and_deleting(hands):
    hands.tap("Soup", "More options", "Convert to to-do")
    assert stored(hands, "is_todo")[2] == (1,)
    hands.tap("More options", "Move to notebook…", "Work")
    assert len({row[0] for row in stored(hands, "parent_id")}) == 1
    hands.tap("More options", "Delete note", "Cancel", "More options", "Delete note", "OK")
    assert titles(hands) == {"Plan", "Call Ann"} and len(stored(hands, "id", "notes_normalized")) == 2


def test_a_notebook_needs_a_title(hands):
    hands.tap("Sidebar", "New notebook", "OK")
    assert len(stored(hands, "id", "folders")) == 2
    hands.tap("New notebook")
    hands.type("Travel")
    hands.back()
    hands.tap("OK")
    assert hands.shows("Travel")


def test_a_file_that_somebody_pushed_is_read(hands):
    """The database's bytes are SQLite's, so a program outside may write them."""
    outside = sqlite3.connect(":memory:")
    outside.deserialize(hands.storage.read(DATABASE))
    outside.execute("UPDATE notes SET title = 'Pushed' WHERE title = 'Plan'")
    outside.commit()
    hands.storage.write(DATABASE, outside.serialize())
    hands.phone.changed()
    assert "Pushed" in titles(hands)


def edit_title(app):
    app.tap("Edit")
    app.hold("Add title")
    app.type("Tour")
    app.back()
    app.tap("Save changes")


def edit_body(app):
    app.tap("Edit")
    app.hold("Add body")
    app.type("Sold")
    app.back()
    app.back()


def tick_line(app):
    app.tap("pack ")


def tick_note(app):
    app.tap("to-do:  Trip ")


def move(app):
    app.tap("More options", "Move to notebook…", "Work")


@pytest.mark.parametrize("edit, change", [
    (edit_title, {"title": "Tour"}), (edit_body, {"body": "Sold"}), (tick_note, {"todo_completed": 0}),
    (tick_line, {"body": "* [x]pack \n\n"}), (move, {"parent_id": "work"}),
])  # fmt: skip
def test_an_edit_of_a_full_note_changes_what_was_edited_in_both_tables(edit, change):
    app = Hands(PACKAGE, (540, 1200))
    db = app.storage.database(DATABASE)
    for id in ("work", "home"):
        add_record(db, "folders", id=id, title=id.title())
    for id, title in (("a", "Rest"), ("b", " Trip ")):
        add_record(db, "notes", id=id, parent_id="home", title=title, body="* [ ]pack \n\n", is_todo=1)
        data.update(db, id, app.phone.now)
    app.phone.changed()
    before, copies = records(db, "notes"), records(db, "notes_normalized")
    app.tap(" Trip ")
    edit(app)
    after = records(db, "notes")
    times = {name: after[1][name] for name in ("updated_time", "user_updated_time")}
    assert changed(before, after) == [{}, {**change, **times}]
    copied = {name: value.lower() if name == "title" or name == "body" else value for name, value in change.items()}
    copied["user_updated_time"] = times["user_updated_time"]
    assert changed(copies, records(db, "notes_normalized")) == [{}, copied]


def test_renaming_a_notebook_keeps_everything_else():
    app = Hands(PACKAGE, (540, 1200))
    db = app.storage.database(DATABASE)
    for id in ("work", "home"):
        add_record(db, "folders", id=id, title=id.title())
    before = records(db, "folders")
    app.tap("Sidebar", "Home", "More options", "Edit notebook")
    app.hold("Notebook title")
    app.type("Garden")
    app.back()
    app.tap("OK")
    assert changed(before, records(db, "folders")) == [{}, {"title": "Garden"}]
