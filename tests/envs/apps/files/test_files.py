"""Files by touch: what a user does is what happens to the shared storage."""

from datetime import timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.files.app import APP
from coach_gym.envs.apps.gallery.app import Gallery
from coach_gym.envs.apps.markor.app import Markor
from coach_gym.envs.apps.vlc.app import Vlc
from coach_gym.envs.phone.folders import SHARED
from tests.envs.hands import SCREENS, Hands

FILES = {"Music/bold_tango.mp3": 12_000, "Music/calm_waltz.mp3": 2_000, "Music/Aria.mp3": 900, "Download/a.zip": 50}


def started(size=(270, 600)):
    hands = Hands(APP.package, size)
    for number, (path, length) in enumerate(FILES.items()):
        hands.storage.write(f"{SHARED}/{path}", bytes(length), hands.phone.now - timedelta(days=number))
    return hands


@pytest.fixture
def hands():
    return started()


@pytest.fixture(params=SCREENS, ids=str)
def any_hands(request):
    return started(request.param)


def paths(hands):
    """The files of the storage, without the folder that every path starts with."""
    folders = ["Music", "Download", "Documents", "Music/Old"]
    return sorted(f"{f}/{n}" for f in folders for n in hands.storage.listdir(f"{SHARED}/{f}") if "." in n)


def test_folders_are_walked_through_and_left_again(any_hands):
    any_hands.tap("Music")
    assert any_hands.rows == ["Aria.mp3", "bold_tango.mp3", "calm_waltz.mp3"]
    assert [e.label for e in any_hands.elements if e.long_clickable][1] == "bold_tango.mp3, 12 kB"
    any_hands.back()
    assert any_hands.rows == [
        "Android", "DCIM", "Documents", "Download", "Movies", "Music", "Pictures", "VLCVideos",
    ]  # fmt: skip
    any_hands.tap("Download", "Navigate up")
    assert any_hands.shows("sdk_gphone_x86_64")
    any_hands.back()
    assert any_hands.phone.foreground == any_hands.phone.launcher.package


def test_a_file_is_deleted_only_after_ok(any_hands):
    any_hands.tap("Music")
    any_hands.hold("bold_tango.mp3")
    any_hands.tap("Delete")
    assert any_hands.shows('Delete "bold_tango.mp3"?')
    any_hands.tap("Cancel")
    assert paths(any_hands) == sorted(FILES)
    any_hands.tap("Delete", "OK")
    assert paths(any_hands) == sorted(FILES.keys() - {"Music/bold_tango.mp3"})
    assert any_hands.rows == ["Aria.mp3", "calm_waltz.mp3"]


def test_several_files_are_selected_and_deleted(hands):
    hands.tap("Music")
    hands.hold("bold_tango.mp3")
    hands.tap("Aria.mp3", "calm_waltz.mp3", "calm_waltz.mp3")
    assert hands.shows("2 selected")
    hands.tap("Delete")
    assert hands.shows("Delete 2 items?")
    hands.tap("OK")
    assert hands.rows == ["calm_waltz.mp3"]


def test_back_ends_the_selection_before_it_leaves_the_folder(hands):
    hands.tap("Music")
    hands.hold("Aria.mp3")
    hands.back()
    assert not hands.shows("1 selected") and hands.shows("Music")
    hands.hold("Aria.mp3")
    hands.tap("Navigate up")
    assert hands.shows("Aria.mp3") and not hands.shows("1 selected")


def test_moving_and_copying_ask_for_a_folder(any_hands):
    any_hands.tap("Music")
    any_hands.hold("Aria.mp3")
    any_hands.tap("More options", "Move to…", "Download", "MOVE")
    assert any_hands.rows == ["bold_tango.mp3", "calm_waltz.mp3"]
    any_hands.hold("bold_tango.mp3")
    any_hands.tap("More options", "Copy to…", "Documents", "Navigate up", "Download", "COPY")
    assert paths(any_hands) == [
        "Download/Aria.mp3", "Download/a.zip", "Download/bold_tango.mp3", "Music/bold_tango.mp3",
        "Music/calm_waltz.mp3",
    ]  # fmt: skip


