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
    hands.tap("Soup", "More options", "Convert to todo")
    assert stored(hands, "is_todo")[2] == (1,)
    hands.tap("More options", "Move to notebook…", "Work")
    assert len({row[0] for row in stored(hands, "parent_id")}) == 1
    hands.tap("More options", "Delete")
    assert titles(hands) == {"Plan", "Call Ann"} and len(stored(hands, "id", "notes_normalized")) == 2
    assert [bool(row[0]) for row in stored(hands, "deleted_time")] == [False, False, True]


def test_the_trash_shows_gives_back_and_is_emptied(hands):
    for title in ("Soup", "Plan"):
        hands.tap(title, "More options", "Delete")
    hands.tap("Sidebar", "Trash", "Soup")
    assert not hands.shows("Edit")
    hands.tap("More options", "Restore")
    assert titles(hands) == {"Plan"}
    hands.back()
    assert titles(hands) == {"Call Ann", "Soup"}
    hands.tap("Sidebar")
    hands.hold("Trash")
    hands.tap("Empty trash", "Empty trash")
    assert [row[0] for row in stored(hands, "title")] == ["Call Ann", "Soup"]


def test_a_notebook_needs_a_title(hands):
    hands.tap("Sidebar", "New Notebook", "Save changes")
    assert len(stored(hands, "id", "folders")) == 2 and hands.shows("Edit notebook")
    hands.type("Travel")
    hands.back()
    hands.tap("Select parent notebook", "Work", "Save changes")
    assert hands.shows("Travel"), "it is shown at once"
    (work,), _, (travel,) = stored(hands, "id", "folders")
    assert stored(hands, "parent_id", "folders") == [("",), ("",), (work,)] and travel
    hands.tap("Sidebar", "Travel")
    assert titles(hands) == set()


def test_a_notebook_cannot_be_put_into_itself(hands):
    db = hands.storage.database(DATABASE)
    work = stored(hands, "id", "folders")[0][0]
    data.create_folder(db, "Plans", hands.phone.now, work)
    hands.phone.changed()
    hands.tap("Sidebar")
    hands.hold("Work")
    hands.tap("Edit")
    hands.back()
    hands.tap("Select parent notebook", "Plans", "Save changes")
    assert hands.shows("Cannot move notebook to this location") and data.parents(db)[work] == ""


def test_a_deleted_notebook_takes_its_notes_along(hands):
    hands.tap("Sidebar")
    hands.hold("Work")
    hands.tap("Delete", "Cancel")
    assert hands.shows("Work")
    hands.hold("Work")
    hands.tap("Delete", "OK")
    assert not hands.shows("Work")
    hands.tap("All notes")
    assert titles(hands) == {"Soup"}


def test_without_notebooks_one_is_made_first():
    hands = Hands(PACKAGE)
    assert hands.shows("You currently have no notebooks.") and not hands.shows("Add new")
    hands.tap("Create a notebook")
    hands.type("Home")
    hands.back()
    hands.tap("Save changes", "Add new", "New note")
    hands.type("First")
    hands.back()
    hands.back()
    assert stored(hands, "title") == [("First",)]


def test_a_new_note_without_a_word_is_not_kept(hands):
    hands.tap("Add new", "New note")
    hands.back()
    hands.back()
    assert len(stored(hands, "id")) == len(NOTES) and titles(hands) == {"Plan", "Call Ann", "Soup"}


def test_open_to_dos_are_on_top_unless_the_order_is_changed(hands):
    def order():
        return [element.label for element in hands.elements if element.label in {"Plan", "Call Ann", "Soup"}]

    assert order() == ["Call Ann", "Plan", "Soup"]
    hands.tap("Sort notes by", "Uncompleted to-dos on top", "Sort notes by", "Title")
    assert order() == ["Soup", "Plan", "Call Ann"]
    hands.tap("Sort notes by", "Reverse sort order")
    assert order() == ["Call Ann", "Plan", "Soup"]
    hands.tap("to-do: Call Ann", "Sort notes by", "Show completed to-dos")
    assert order() == ["Plan", "Soup"]
    assert dict(stored(hands, "key, value", "settings"))["notes.sortOrder.field"] == "title"


def test_selected_notes_are_moved_copied_and_deleted(hands):
    hands.hold("Plan")
    hands.tap("Call Ann", "Move to notebook…", "Recipes")
    assert len({row[0] for row in stored(hands, "parent_id")}) == 1
    hands.hold("Soup")
    hands.tap("Duplicate")
    assert "Soup (1)" in titles(hands)
    hands.hold("Soup")
    hands.tap("Select all")
    assert hands.shows("4 selected")
    hands.tap("Delete")
    assert titles(hands) == set() and len(stored(hands, "id")) == 4


def test_the_link_and_the_properties_of_a_note(hands):
    hands.tap("Soup", "More options", "Copy Markdown link")
    assert hands.phone.clipboard == f"[Soup](:/{stored(hands, 'id')[2][0]})"
    hands.tap("More options", "Properties")
    assert hands.shows("Created: 15/10/2023 15:34") and hands.shows("Updated: 15/10/2023 15:34")
    hands.tap("Close", "More options", "Share")
    assert hands.phone.foreground != PACKAGE and hands.shows("New conversation"), "a message is written with it"


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
    app.select_text("Add title")
    app.type("Tour")
    app.back()
    app.tap("Save changes")


def edit_body(app):
    app.tap("Edit")
    app.select_text("Add body")
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
        add_record(db, "folders", id=id, title=id.title(), deleted_time=0)
    for id, title in (("a", "Rest"), ("b", " Trip ")):
        add_record(db, "notes", id=id, parent_id="home", title=title, body="* [ ]pack \n\n", is_todo=1, deleted_time=0)
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
        add_record(db, "folders", id=id, title=id.title(), deleted_time=0)
    before = records(db, "folders")
    app.tap("Sidebar")
    app.hold("Home")
    app.tap("Edit")
    app.select_text("Enter notebook title")
    app.type("Garden")
    app.back()
    app.tap("Save changes")
    after = records(db, "folders")
    times = {name: after[1][name] for name in ("updated_time", "user_updated_time")}
    assert changed(before, after) == [{}, {"title": "Garden", "parent_id": "", **times}], "it was in a lost notebook"
