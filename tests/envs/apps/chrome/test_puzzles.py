"""Pages that are played: mazes, products and drawings, by themselves and as a script would have them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.apps.chrome import task_pages
from coach_gym.envs.apps.chrome.app import read
from coach_gym.envs.apps.chrome.drawing import Drawing
from coach_gym.envs.apps.chrome.expert import _free_cells, _way
from coach_gym.envs.apps.chrome.maze import FREE, GOAL, MOVES, WALL, Maze
from coach_gym.envs.apps.chrome.page import Article
from coach_gym.envs.apps.chrome.product import Product
from coach_gym.envs.apps.chrome.world_tasks import COLORS, maze
from coach_gym.envs.tasks.screen import Screen
from coach_gym.envs.tasks.words import ParamRng
from tests.envs.hands import Hands

GRID = [".#.", "...", "#.G"]


def texts(page):
    return [view.text for root in page.views(1.0) for view in root.walk() if view.text]


# mazes


@given(st.lists(st.sampled_from(list(MOVES)), max_size=30))
@settings(max_examples=60, deadline=None)
def test_the_x_never_stands_on_a_wall_or_outside(moves):
    page = read(task_pages.maze(GRID))
    for name in moves:
        before = page.row, page.column
        page.move(*MOVES[name])
        assert abs(page.row - before[0]) + abs(page.column - before[1]) <= 1
        assert 0 <= page.row < 3 and 0 <= page.column < 3 and page.grid[page.row][page.column] != WALL


def test_a_solved_maze_is_nothing_but_success():
    page = read(task_pages.maze(GRID))
    assert texts(page) == ["X", "Up", "Down", "Left", "Right"]
    for name in ("Down", "Right", "Right", "Down"):
        assert not page.solved
        page.move(*MOVES[name])
    assert page.solved and texts(page) == ["Success!"]


@pytest.mark.parametrize("grid", [["#."], [".x"], []])
def test_what_is_no_maze_is_an_article(grid):
    assert isinstance(read(task_pages.maze(grid)), Article)


@pytest.mark.parametrize("style, side, font", [
    ("th { width: 48px}", 50, 16), ("td { width: 48px}", 48, 16), (".cell { width: 110px}", 110, 16),
    ("button { color: red; font-size: 30px}", 50, 30),
])  # fmt: skip
def test_sizes_come_from_the_style_sheet(style, side, font):
    page = read(f'<style>{style}</style><script>const GRID = [".G"];</script>'.encode())
    assert (page.side, page.font) == (side, font)


@pytest.mark.parametrize("seed", range(6))
def test_the_expert_sees_every_free_cell_and_finds_the_shortest_way(seed):
    grid = maze(ParamRng(seed), 4)
    hands = Hands("com.google.android.documentsui")
    hands.storage.write("/storage/emulated/0/Download/a.html", task_pages.maze(grid))
    hands.phone.changed()
    hands.tap("Download", "a.html", "Chrome")
    screen = Screen()
    screen.update({"ui": hands.ui, "screenshot": hands.phone.screenshot()})
    free = _free_cells(screen)
    assert free == {(r, c): kind == GOAL for r, row in enumerate(grid) for c, kind in enumerate(row) if kind != WALL}
    page = read(task_pages.maze(grid))
    way = _way(free)
    for name in way:
        page.move(*MOVES[name])
    assert page.solved and len(way) == 6, "no way leads around in these mazes: the shortest is straight"


def test_a_goal_behind_walls_has_no_way():
    with pytest.raises(LookupError, match="no way"):
        _way({(0, 0): False, (2, 2): True})


# products


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_numbers_are_shown_one_by_one_and_only_their_product_is_right(numbers):
    page = read(task_pages.product(numbers))
    shown = []
    while page.number is not None:
        shown.append(page.number)
        assert texts(page) == [str(page.number), "Next number"]
        page.click()
    assert shown == numbers
    for answer in (math.prod(numbers) + 1, math.prod(numbers)):
        page.answer.set(str(answer))
        page.check()
        assert page.solved == (answer == math.prod(numbers)) == ("Success!" in texts(page))


@pytest.mark.parametrize("answer, right", [
    ("42", True), (" 42", True), ("+42", True), ("42.9", True), ("42 apples", True), ("042", True), ("", False),
    ("apples 42", False), ("4 2", False), ("-42", False), ("4" * 40, False), ("٤٢", False),
])  # fmt: skip
def test_an_answer_is_read_as_parse_int_reads_it(answer, right):
    page = Product("", True, [6, 7], "", "", "")
    page.answer.set(answer)
    page.check()
    assert page.solved == right


# drawings


def drawing(wanted, palette=COLORS):
    return read(task_pages.drawing(wanted, palette))


def test_a_drawing_is_right_once_every_wanted_colour_is_on_it():
    page = drawing(COLORS[:3])
    for number, color in enumerate(COLORS[:3], 1):
        assert not page.solved
        page.choose(color)
        page.draw((0.1, number / 5), (0.9, number / 5))
        page.submit()
    assert page.solved and "Success!" in texts(page)
    page.clear()
    page.submit()
    assert not page.solved and page.strokes == ()


@pytest.mark.parametrize("color, place, right", [
    (COLORS[0], (0.5, 0.5), True), (COLORS[1], (0.5, 0.5), False), (COLORS[0], (1.5, 1.5), False),
])  # fmt: skip
def test_a_line_counts_by_its_colour_and_only_on_the_canvas(color, place, right):
    page = drawing(COLORS[:1])
    page.choose(color)
    page.draw(place, (place[0] + 0.2, place[1]))
    page.submit()
    assert page.solved == right


def test_the_palette_has_a_button_for_every_colour():
    page = drawing(COLORS[:2])
    inks = [v for root in page.views(1.0) for v in root.walk() if v.cls == "android.widget.Button" and not v.text]
    assert [ink.bg for ink in inks] == list(COLORS)
    inks[4].on_tap()
    assert page.color == COLORS[4]


# pages without a script to play


@pytest.mark.parametrize("kind, page", [
    (Maze, task_pages.maze([FREE + GOAL])), (Product, task_pages.product([1])), (Drawing, drawing),
])  # fmt: skip
def test_pages_are_told_apart(kind, page):
    page = page(COLORS[:1]) if callable(page) else read(page)
    assert type(page) is kind and page.mobile and page.title


def test_an_article_is_shown_block_by_block():
    page = read(b"<h1>Big</h1><p>one</p><ul><li>two</ul>")
    assert texts(page) == ["Big", "one", "• two"]
    sizes = [view.size for view in page.views(2.0)]
    assert sizes == [64, 32, 32] and [view.bold for view in page.views(2.0)] == [True, False, False]
