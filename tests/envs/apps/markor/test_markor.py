"""Markor by touch: what a user does is what stands in the notebook's files."""

from datetime import timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.files.app import Files
from coach_gym.envs.apps.markor.app import APP, NOTEBOOK
from coach_gym.envs.apps.markor.editor import decoded, encoded
from coach_gym.envs.apps.messages.app import Messages
from coach_gym.envs.phone.intents import VIEW, Intent
from tests.envs.hands import SCREENS, Hands

NOTES = {
    "brave_otter.md": "Bread costs less.", "Calm_river.txt": "Two\nlines", "Ideas/new_lamp.md": "",
    "Work/old_desk.txt": "x",
}  # fmt: skip
ADD = "Create a new file or folder"


def started(size=(270, 600)):
    hands = Hands(APP.package, size)
    for number, (path, text) in enumerate(NOTES.items()):
        hands.storage.write(f"{NOTEBOOK}/{path}", text.encode(), hands.phone.now - timedelta(days=number))
    return hands


@pytest.fixture
def hands():
    return started()


@pytest.fixture(params=SCREENS, ids=str)
def any_hands(request):
    return started(request.param)


def notes(hands):
    """All notes' texts by path."""
    found = {}
    for name in hands.storage.listdir(NOTEBOOK):
        for path in [f"{name}/{inner}" for inner in hands.storage.listdir(f"{NOTEBOOK}/{name}")] or [name]:
            data = hands.storage.read(f"{NOTEBOOK}/{path}")
            if data is not None:
                found[path] = data.decode()
    return found


def test_folders_stand_before_notes_with_their_dates(any_hands):
    assert any_hands.rows == ["Ideas", "Work", "brave_otter.md", "Calm_river.txt"]
    labels = [e.label for e in any_hands.elements if e.long_clickable]
    assert labels[0] == "Ideas" and labels[2:] == ["brave_otter.md, Oct 15 15:34", "Calm_river.txt, Oct 14 15:34"]
    any_hands.tap("Work")
    assert any_hands.rows == ["old_desk.txt"]
    any_hands.back()
    assert any_hands.shows("Ideas")


def test_a_note_is_created_and_saved(any_hands):
    any_hands.tap(ADD)
    assert any_hands.find("Name").focused
    any_hands.type("list")
    any_hands.tap("OK")
    assert any_hands.shows("list.md") and any_hands.find("Note text").focused
    any_hands.type("milk\neggs")
    assert notes(any_hands) == {**NOTES, "list.md": ""}
    any_hands.tap("Save")
    assert notes(any_hands) == {**NOTES, "list.md": "milk\neggs"}
    any_hands.tap("Navigate up")
    assert any_hands.rows == ["Ideas", "Work", "brave_otter.md", "Calm_river.txt", "list.md"]


@pytest.mark.parametrize(
    ("typed", "extension", "made"),
    [("a", None, "a.md"), ("a", ".txt", "a.txt"), ("a.txt", None, "a.txt"), ("a.md", ".txt", "a.md"),
     ("a.b", None, "a.b.md"), ("a", "none", "a"), ("a.md", "none", "a.md")],
)  # fmt: skip
def test_the_extension_of_a_new_note(hands, typed, extension, made):
    hands.tap(ADD)
    hands.type(typed)
    if extension:
        hands.tap("Extension", extension)
    hands.tap("OK")
    assert notes(hands).keys() - NOTES.keys() == {made}


def test_new_notes_go_into_the_folder_shown(hands):
    hands.tap("Work", ADD)
    hands.type("plan\n")  # Enter is OK
    assert "Work/plan.md" in notes(hands)


def test_a_folder_is_created(any_hands):
    any_hands.tap(ADD)
    any_hands.type("Travel")
    any_hands.tap("Folder")
    assert any_hands.storage.is_dir(f"{NOTEBOOK}/Travel")
    assert any_hands.rows[:3] == ["Ideas", "Travel", "Work"]


