"""Chrome by touch: pages that lie on the phone do what their scripts say."""

import numpy as np
import pytest

from coach_gym.envs.apps.chrome import task_pages
from coach_gym.envs.apps.chrome.app import PACKAGE, read
from coach_gym.envs.apps.chrome.drawing import Drawing, drawn
from coach_gym.envs.apps.chrome.maze import Maze
from coach_gym.envs.apps.chrome.page import Article
from coach_gym.envs.apps.chrome.product import Product
from coach_gym.envs.phone.intents import VIEW, Intent
from tests.envs.hands import SCREENS, Hands

FILES = "com.google.android.documentsui"
DOWNLOADS = "/storage/emulated/0/Download"
GENERATOR = """
class SeededRNG { random() { const a = 1664525; const c = 1013904223; const m = 2 ** 32; } }
const rng = new SeededRNG(%d);
"""  # the generator of "Numerical Recipes" in C


def page(script, body="", seed=0):
    return f"<html><body>{body}<script>{GENERATOR % seed}{script}</script></body></html>".encode()


def opened(data, size=(270, 600), name="task.html"):
    """A phone on which a page was opened from the Files app."""
    hands = Hands(FILES, size)
    hands.storage.write(f"{DOWNLOADS}/{name}", data)
    hands.phone.changed()
    hands.tap("Download", name, "Chrome")
    return hands


def succeeded(hands):
    return hands.shows("Success!")


# opening


def test_files_offers_chrome_for_a_page_and_shows_its_text():
    data = (
        b"<title>T</title><h1>Big &amp; bold</h1><p>One<br>two<ul><li>three</ul><script>if (1<2) {}</script><style>p{}"
    )
    hands = opened(data)
    assert hands.phone.foreground == PACKAGE
    for text in ("Big & bold", "One", "two", "• three"):
        assert hands.shows(text)
    assert not any("1<2" in element.label for element in hands.elements)


def test_a_second_page_takes_the_place_of_the_first():
    hands = opened(b"<p>first</p>")
    hands.storage.write(f"{DOWNLOADS}/two.html", b"<p>second</p>")
    hands.phone.launch(FILES)
    hands.tap("two.html", "Chrome")
    assert hands.shows("second") and not hands.shows("first")


def test_back_leads_to_the_app_that_asked_for_the_page():
    hands = opened(b"<p>first</p>")
    hands.back()
    assert hands.phone.foreground == FILES and hands.shows("task.html")
    hands.phone.launch(PACKAGE)
    assert not hands.shows("first") and hands.shows("Search or type URL")


def test_an_address_can_be_typed_and_the_web_cannot_be_reached():
    hands = opened(b"<p>here</p>")
    hands.tap("Home", "Search or type URL")
    hands.type("https://example.com\n")
    assert any("can't be reached" in element.label for element in hands.elements)
    hands.back()
    hands.tap("Search or type URL")
    hands.type("file:///sdcard/Download/task.html\n")
    assert hands.shows("here")


def test_an_intent_opens_a_page_and_leaves_other_files_alone():
    hands = opened(b"<p>first</p>")
    hands.storage.write(f"{DOWNLOADS}/two.html", b"<p>second</p>")
    assert hands.phone.start(Intent(VIEW, f"file://{DOWNLOADS}/two.html")) == PACKAGE
    assert hands.shows("second")
    assert not hands.phone.apps[PACKAGE].open(Intent(VIEW, "file:///sdcard/a.png"))
    hands.storage.write(f"{DOWNLOADS}/LOUD.HTML", b"<p>loud</p>")
    assert hands.phone.start(Intent(VIEW, f"file://{DOWNLOADS}/LOUD.HTML")) == PACKAGE and hands.shows("loud")
    assert hands.phone.start(Intent(VIEW, "https://example.com")) == PACKAGE
    assert any("can't be reached" in element.label for element in hands.elements)


# mazes


GRID = [".#.", "..#", "#.G"]


@pytest.mark.parametrize("size", SCREENS, ids=str)
def test_a_maze_is_walked_around_its_walls(size):
    hands = opened(task_pages.maze(GRID), size)
    start = hands.find("X").bounds
    for move in ("Up", "Left", "Right"):
        hands.tap(move)
        assert hands.find("X").bounds == start, "there is a wall or an edge"
    hands.tap("Down")
    assert hands.find("X").bounds[1] >= start[3] - 2
    hands.tap("Right", "Down", "Right")
    assert succeeded(hands) and not hands.shows("X")


def test_a_maze_of_a_seed_has_a_way_and_the_same_walls_each_time():
    data = page("const mazeSize = 4;", seed=12)
    maze = read(data)
    assert isinstance(maze, Maze) and maze.grid == read(data).grid
    reached, todo = {(0, 0)}, [(0, 0)]
    while todo:
        row, column = todo.pop()
        for cell in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            inside = min(cell) >= 0 and max(cell) < 4
            if inside and maze.grid[cell[0]][cell[1]] != "#" and cell not in reached:
                reached.add(cell)
                todo.append(cell)
    assert (3, 3) in reached and maze.grid[3][3] == "G"
    assert len({tuple(read(page("const mazeSize = 4;", seed=seed)).grid) for seed in range(20)}) > 5


