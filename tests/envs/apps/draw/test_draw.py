"""Simple Draw Pro by touch: strokes follow the finger, and what is saved is a picture of them."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.apps.draw.app import COLORS, FORMATS, Stroke, drawn, encoded
from tests.envs.hands import SCREENS, Hands

SHARED = "/storage/emulated/0"


@pytest.fixture(params=SCREENS, ids=str)
def draw(request):
    return Hands("com.simplemobiletools.draw.pro", request.param)


def stroke(hands, start, end):
    """A finger over the canvas, between places given as shares of it; where it ended, in pixels."""
    left, top, right, bottom = hands.find("Canvas").bounds
    ends = [(round(left + x * (right - left)), round(top + y * (bottom - top))) for x, y in (start, end)]
    hands.phone.swipe(*ends, 1.0)
    return ends


def color_at(hands, point):
    return tuple(hands.phone.screenshot()[point[1], point[0]])


def save(hands, name, format="PNG"):
    hands.tap("Save")
    hands.type(name)
    hands.tap(format, "OK", "SAVE")


def saved(hands, name):
    return np.asarray(Image.open(io.BytesIO(hands.storage.read(f"{SHARED}/Download/{name}"))).convert("RGB"))


def test_a_stroke_is_drawn_where_the_finger_was(draw):
    start, end = stroke(draw, (0.2, 0.3), (0.8, 0.7))
    middle = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
    assert {color_at(draw, point) for point in (start, middle, end)} == {(0, 0, 0)}
    assert color_at(draw, (end[0], start[1])) == (255, 255, 255)


def test_colour_and_brush_belong_to_the_strokes_after_them(draw):
    first = stroke(draw, (0.2, 0.2), (0.8, 0.2))[0]
    draw.tap("Change color", "Red")
    left, top, right, bottom = draw.find("Brush size").bounds
    draw.phone.tap(right - (right - left) // 10, (top + bottom) // 2)
    second = stroke(draw, (0.2, 0.6), (0.8, 0.6))[0]
    frame = draw.phone.screenshot()
    heights = [int((frame[:, place[0] + 20] == color).all(axis=-1).sum()) for place, color in (
        (first, (0, 0, 0)), (second, (211, 47, 47)),
    )]  # fmt: skip
    assert color_at(draw, first) == (0, 0, 0) and color_at(draw, second) == (211, 47, 47)
    assert heights[1] > 3 * heights[0]


def test_undo_redo_clear_and_eraser(draw):
    place = stroke(draw, (0.2, 0.5), (0.8, 0.5))[0]
    draw.tap("Undo")
    assert color_at(draw, place) == (255, 255, 255) and not draw.shows("Undo")
    draw.tap("Redo")
    assert color_at(draw, place) == (0, 0, 0) and not draw.shows("Redo")
    draw.tap("Eraser")
    stroke(draw, (0.2, 0.5), (0.8, 0.5))
    assert color_at(draw, place) == (255, 255, 255)
    draw.tap("Undo", "More options", "Clear", "Yes")
    assert color_at(draw, place) == (255, 255, 255) and not draw.shows("Undo")


def test_a_winding_way_is_one_stroke(draw):
    left, top, right, bottom = draw.find("Canvas").bounds
    places = [(left + x * (right - left) // 10, top + y * (bottom - top) // 10) for x, y in ((2, 2), (8, 5), (2, 8))]
    draw.phone.touch.trace(places, 1.0)
    assert [color_at(draw, place) for place in places] == [(0, 0, 0)] * 3
    save(draw, "way", "SVG")
    assert draw.storage.read(f"{SHARED}/Download/way.svg").count(b"<path") == 1
    draw.tap("Undo")
    assert [color_at(draw, place) for place in places] == [(255, 255, 255)] * 3


def test_the_background_is_changed(draw):
    draw.tap("More options", "Change background", "Yellow")
    left, top, right, bottom = draw.find("Canvas").bounds
    assert "#{:02x}{:02x}{:02x}".format(*color_at(draw, (left + 3, top + 3))) == COLORS["Yellow"]


@pytest.mark.parametrize("format, magic", [("PNG", b"\x89PNG"), ("JPG", b"\xff\xd8")])
def test_the_saved_picture_is_the_canvas(draw, format, magic):
    stroke(draw, (0.2, 0.3), (0.8, 0.7))
    left, top, right, bottom = draw.find("Canvas").bounds
    shown = draw.phone.screenshot()[top:bottom, left:right]
    save(draw, "cat", format)
    assert draw.shows("File saved successfully")
    name = f"cat.{format.lower()}"
    assert draw.storage.read(f"{SHARED}/Download/{name}").startswith(magic)
    picture = saved(draw, name)
    assert picture.shape == pytest.approx(shown.shape, abs=3)
    rows, columns = (min(a, b) for a, b in zip(picture.shape[:2], shown.shape[:2], strict=True))
    differing = np.abs(picture[:rows, :columns].astype(int) - shown[:rows, :columns]).max(axis=-1) > 60
    assert differing.mean() < 0.005


def test_svg_holds_the_strokes(draw):
    stroke(draw, (0.25, 0.5), (0.75, 0.5))
    save(draw, "cat", "SVG")
    root = ElementTree.fromstring(draw.storage.read(f"{SHARED}/Download/cat.svg"))
    (path,) = root.findall("{http://www.w3.org/2000/svg}path")
    x, y, u, v = map(float, re.findall(r"[\d.]+", path.get("d")))
    width, height = float(root.get("width")), float(root.get("height"))
    assert (x / width, u / width) == pytest.approx((0.25, 0.75), abs=0.02)
    assert (y / height, v / height) == pytest.approx((0.5, 0.5), abs=0.02)


def test_a_place_is_chosen_by_root_and_folder(draw):
    draw.tap("Save")
    draw.type("dog.png")
    draw.tap("OK", "Show roots", "sdk_gphone_x86_64", "Pictures", "SAVE")
    assert draw.storage.listdir(f"{SHARED}/Pictures") == ["dog.png"]
    assert draw.shows("Canvas"), "the drawing is still there"


def test_a_taken_name_gets_a_number_and_an_impossible_one_is_refused(draw):
    for _ in range(2):
        save(draw, "cat")
    assert draw.storage.listdir(f"{SHARED}/Download") == ["cat (1).png", "cat.png"]
    draw.tap("Save", "OK")
    draw.select_text("File name")
    draw.type("a/b.png")
    draw.tap("SAVE")
    assert draw.shows("That name can't be used") and len(draw.storage.listdir(f"{SHARED}/Download")) == 2


def test_back_leaves_the_question_where_to_save(draw):
    draw.tap("Save", "OK", "Show roots", "sdk_gphone_x86_64", "Pictures")
    draw.back()
    assert draw.shows("Movies")
    draw.back()
    assert draw.shows("Canvas") and draw.storage.listdir(f"{SHARED}/Pictures") == []


def test_a_snapshot_of_a_drawing_is_exact(draw):
    stroke(draw, (0.2, 0.3), (0.8, 0.7))
    saved_phone, frame = draw.phone.snapshot(), draw.phone.screenshot()
    stroke(draw, (0.2, 0.7), (0.8, 0.3))
    assert not np.array_equal(draw.phone.screenshot(), frame)
    draw.phone.restore(saved_phone)
    assert np.array_equal(draw.phone.screenshot(), frame)


BLACK_LINE = Stroke(((0.1, 0.5), (0.9, 0.5)), "#000000", 0.1)


def test_a_stroke_is_as_wide_as_its_share_of_the_canvas():
    dark = (drawn((BLACK_LINE,), "#ffffff", (200, 300)) == 0).all(axis=2)
    assert abs(dark[:, 100].sum() - 20) <= 2 and not dark[:, 5].any() and dark[150, 11:189].all()


def test_later_strokes_cover_earlier_ones_and_the_background():
    red = BLACK_LINE._replace(color="#ff0000")
    picture = drawn((BLACK_LINE, red), "#00ff00", (100, 100))
    assert tuple(picture[50, 50]) == (255, 0, 0) and tuple(picture[5, 5]) == (0, 255, 0)


@pytest.mark.parametrize("format", FORMATS)
def test_a_drawing_is_encoded_in_its_size(format):
    data = encoded((BLACK_LINE,), "#ffffff", (120, 90), format)
    if format == "SVG":
        root = ElementTree.fromstring(data)
        assert (root.get("width"), root.get("height")) == ("120", "90")
    else:
        assert Image.open(io.BytesIO(data)).size == (120, 90)


def test_an_empty_drawing_is_its_background():
    assert (drawn((), "#123456", (9, 9)) == (0x12, 0x34, 0x56)).all()


def test_the_name_proposed_is_the_moment_and_the_last_format_is_kept():
    draw = Hands("com.simplemobiletools.draw.pro")
    draw.tap("Save")
    assert draw.find("Filename").value.startswith("image_20231015_1534")
    draw.tap("JPG", "OK", "SAVE", "Save")
    assert draw.find("JPG").checked and not draw.find("PNG").checked


@pytest.mark.parametrize("name, saved_as", [("cat", "cat.png"), ("cat.png", "cat.png"), ("cat.jpg", "cat.jpg.png")])
def test_the_format_gives_the_extension(name, saved_as):
    draw = Hands("com.simplemobiletools.draw.pro")
    save(draw, name)
    assert draw.storage.listdir(f"{SHARED}/Download") == [saved_as]


def test_a_name_is_needed():
    draw = Hands("com.simplemobiletools.draw.pro")
    draw.tap("Save")
    draw.type(" ")
    draw.tap("OK")
    assert draw.shows("Filename cannot be empty") and not draw.shows("SAVE")


def test_questions_may_be_left_without_an_answer():
    draw = Hands("com.simplemobiletools.draw.pro")
    place = stroke(draw, (0.2, 0.5), (0.8, 0.5))[0]
    draw.tap("More options", "Clear", "No")
    assert color_at(draw, place) == (0, 0, 0)
    draw.tap("Change color")
    draw.back()
    stroke(draw, (0.2, 0.8), (0.8, 0.8))
    draw.tap("Undo", "Undo")
    assert not draw.shows("Undo") and draw.shows("Redo")
    stroke(draw, (0.2, 0.2), (0.8, 0.2))
    assert not draw.shows("Redo"), "a new stroke ends what could be done again"