@pytest.mark.parametrize("name", ["", "brave_otter.md", "no/where"])
def test_names_that_are_refused(hands, name):
    hands.tap(ADD)
    hands.type(name)
    hands.tap("OK")
    assert notes(hands) == NOTES and hands.shows(ADD)


def test_cancel_and_back_create_nothing(hands):
    hands.tap(ADD)
    hands.type("list")
    hands.tap("Cancel", ADD)
    hands.type("list")
    hands.back()
    hands.back()
    assert notes(hands) == NOTES and hands.shows(ADD)


def test_leaving_the_editor_saves(hands):
    hands.tap("brave_otter.md", "Note text")
    hands.type(" Always.")
    hands.back()  # the keyboard
    assert notes(hands) == NOTES
    hands.back()
    assert notes(hands) == {**NOTES, "brave_otter.md": "Bread costs less. Always."}
    assert hands.find("brave_otter.md").label == "brave_otter.md, Oct 15 15:34"


def test_looking_at_a_note_does_not_touch_it(hands):
    path = f"{NOTEBOOK}/picture.md"
    hands.storage.write(path, b"\xff\xfe\x00", hands.phone.now - timedelta(days=3))
    before = hands.storage.modified(path)
    hands.tap("picture.md", "Save", "Navigate up")
    assert hands.storage.read(path) == b"\xff\xfe\x00" and hands.storage.modified(path) == before


FULL = "---\ntitle: Plans\ntags: [a, b]\n---\n\n\tIndented  \r\nWindows line\r\n\n```\ncode \n```\n\u00e9\U0001f600"


def test_adding_a_line_leaves_the_rest_of_the_file_and_all_other_files_alone(hands):
    path = f"{NOTEBOOK}/full.md"
    hands.storage.write(path, FULL.encode(), hands.phone.now - timedelta(days=9))
    others = {name: f"{NOTEBOOK}/{name}" for name in NOTES}
    before = {name: (hands.storage.read(at), hands.storage.modified(at)) for name, at in others.items()}
    hands.tap("full.md", "More options", "Jump to bottom")
    hands.type("\nlast")
    hands.tap("Save")
    assert hands.storage.read(path) == f"{FULL}\nlast".encode()
    assert hands.phone.now - hands.storage.modified(path) < timedelta(minutes=1)
    hands.tap("Navigate up")
    assert {name: (hands.storage.read(at), hands.storage.modified(at)) for name, at in others.items()} == before


@pytest.mark.parametrize("typed, saved", [("!", b"caf\xe9 \xff\x80!"), ("\u20ac", "caf\xe9 \xff\x80\u20ac".encode())])
def test_a_note_that_is_not_utf_8_keeps_its_other_letters(hands, typed, saved):
    hands.storage.write(f"{NOTEBOOK}/old.txt", b"caf\xe9 \xff\x80")
    hands.tap("old.txt", "More options", "Jump to bottom")
    hands.type(typed)
    hands.tap("Save")
    assert hands.storage.read(f"{NOTEBOOK}/old.txt") == saved


def test_an_edited_note_is_the_newest(hands):
    hands.tap("Calm_river.txt", "Note text")
    hands.type("!")
    hands.tap("Save", "Navigate up", "Sort by", "Date", "Sort by", "Reverse order")
    assert hands.rows[2:] == ["Calm_river.txt", "brave_otter.md"]


def test_text_goes_to_the_top_to_the_bottom_or_replaces(hands):
    hands.tap("Calm_river.txt", "More options", "Jump to top")
    hands.type("Zero\n")
    hands.tap("More options", "Jump to bottom")
    hands.type("\nthree")
    assert hands.find("Note text").value == "Zero\nTwo\nlines\nthree"
    hands.tap("More options", "Select all")
    hands.type("new")
    hands.tap("Save")
    assert notes(hands)["Calm_river.txt"] == "new"