# products


def test_numbers_of_a_seed_are_the_shares_of_its_generator():
    script = "if (clickCount < 5) { Math.floor(rng.random() * 10) + 1 }"
    product = read(page(script, '<button>Click</button><input placeholder="Answer"><button>OK</button>'))
    assert isinstance(product, Product) and (product.button, product.hint, product.submit) == ("Click", "Answer", "OK")
    raw = (0x3C6EF35F, 0x47502932, 0xD1CCF6E9, 0xAAF95334, 0x6252E503)
    assert product.numbers == [x * 10 // 2**32 + 1 for x in raw]


@pytest.mark.parametrize("size", SCREENS, ids=str)
def test_the_product_is_asked_for_after_the_last_number(size):
    hands = opened(task_pages.product([3, 7, 2]), size)
    for number in ("3", "7", "2"):
        assert hands.shows(number)
        hands.tap("Next number")
    assert not hands.shows("2")
    for answer, right in (("41", False), ("42", True), ("420", False)):
        hands.select_text("Product of all numbers")
        hands.type(answer)
        hands.back()
        hands.tap("Check")
        assert succeeded(hands) == right


# drawings

RED, BLUE, LIME = "#ff0000", "#0000ff", "#00ff00"


def canvas(hands):
    left, top, right, bottom = next(e for e in hands.elements if e.id == "canvas").bounds
    return lambda x, y: (round(left + x * (right - left)), round(top + y * (bottom - top)))


def ink(hands, number):
    buttons = [element for element in hands.elements if element.cls == "Button" and not element.label]
    hands.phone.tap(*buttons[number].center)


@pytest.mark.parametrize("size", [(270, 600), (1080, 2400)], ids=str)
def test_a_drawing_needs_a_line_in_every_colour(size):
    hands = opened(task_pages.drawing([RED, BLUE], [LIME, BLUE, RED]), size)
    at = canvas(hands)
    for number, height, right in ((2, 0.2, False), (0, 0.5, False), (1, 0.8, True)):
        ink(hands, number)
        hands.phone.swipe(at(0.1, height), at(0.9, height))
        hands.tap("Hand in")
        assert succeeded(hands) == right
    hands.tap("Wipe", "Hand in")
    assert not succeeded(hands)


def test_touching_the_canvas_draws_nothing_and_covering_a_line_removes_its_colour():
    hands = opened(task_pages.drawing([RED], [RED, LIME]))
    at = canvas(hands)
    ink(hands, 0)
    hands.phone.tap(*at(0.5, 0.5))
    hands.tap("Hand in")
    assert not succeeded(hands)
    for number, right in ((0, True), (1, False)):
        ink(hands, number)
        hands.phone.swipe(at(0.1, 0.5), at(0.9, 0.5))
        hands.tap("Hand in")
        assert succeeded(hands) == right


def test_colours_of_a_seed_are_taken_out_of_the_list_one_by_one():
    """0x3C6EF35F / 2^32 is 0.236, 0x47502932 / 2^32 is 0.279: the first of 4, then again the first of 3."""
    script = f"const availableColors = ['{RED}', '{BLUE}', '{LIME}', '#000001',]; generateRandomColors(2);"
    drawing = read(page(script, "<p>Inks</p><button>A</button><button>B</button>"))
    assert isinstance(drawing, Drawing) and drawing.wanted == [RED, BLUE] and drawing.buttons == ("A", "B")


def test_a_line_lies_where_the_finger_went():
    dots = np.argwhere((drawn(((RED, (0.1, 0.5), (0.9, 0.5)),), 1) == (255, 0, 0)).all(axis=2))
    assert set(dots[:, 0]) == {150} and dots[:, 1].min() == 30 and dots[:, 1].max() == 270


# pages from outside


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xfe\x00", b"<", b"<script>const GRID = [1, 2];</script>", b"<script>const GRID = [[]];</script>",
        b'<script>const GRID = ["G#"];</script>', b"<script>const NUMBERS = [3];</script>",
        b'<script>const WANTED = ["red"]; const PALETTE = [{}];</script>', b"<script>const mazeSize = 4;</script>",
        b"<p>" * 20_000, b"<script>" * 5_000, page("const mazeSize = 0;"),
        b"<script>const GRID = " + b"[" * 1990 + b"]" * 1990 + b";</script>",
    ],
    ids=range(13),
)  # fmt: skip
def test_pages_that_are_not_what_they_seem_are_shown_as_text_or_played(data):
    hands = opened(data)
    assert isinstance(read(data), Article | Maze) and hands.phone.foreground == PACKAGE
    hands.phone.screenshot()