def test_leaving_the_folder_picker_moves_nothing(hands):
    hands.tap("Music")
    hands.hold("Aria.mp3")
    hands.tap("More options", "Move to…", "Download")
    hands.back()
    hands.back()
    assert hands.shows("1 selected")
    hands.tap("More options", "Move to…", "CANCEL")
    assert hands.shows("1 selected") and paths(hands) == sorted(FILES)


def test_renaming_replaces_the_old_name(hands):
    hands.tap("Music")
    hands.hold("Aria.mp3")
    hands.tap("More options", "Rename")
    hands.type("Duet.mp3")
    hands.phone.key("ENTER")
    assert hands.rows == ["bold_tango.mp3", "calm_waltz.mp3", "Duet.mp3"]
    assert hands.storage.size(f"{SHARED}/Music/Duet.mp3") == 900


def everything(hands, folder=SHARED):
    """Contents and time of every file, and all folders, by path."""
    found = {}
    for name in hands.storage.listdir(folder):
        path = f"{folder}/{name}"
        found[path] = None if hands.storage.is_dir(path) else (hands.storage.read(path), hands.storage.modified(path))
        if hands.storage.is_dir(path):
            found |= everything(hands, path)
    return found


@pytest.mark.parametrize("touches, place, original_stays", [
    (("Rename", "Tunes", "OK"), "Tunes", False), (("Move to…", "Movies", "MOVE"), "Movies/Music", False),
    (("Copy to…", "Movies", "COPY"), "Movies/Music", True),
])  # fmt: skip
def test_a_folder_takes_all_that_is_in_it_along_and_nothing_else(hands, touches, place, original_stays):
    hands.storage.write(f"{SHARED}/Music/Old/.hidden", b"secret", hands.phone.now - timedelta(days=400))
    hands.storage.mkdir(f"{SHARED}/Music/Empty")
    before = everything(hands)
    hands.hold("Music")
    hands.tap("More options")
    for touch in touches:
        hands.type(touch) if touch == "Tunes" else hands.tap(touch)
    after = everything(hands)
    moved = {path: value for path, value in before.items() if f"{path}/".startswith(f"{SHARED}/Music/")}
    there = {f"{SHARED}/{place}{path[len(SHARED) + 6 :]}": value for path, value in moved.items()}
    rest = before if original_stays else {path: value for path, value in before.items() if path not in moved}
    if original_stays:  # a copy is as old as the copying
        after, there = ({path: value and value[0] for path, value in tree.items()} for tree in (after, there))
        rest = {path: value and value[0] for path, value in rest.items()}
    assert after == rest | there


def test_a_name_that_is_taken_is_refused(hands):
    hands.tap("Music")
    hands.hold("Aria.mp3")
    hands.tap("More options", "Rename")
    hands.type("bold_tango.mp3")
    hands.tap("OK")
    assert hands.shows("bold_tango.mp3 already exists") and paths(hands) == sorted(FILES)
    hands.tap("More options", "New folder")
    hands.type("Aria.mp3")
    hands.tap("OK")
    assert hands.shows("Aria.mp3 already exists") and not hands.storage.is_dir(f"{SHARED}/Music/Aria.mp3")


def test_a_new_folder_stands_before_the_files(hands):
    hands.tap("Music", "More options", "New folder")
    hands.type("Old")
    hands.tap("OK")
    assert hands.rows[0] == "Old" and hands.storage.is_dir(f"{SHARED}/Music/Old")
    hands.hold("Aria.mp3")
    hands.tap("More options", "Move to…", "Music", "Old", "MOVE", "Old")
    assert hands.rows == ["Aria.mp3"]