def test_pasting_from_either_menu(hands):
    hands.phone.clipboard = "copied"
    hands.tap(ADD)
    hands.type("list")
    hands.tap("OK", "More options", "Paste")
    assert hands.find("Note text").focused
    hands.type(" ")
    hands.tap("More options", "Paste", "Save")
    assert notes(hands)["list.md"] == "copied copied"
    hands.select_text("Note text")
    hands.tap("Paste", "Save")
    assert notes(hands)["list.md"] == "copied"


def test_deleting_asks_and_names_what_goes(any_hands):
    any_hands.hold("brave_otter.md")
    any_hands.tap("Ideas", "Delete")
    assert any_hands.shows("Confirm delete") and any_hands.shows("brave_otter.md\nIdeas")
    any_hands.tap("Cancel")
    assert notes(any_hands) == NOTES
    any_hands.tap("Delete", "OK")
    assert any_hands.rows == ["Work", "Calm_river.txt"]
    assert not any_hands.storage.exists(f"{NOTEBOOK}/Ideas")


def test_everything_can_be_deleted_at_once(hands):
    hands.hold("Ideas")
    hands.tap("More options", "Select all", "Delete", "OK")
    assert hands.rows == [] and hands.storage.listdir(NOTEBOOK) == [] and hands.storage.is_dir(NOTEBOOK)


def test_renaming(hands):
    hands.hold("brave_otter.md")
    hands.tap("Rename")
    assert hands.find("Name").value == "brave_otter.md"
    hands.type("shy_otter.txt")
    hands.tap("OK")
    assert notes(hands)["shy_otter.txt"] == NOTES["brave_otter.md"] and "brave_otter.md" not in notes(hands)
    hands.hold("shy_otter.txt")
    hands.tap("Work")
    assert not hands.shows("Rename")


def test_moving_and_copying_between_folders(any_hands):
    any_hands.tap("Work")
    any_hands.hold("old_desk.txt")
    any_hands.tap("Move", "Work", "..", "Ideas", "Select")
    assert any_hands.rows == []
    any_hands.tap("Navigate up", "Ideas")
    any_hands.hold("old_desk.txt")
    any_hands.tap("More options", "Copy", "Select")
    expected = {k: v for k, v in NOTES.items() if k != "Work/old_desk.txt"} | {"Ideas/old_desk.txt": "x"}
    assert notes(any_hands) == {**expected, "old_desk.txt": "x"}


@pytest.mark.parametrize(
    ("orders", "rows"),
    [(["Date"], ["Calm_river.txt", "brave_otter.md"]), (["Size"], ["Calm_river.txt", "brave_otter.md"]),
     (["Reverse order"], ["Calm_river.txt", "brave_otter.md"]), (["File type"], ["brave_otter.md", "Calm_river.txt"]),
     (["Date", "Reverse order"], ["brave_otter.md", "Calm_river.txt"])],
)  # fmt: skip
def test_sorting_keeps_folders_first(hands, orders, rows):
    for order in orders:
        hands.tap("Sort by", order)
    assert set(hands.rows[:2]) == {"Ideas", "Work"} and hands.rows[2:] == rows


def test_search_and_select_what_is_found(hands):
    hands.tap("Search")
    hands.type("LD_")
    assert hands.rows == ["old_desk.txt"]
    hands.hold("old_desk.txt")
    hands.tap("Delete", "OK")
    assert "Work/old_desk.txt" not in notes(hands)
    hands.tap("Navigate up")
    assert hands.rows[0] == "Ideas"


def test_sharing_a_note_as_a_text_message(any_hands):
    any_hands.tap("Calm_river.txt", "Note text")
    any_hands.type("!")
    any_hands.tap("More options", "Share", "Simple SMS Messenger")
    assert any_hands.phone.foreground == Messages.package
    assert notes(any_hands)["Calm_river.txt"] == "Two\nlines!"
    any_hands.type("5550100\n")
    assert any_hands.find("Type a message…").value == "Two\nlines!"


def test_sharing_to_the_clipboard(hands):
    hands.hold("brave_otter.md")
    hands.tap("Ideas", "Calm_river.txt", "More options", "Share", "Copy to clipboard")
    assert hands.phone.clipboard == "Bread costs less.\nTwo\nlines"


