"""Simple Gallery Pro by touch: what is seen are the picture files' own pixels, what is done is done to the files."""

import io
from datetime import timedelta

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.tasks.pictures import text_picture
from tests.envs.hands import SCREENS, Hands

SHARED = "/storage/emulated/0"
DCIM = f"{SHARED}/DCIM"
COLORS = {"a.png": (200, 0, 0), "b.png": (0, 160, 0), "c.png": (0, 0, 220)}


def png(color, size=(40, 20)):
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(params=SCREENS, ids=str)
def gallery(request):
    """Three pictures in DCIM, the first one the newest, and one in Pictures."""
    hands = Hands("com.simplemobiletools.gallery.pro", request.param)
    for hours, (name, color) in enumerate(COLORS.items()):
        hands.storage.write(f"{DCIM}/{name}", png(color), hands.phone.now - timedelta(hours=hours))
    hands.storage.write(f"{SHARED}/Pictures/d.jpg", text_picture(["Milk 2.50"], "d.jpg"))
    hands.phone.changed()
    return hands


@pytest.fixture
def dcim(gallery):
    gallery.tap("DCIM")
    return gallery


def pixel_in(hands, label):
    """The colour in the upper part of something on the screen, where its picture is."""
    left, top, right, bottom = hands.find(label).bounds
    return tuple(hands.phone.screenshot()[(2 * top + bottom) // 3, (left + right) // 2])


def test_folders_are_shown_with_their_newest_picture_and_count(gallery):
    assert gallery.shows("DCIM") and gallery.shows("Pictures") and not gallery.shows("Download")
    assert gallery.find("DCIM").label == "DCIM, 3"
    assert pixel_in(gallery, "DCIM") == COLORS["a.png"]


def test_hidden_pictures_and_those_of_apps_are_not_shown(gallery):
    for path in (".thumbnails/x.png", "Android/data/org.app/x.png"):
        gallery.storage.write(f"{SHARED}/{path}", png((1, 2, 3)))
    gallery.phone.changed()
    assert [e.label for e in gallery.elements if e.id == "dir_holder"] == ["DCIM, 3", "Pictures, 1"]


def test_thumbnails_are_drawn_from_the_files(dcim):
    assert dcim.rows == ["a.png", "b.png", "c.png"]
    assert {name: pixel_in(dcim, name) for name in COLORS} == COLORS


def test_a_file_that_is_no_picture_is_said_to_be_none(gallery):
    gallery.storage.write(f"{DCIM}/z.png", b"not a picture")
    gallery.tap("DCIM", "z.png")
    assert gallery.shows("This picture can't be shown")


def test_the_viewer_shows_the_whole_picture_undistorted(dcim):
    dcim.tap("b.png")
    left, top, right, bottom = next(e.bounds for e in dcim.elements if e.id == "gestures_view")
    frame = dcim.phone.screenshot()[top:bottom, left:right]
    green = (frame == COLORS["b.png"]).all(axis=-1)
    rows, columns = np.flatnonzero(green.any(axis=1)), np.flatnonzero(green.any(axis=0))
    assert len(columns) == right - left and abs(len(rows) - len(columns) / 2) <= 1
    assert abs((rows[0] + rows[-1]) / 2 - (bottom - top) / 2) <= 1


def test_swiping_goes_to_the_neighbours_and_stops_at_the_ends(dcim):
    dcim.tap("a.png")
    width, height = dcim.phone.width, dcim.phone.height
    seen = []
    for start, end in ((0.8, 0.2), (0.8, 0.2), (0.8, 0.2), (0.2, 0.8)):
        dcim.phone.swipe((int(start * width), height // 2), (int(end * width), height // 2))
        seen += [e.label for e in dcim.elements if e.id == "gestures_view"]
    assert seen == ["b.png", "c.png", "c.png", "b.png"]


def test_a_text_in_a_picture_is_legible_on_a_whole_screen():
    """The strokes of its letters are as dark as those that the phone itself writes."""
    hands = Hands("com.simplemobiletools.gallery.pro", (1080, 2400))
    lines = ["Expense: Grocery Run", "  Amount: $12.50"]
    hands.storage.write(f"{DCIM}/text.png", text_picture(lines, "text.png"))
    hands.phone.changed()
    hands.tap("DCIM", "text.png")
    left, top, right, bottom = next(e.bounds for e in hands.elements if e.id == "gestures_view")
    frame = hands.phone.screenshot()[top:bottom, left:right].mean(axis=-1)
    paper = np.flatnonzero((frame > 200).mean(axis=1) > 0.5)
    text = frame[paper[0] : paper[-1]]
    dark = np.flatnonzero((text < 90).any(axis=1))
    assert text.min() < 30 and dark[-1] - dark[0] > 60, "two lines of letters some 40 pixels high"


def test_a_copy_goes_into_any_folder_and_the_original_stays(dcim):
    dcim.tap("b.png", "More options", "Copy to", "Other folder", "Download", "OK")
    assert dcim.storage.read(f"{SHARED}/Download/b.png") == dcim.storage.read(f"{DCIM}/b.png") == png(COLORS["b.png"])
    assert dcim.shows("Files copied successfully")


def test_several_pictures_are_moved_to_a_folder_with_pictures(dcim):
    dcim.hold("a.png")
    dcim.tap("c.png", "More options", "Move to", "Pictures")
    assert dcim.storage.listdir(DCIM) == ["b.png"]
    assert dcim.storage.listdir(f"{SHARED}/Pictures") == ["a.png", "c.png", "d.jpg"]


def test_deleting_asks_first(dcim):
    dcim.tap("a.png", "Delete", "No")
    assert dcim.storage.exists(f"{DCIM}/a.png")
    dcim.tap("Delete", "Yes")
    assert not dcim.storage.exists(f"{DCIM}/a.png") and dcim.rows == ["b.png", "c.png"]


def test_renaming_keeps_the_picture_open_and_refuses_taken_names(dcim):
    dcim.tap("a.png", "More options", "Rename")
    dcim.type("b.png")
    dcim.tap("OK")
    assert dcim.shows("b.png already exists") and dcim.storage.read(f"{DCIM}/b.png") == png(COLORS["b.png"])
    dcim.tap("More options", "Rename")
    dcim.type("new.png")
    dcim.tap("OK")
    assert dcim.storage.read(f"{DCIM}/new.png") == png(COLORS["a.png"]) and dcim.shows("new.png")


def test_a_moved_or_renamed_picture_keeps_its_time_and_its_neighbours(dcim):
    times = {name: dcim.storage.modified(f"{DCIM}/{name}") for name in COLORS}
    dcim.hold("b.png")
    dcim.tap("More options", "Rename")
    dcim.type("z.png")
    dcim.tap("OK", "c.png", "More options", "Move to", "Pictures")
    folders = {"a.png": (DCIM, "a.png"), "b.png": (DCIM, "z.png"), "c.png": (f"{SHARED}/Pictures", "c.png")}
    for name, (folder, now) in folders.items():
        assert dcim.storage.read(f"{folder}/{now}") == png(COLORS[name])
        assert dcim.storage.modified(f"{folder}/{now}") == times[name]
    assert dcim.storage.listdir(DCIM) == ["a.png", "z.png"]


def test_properties_name_size_and_resolution(dcim):
    dcim.tap("a.png", "Properties")
    size = len(png(COLORS["a.png"]))
    assert dcim.shows(f"{size} B") and dcim.shows("40 x 20") and dcim.shows(DCIM)


def test_pictures_are_sorted_and_searched(dcim):
    dcim.tap("Sort by", "Date, oldest first")
    assert dcim.rows == ["c.png", "b.png", "a.png"]
    dcim.tap("Search")
    dcim.type("B.P")
    assert dcim.rows == ["b.png"]


def test_a_snapshot_of_the_viewer_is_exact(dcim):
    dcim.tap("a.png", "More options", "Copy to")
    saved, frame = dcim.phone.snapshot(), dcim.phone.screenshot()
    dcim.tap("Pictures")
    dcim.phone.restore(saved)
    assert not dcim.storage.exists(f"{SHARED}/Pictures/a.png") and np.array_equal(dcim.phone.screenshot(), frame)


def test_selected_pictures_are_counted_and_deleted_together(dcim):
    dcim.hold("a.png")
    dcim.tap("b.png")
    assert dcim.shows("2 / 3")
    dcim.tap("Delete", "No")
    assert dcim.shows("2 / 3") and len(dcim.storage.listdir(DCIM)) == 3
    dcim.tap("Delete", "Yes")
    assert dcim.rows == ["c.png"]


def test_back_ends_the_selection_the_search_and_the_folder(dcim):
    dcim.hold("a.png")
    dcim.back()
    assert dcim.shows("Sort by")
    dcim.tap("Search")
    dcim.type("zzz")
    assert dcim.shows("No media files have been found.")
    dcim.back()
    dcim.back()
    assert dcim.rows == ["a.png", "b.png", "c.png"]
    dcim.back()
    assert dcim.find("DCIM").label == "DCIM, 3"


@pytest.mark.parametrize("touches", [("Cancel",), ("Other folder", "CANCEL"), ("Other folder", "Navigate up")])
def test_a_destination_may_be_refused(dcim, touches):
    dcim.tap("a.png", "More options", "Move to", *touches)
    assert sorted(dcim.storage.listdir(DCIM)) == ["a.png", "b.png", "c.png"]


def test_a_moved_picture_is_left_for_its_folder(dcim):
    dcim.tap("b.png", "More options", "Move to", "Pictures")
    assert dcim.rows == ["a.png", "c.png"]


@pytest.mark.parametrize("order, rows", [
    ("Date, newest first", ["a.png", "b.png", "c.png"]), ("Name", ["a.png", "b.png", "c.png"]),
    ("Date, oldest first", ["c.png", "b.png", "a.png"]), ("Size", ["c.png", "a.png", "b.png"]),
])  # fmt: skip
def test_orders(order, rows):
    hands = Hands("com.simplemobiletools.gallery.pro")
    for hours, (name, size) in enumerate({"a.png": (40, 20), "b.png": (4, 2), "c.png": (900, 700)}.items()):
        hands.storage.write(f"{DCIM}/{name}", png((9, 9, 9), size), hands.phone.now - timedelta(hours=hours))
    hands.phone.changed()
    hands.tap("DCIM", "Sort by", order)
    assert hands.rows == rows
    hands.tap("Sort by")
    assert hands.find(order).checked


@pytest.mark.parametrize("intent, opened", [
    (Intent(VIEW, f"file://{DCIM}/a.png"), True), (Intent(VIEW, "file:///sdcard/DCIM/A.JPG"), True),
    (Intent(VIEW, "file:///sdcard/a.mp4"), False), (Intent("android.intent.action.SEND", "file:///a.png"), False),
])  # fmt: skip
def test_an_intent_opens_a_picture(intent, opened):
    phone = Hands("com.android.camera2").phone
    assert phone.apps["com.simplemobiletools.gallery.pro"].open(intent) == opened
    assert (phone.foreground == "com.simplemobiletools.gallery.pro") == opened


def test_pictures_that_cannot_be_decoded_have_properties_too(gallery):
    gallery.storage.write(f"{DCIM}/z.png", b"not a picture")
    gallery.tap("DCIM")
    gallery.hold("z.png")
    gallery.tap("Properties")
    assert gallery.shows("unknown") and gallery.shows("13 B")


def test_a_phone_without_pictures_says_so():
    assert Hands("com.simplemobiletools.gallery.pro").shows("No media files have been found.")