@pytest.mark.parametrize(
    ("order", "rows"),
    [
        ("Name (Z to A)", ["calm_waltz.mp3", "bold_tango.mp3", "Aria.mp3"]),
        ("Size (smallest first)", ["Aria.mp3", "calm_waltz.mp3", "bold_tango.mp3"]),
        ("Size (largest first)", ["bold_tango.mp3", "calm_waltz.mp3", "Aria.mp3"]),
        ("Modified (oldest first)", ["Aria.mp3", "calm_waltz.mp3", "bold_tango.mp3"]),
        ("Modified (newest first)", ["bold_tango.mp3", "calm_waltz.mp3", "Aria.mp3"]),
    ],
)
def test_sorting(hands, order, rows):
    hands.tap("Music", "More options", "Sort by...", order)
    assert hands.rows == rows
    hands.tap("More options", "Sort by...")
    assert hands.find(order).checked


def test_search_finds_files_in_folders_below(hands):
    hands.storage.mkdir(f"{SHARED}/Documents/Old")
    hands.tap("Search")
    hands.type("OLD")
    assert hands.rows == ["Old", "bold_tango.mp3"]
    hands.type("xx")
    assert hands.rows == [] and hands.shows("No items")
    hands.back()
    hands.back()
    assert "Documents" in hands.rows


def test_roots_show_all_files_of_a_kind(hands):
    hands.tap("Show roots", "Audio")
    assert hands.rows == ["Aria.mp3", "bold_tango.mp3", "calm_waltz.mp3"]
    hands.hold("Aria.mp3")
    hands.tap("Delete", "OK")
    assert "Music/Aria.mp3" not in paths(hands)
    hands.tap("Navigate up", "Show roots", "Downloads")
    assert hands.rows == ["a.zip"]


def test_pictures_open_in_the_gallery_and_films_in_vlc(hands):
    for name, package in (("a.png", Gallery.package), ("b.mp4", Vlc.package)):
        hands.storage.write(f"{SHARED}/Movies/{name}", b"")
        hands.phone.launch(APP.package)
        hands.phone.top.enter(f"{SHARED}/Movies")
        hands.phone.changed()
        hands.tap(name)
        assert hands.phone.foreground == package and hands.shows(name)


def test_text_files_open_in_markor_and_others_not_at_all(hands):
    hands.storage.write(f"{SHARED}/Documents/plan.txt", b"first line")
    hands.tap("Documents", "plan.txt")
    assert hands.phone.foreground == Markor.package and hands.find("Note text").value == "first line"
    hands.phone.launch(APP.package)
    hands.tap("Navigate up", "Download", "a.zip")
    assert hands.shows("Can't open file")


def test_the_source_of_a_web_page_opens_in_markor(hands):
    hands.storage.write(f"{SHARED}/Download/page.html", b"<p>text</p>")
    hands.tap("Download", "page.html", "Markor")
    assert hands.phone.foreground == Markor.package and hands.find("Note text").value == "<p>text</p>"


def test_long_lists_scroll_and_folders_remember_where(hands):
    for number in range(40):
        hands.storage.write(f"{SHARED}/Pictures/{number:02d}.png", b"")
    hands.tap("Pictures")
    assert "39.png" not in hands.rows
    for _ in range(6):
        hands.phone.swipe((130, 500), (130, 150))
    assert hands.rows[-1] == "39.png"
    hands.hold("39.png")
    hands.tap("Delete", "OK")
    assert hands.rows[-1] == "38.png"
    hands.tap("Navigate up", "Music")
    assert hands.rows[0] == "Aria.mp3"


