"""Properties that layout, pixels and accessibility have for any tree of views."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.toolkit.accessibility import nodes
from coach_gym.envs.phone.toolkit.layout import Layout
from coach_gym.envs.phone.toolkit.paint import Painter, commands
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Card,
    Column,
    Grid,
    Icon,
    ListItem,
    ListView,
    Pile,
    Row,
    Slider,
    Space,
    Switch,
    Text,
    TextField,
)

SCREEN = (0, 0, 180, 320)
COLORS = st.sampled_from(["#ff0000", "#00aa00", "#3344ff", "#ffffff"])
WORDS = st.text("abc déf\n", max_size=20)
LENGTHS = st.sampled_from([0, 4, 9, 30])

leaves = st.one_of(
    st.builds(Text, WORDS, st.sampled_from([10, 14, 22]), COLORS, st.booleans(), flex=st.sampled_from([0, 1])),
    st.builds(Button, WORDS, st.just(print), kind=st.sampled_from(["filled", "tonal", "outlined", "text"])),
    st.builds(lambda text, lines: TextField(TextInput(text), "hint", lines=lines), WORDS, st.sampled_from([1, 3])),
    st.builds(Switch, st.booleans(), st.just(print)),
    st.builds(Slider, st.floats(0, 1), st.just(print), st.just("level")),
    st.builds(ListItem, WORDS, WORDS, st.just(print)),
    st.builds(Icon, st.sampled_from(["close", "magnify"]), st.sampled_from([14, 24])),
    st.builds(Space, LENGTHS, LENGTHS, st.sampled_from([0, 1])),
)


def boxes(children):
    some = st.lists(children, min_size=1, max_size=4)
    align = st.sampled_from(["start", "center", "end", "stretch"])
    justify = st.sampled_from(["start", "center", "end"])
    return st.one_of(
        st.builds(Column, some, LENGTHS, LENGTHS, align=align, justify=justify, bg=COLORS),
        st.builds(Row, some, LENGTHS, LENGTHS, align=align, justify=justify),
        st.builds(Pile, some),
        st.builds(Grid, some, st.integers(1, 3), LENGTHS, LENGTHS),
        st.builds(Card, some, st.just(print)),
        st.builds(ListView, some, st.uuids().map(str)),
    )


trees = st.recursive(leaves, boxes, max_leaves=12)


def laid_out(root, density=1.0, scrolls=None):
    layout = Layout(density, {} if scrolls is None else scrolls)
    return layout.run(root, SCREEN), layout


@settings(max_examples=60, deadline=None)
@given(st.lists(leaves, min_size=1, max_size=6), LENGTHS, st.sampled_from(["start", "center", "end", "stretch"]))
def test_what_is_in_a_column_is_within_its_width(children, pad, align):
    root, _ = laid_out(Column(children, pad=pad, align=align))
    for view in root.children:
        assert pad <= view.bounds[0] <= view.bounds[2] <= 180 - pad


@settings(max_examples=60, deadline=None)
@given(st.lists(leaves, min_size=2, max_size=6), LENGTHS)
def test_children_of_a_column_follow_each_other_in_equal_gaps(children, gap):
    root, _ = laid_out(Column(children, gap))
    edges = [(view.bounds[1], view.bounds[3]) for view in root.children]
    assert all(lower[0] - upper[1] == gap for upper, lower in pairwise(edges))


@settings(max_examples=60, deadline=None)
@given(st.lists(leaves, min_size=1, max_size=7), st.integers(1, 3), LENGTHS)
def test_cells_of_a_grid_are_of_one_width_and_aligned(children, columns, gap):
    root, _ = laid_out(Grid(children, columns, gap))
    assert len({view.bounds[2] - view.bounds[0] for view in root.children}) == 1
    for column in range(columns):
        assert len({view.bounds[0] for view in root.children[column::columns]}) <= 1
    for row in range(0, len(children), columns):
        assert len({view.bounds[1] for view in root.children[row : row + columns]}) == 1


@settings(max_examples=60, deadline=None)
@given(trees)
def test_laying_out_twice_changes_nothing(tree):
    root, _ = laid_out(Column([tree]))
    before = [view.bounds for view in root.walk()]
    laid_out(root)
    assert [view.bounds for view in root.walk()] == before


@settings(max_examples=40, deadline=None)
@given(st.lists(trees, min_size=2, max_size=5), st.booleans())
def test_a_frame_that_is_brought_up_to_date_equals_one_drawn_anew(screens, dark):
    painter = Painter(180, 320)
    for tree in screens:
        root, layout = laid_out(Column([tree], bg="#ffffff"))
        drawing = commands(root, layout, SCREEN)
        assert np.array_equal(painter.show(drawing, dark), Painter(180, 320).show(drawing, dark))


def test_a_view_that_now_stands_twice_is_drawn_in_full():
    painter = Painter(180, 320)
    for labels in ([""], ["a"], ["", ""], ["a"]):
        pile = Pile([Button(label, print, kind="filled") for label in labels])
        root, layout = laid_out(Column([pile], bg="#ffffff"))
        drawing = commands(root, layout, SCREEN)
        assert np.array_equal(painter.show(drawing), Painter(180, 320).show(drawing))


@settings(max_examples=60, deadline=None)
@given(trees)
def test_nodes_lie_on_the_screen_and_in_the_order_of_the_views(tree):
    root, _ = laid_out(Column([tree]))
    found = [node for top in nodes(root, "org.app", SCREEN) for node in top.walk()]
    for node in found:
        left, top, right, bottom = node.bounds
        assert 0 <= left < right <= 180 and 0 <= top < bottom <= 320
    texts = [view.text for view in root.walk() if view.important]
    shown = iter(texts)
    assert all(node.text in shown for node in found), "a subsequence"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=8), st.lists(st.integers(-500, 500), max_size=5))
def test_scrolling_stays_within_the_content(heights, moves):
    scrolls = {}
    rows = [Space(height) for height in heights]
    for move in [0, *moves]:
        root, _ = laid_out(ListView(rows), scrolls=scrolls)
        state = scrolls["list"]
        assert 0 <= state.offset <= state.limit == max(0, sum(heights) - 320)
        assert root.children[0].bounds[1] == -state.offset
        state.by(move)


@pytest.mark.parametrize("text", ["", "one line", "a text so long that it wraps over three lines or more", "a\n\nb"])
def test_the_caret_goes_through_every_place_of_a_text(text):
    field = TextInput(text)
    places = []
    for cursor in range(len(text) + 1):
        field.move(cursor)
        view = TextField(field, lines=3)
        view.caret = True
        root, layout = laid_out(Column([view]))
        (caret,) = [c.rect for c in commands(root, layout, SCREEN) if c.color == "#1a73e8"]
        places.append((caret[1], caret[0]))
    assert places == sorted(places), "the caret never goes back"
    assert all(a != b for (a, b), c in zip(pairwise(places), text, strict=True) if not c.isspace())


def test_the_caret_of_a_password_stands_between_dots():
    field = TextInput("secret")
    field.move(3)
    view = TextField(field, password=True)
    view.caret = True
    root, layout = laid_out(Column([view]))
    drawing = commands(root, layout, SCREEN)
    (dots,) = [c.rect for c in drawing if c.kind == "text"]
    (caret,) = [c.rect for c in drawing if c.color == "#1a73e8"]
    assert caret[0] == pytest.approx((dots[0] + dots[2]) / 2, abs=2)


def test_selected_text_is_marked():
    root, layout = laid_out(Column([TextField(TextInput("marked", selected=True))]))
    kinds = [c.color for c in commands(root, layout, SCREEN)]
    assert "#b9d4fb" in kinds