def test_notes_are_files_for_other_apps_too(hands):
    hands.phone.launch(Files.package)
    hands.tap("Documents", "Markor")
    hands.hold("brave_otter.md")
    hands.tap("Delete", "OK")
    hands.phone.launch(APP.package)
    assert hands.rows == ["Ideas", "Work", "Calm_river.txt"]


@pytest.mark.parametrize("intent, opened", [
    (Intent(VIEW, f"file://{NOTEBOOK}/Calm_river.txt"), True), (Intent(VIEW, "file:///sdcard/DATA.CSV"), True),
    (Intent(VIEW, "file:///sdcard/a.png"), False), (Intent(VIEW, "file:///sdcard/a.png", package=APP.package), True),
    (Intent(VIEW, "https://example.com/a.txt"), False), (Intent("android.intent.action.SEND", "file:///a.txt"), False),
])  # fmt: skip
def test_an_intent_opens_a_text_in_the_editor(hands, intent, opened):
    assert hands.phone.apps[APP.package].open(intent) == opened
    assert hands.shows("Note text") == opened


def test_a_snapshot_in_the_middle_of_an_edit_is_exact(any_hands):
    any_hands.tap("Calm_river.txt", "More options", "Jump to top")
    any_hands.type("ab")
    snapshot, shown, pixels = any_hands.phone.snapshot(), any_hands.ui, any_hands.phone.screenshot()
    for _ in range(2):
        any_hands.type("c")
        any_hands.tap("Save")
        assert notes(any_hands)["Calm_river.txt"] == "abcTwo\nlines"
        any_hands.phone.restore(snapshot)
        assert any_hands.ui == shown and notes(any_hands) == NOTES
        assert np.array_equal(any_hands.phone.screenshot(), pixels)


def test_a_shared_text_needs_a_note(hands):
    hands.hold("Ideas")
    hands.tap("More options", "Share")
    assert not hands.shows("Copy to clipboard"), "a folder is no text"


def test_the_folder_picker_walks_within_the_notebook_and_may_be_left(hands):
    hands.hold("brave_otter.md")
    hands.tap("Move")
    assert not hands.shows("..")
    hands.tap("Ideas", "..", "Cancel")
    assert notes(hands) == NOTES


def test_a_note_moved_to_a_folder_with_its_namesake_gets_a_number(hands):
    hands.storage.write(f"{NOTEBOOK}/Work/brave_otter.md", b"other")
    hands.hold("brave_otter.md")
    hands.tap("Move", "Work", "Select")
    assert notes(hands)["Work/brave_otter.md"] == "other"
    assert notes(hands)["Work/brave_otter (1).md"] == NOTES["brave_otter.md"]


def test_a_folder_is_deleted_with_its_notes_and_no_others(hands):
    hands.hold("Work")
    hands.tap("Delete", "OK")
    assert notes(hands).keys() == NOTES.keys() - {"Work/old_desk.txt"}


def test_saving_twice_writes_once(hands):
    hands.tap("brave_otter.md", "Note text")
    hands.type("!")
    hands.tap("Save")
    saved = hands.storage.modified(f"{NOTEBOOK}/brave_otter.md")
    hands.tap("Save", "Navigate up")
    assert hands.storage.modified(f"{NOTEBOOK}/brave_otter.md") == saved


@pytest.mark.parametrize("data, text, encoding", [
    (None, "", "utf-8"), (b"", "", "utf-8"), ("\u00e9\r\n".encode(), "\u00e9\r\n", "utf-8"),
    (b"\xe9", "\u00e9", "latin-1"), (bytes(range(256)), "".join(map(chr, range(256))), "latin-1"),
])  # fmt: skip
def test_any_bytes_are_a_text_that_is_written_as_it_was_read(data, text, encoding):
    assert decoded(data) == (text, encoding)
    assert encoded(text, encoding) == (data or b"")