def test_a_snapshot_in_the_middle_of_a_rename_is_exact(any_hands):
    any_hands.tap("Music")
    any_hands.hold("Aria.mp3")
    any_hands.tap("More options", "Rename")
    any_hands.type("Duet")
    snapshot, shown, pixels = any_hands.phone.snapshot(), any_hands.ui, any_hands.phone.screenshot()
    for _ in range(2):
        any_hands.type(".mp3")
        any_hands.tap("OK")
        assert any_hands.rows == ["bold_tango.mp3", "calm_waltz.mp3", "Duet.mp3"]
        any_hands.phone.restore(snapshot)
        assert any_hands.ui == shown and paths(any_hands) == sorted(FILES)
        assert np.array_equal(any_hands.phone.screenshot(), pixels)


def test_copies_of_one_name_get_numbers(hands):
    hands.tap("Music")
    for _ in range(2):
        hands.hold("Aria.mp3")
        hands.tap("More options", "Copy to…", "Music", "COPY")
    assert hands.rows == ["Aria (1).mp3", "Aria (2).mp3", "Aria.mp3", "bold_tango.mp3", "calm_waltz.mp3"]
    assert {hands.storage.size(f"{SHARED}/Music/{name}") for name in hands.rows[:3]} == {900}


def test_a_folder_cannot_be_moved_into_itself(hands):
    before = everything(hands)
    hands.hold("Music")
    hands.tap("More options", "Move to…", "Music", "MOVE")
    assert everything(hands) == before


def test_hidden_files_are_neither_listed_nor_found(hands):
    hands.storage.write(f"{SHARED}/Music/.aria.mp3", b"")
    hands.tap("Music")
    assert hands.rows == ["Aria.mp3", "bold_tango.mp3", "calm_waltz.mp3"]
    hands.tap("Search")
    hands.type("aria")
    assert hands.rows == ["Aria.mp3"]


def test_everything_in_a_folder_is_selected_at_once(hands):
    hands.tap("Music", "More options", "Select all")
    assert hands.shows("3 selected")
    hands.tap("More options")
    assert not hands.shows("Rename"), "several cannot have one name"
    hands.back()
    hands.tap("Delete", "OK")
    assert hands.rows == [] and hands.shows("No items")


@pytest.mark.parametrize("kind, names", [
    ("Images", ["a.jpg", "b.webp"]), ("Videos", ["c.mp4"]), ("Documents", ["d.pdf", "e.html", "f.txt"]),
    ("Audio", ["Aria.mp3", "bold_tango.mp3", "calm_waltz.mp3"]),
])  # fmt: skip
def test_kinds_of_files_go_by_their_extensions(hands, kind, names):
    for path in ("DCIM/a.jpg", "Download/b.webp", "Movies/c.mp4", "d.pdf", "Documents/e.html", "f.txt", "g.apk"):
        hands.storage.write(f"{SHARED}/{path}", b"x")
    hands.tap("Show roots", kind)
    assert hands.rows == names


@pytest.mark.parametrize("name", ["a/b", "..", "x" * 300])
def test_impossible_folder_names_are_refused(hands, name):
    before = everything(hands)
    hands.tap("More options", "New folder")
    hands.type(name)
    hands.tap("OK")
    assert hands.shows("That name can't be used") and everything(hands) == before


def test_an_app_is_chosen_for_a_web_page_or_none(hands):
    hands.storage.write(f"{SHARED}/Download/page.html", b"<p>text</p>")
    hands.tap("Download", "page.html")
    assert hands.shows("Open with")
    hands.back()
    assert hands.rows == ["a.zip", "page.html"] and hands.phone.foreground == APP.package


def test_a_message_stands_at_the_bottom_once_the_keyboard_has_gone(hands):
    hands.storage.write(f"{SHARED}/a.zip", b"x")
    hands.tap("Search")
    hands.type("zip")
    hands.tap("a.zip", "Search")
    hands.tap("Navigate up")
    pixels, text = hands.phone.screenshot().copy(), hands.ui
    assert hands.shows("Can't open file")
    hands.phone.restore(hands.phone.snapshot())
    assert hands.ui == text and np.array_equal(hands.phone.screenshot(), pixels)
