"""Views: their attributes, and how trees of them are laid out, drawn and read."""

import inspect

import numpy as np
import pytest

from coach_gym.envs.phone.toolkit import widgets
from coach_gym.envs.phone.toolkit.accessibility import nodes
from coach_gym.envs.phone.toolkit.fonts import line_height, text_width, wrap
from coach_gym.envs.phone.toolkit.layout import Layout
from coach_gym.envs.phone.toolkit.paint import Painter, commands, intersect
from coach_gym.envs.phone.toolkit.view import Attributes, ScrollState, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Column, Grid, ListView, Pile, Row, Space, Text, TextField

SCREEN = (0, 0, 200, 400)


def box(width=None, height=None, **more):
    return View(width=width, height=height, **more)


def laid_out(root, rect=SCREEN, density=1.0, scrolls=None, font_scale=1.0):
    return Layout(density, {} if scrolls is None else scrolls, font_scale).run(root, rect)


def bounds(root):
    return [child.bounds for child in root.children]


# attributes


@pytest.mark.parametrize(
    ("name", "nearest"), [("colour", "color"), ("on_tapp", "on_tap"), ("maxlines", "max_lines"), ("xyzzy", None)]
)
def test_an_attribute_that_does_not_exist_is_refused(name, nearest):
    with pytest.raises(TypeError, match=name) as raised:
        View("android.view.View", **{name: 1})
    assert (f"did you mean '{nearest}'" in str(raised.value)) == (nearest is not None)


@pytest.mark.parametrize("make", [widgets.Text, widgets.Header, widgets.Icon, widgets.Empty])
def test_widgets_refuse_it_too(make):
    with pytest.raises(TypeError, match="colr"):
        make("name", colr="#000000")


def test_every_attribute_that_can_be_given_has_a_default():
    members = vars(View).items()
    defaults = {name for name, value in members if not name.startswith("_") and not inspect.isfunction(value)}
    computed = {"cls", "children", "bounds", "w", "h", "content_height", "lines", "scroll", "caret", "focused"}
    assert set(Attributes.__annotations__) == defaults - computed


def test_walking_goes_from_the_outside_in():
    inner = Text("b")
    root = Column([Column([Text("a"), inner]), Text("c")])
    assert [view.text for view in root.walk() if view.text] == ["a", "b", "c"]
    assert next(root.walk()) is root and inner in list(root.walk())


# layout


def test_a_column_stretches_and_gives_what_is_left_to_flex():
    root = laid_out(Column([box(height=40), box(flex=1), box(flex=2), box(50, 60)], gap=10, pad=5))
    heights = [bottom - top for _, top, _, bottom in bounds(root)]
    assert heights[0] == 40 and heights[3] == 60 and heights[2] == pytest.approx(2 * heights[1], abs=2)
    assert sum(heights) + 30 == pytest.approx(390, abs=2)
    assert {(left, right) for left, _, right, _ in bounds(root)[:3]} == {(5, 195)}
    assert bounds(root)[3][2] - bounds(root)[3][0] == 50


@pytest.mark.parametrize(("justify", "top"), [("start", 0), ("center", 170), ("end", 340)])
def test_a_column_justifies_what_does_not_fill_it(justify, top):
    assert bounds(laid_out(Column([box(height=60)], justify=justify)))[0][1] == top


@pytest.mark.parametrize(("align", "left"), [("start", 0), ("center", 80), ("end", 160)])
def test_a_column_aligns_across(align, left):
    root = laid_out(Column([box(40, 10)], align=align))
    assert bounds(root) == [(left, 0, left + 40, 10)]


def test_a_row_centres_across_and_shares_its_width():
    root = laid_out(Row([box(40, 20), box(height=10, flex=1), box(20, 40)], gap=10), (0, 0, 200, 40))
    assert bounds(root) == [(0, 10, 40, 30), (50, 15, 170, 25), (180, 0, 200, 40)]


def test_a_pile_lays_all_children_over_each_other():
    assert bounds(laid_out(Pile([box(), box(10, 10)]))) == [SCREEN, SCREEN]


def test_a_grid_breaks_into_rows_as_high_as_their_highest():
    root = laid_out(Grid([box(height=h) for h in (10, 30, 20)], 2, gap=10))
    assert bounds(root) == [(0, 0, 95, 30), (105, 0, 200, 30), (0, 40, 95, 60)]


def test_lengths_are_in_dp():
    root = laid_out(Column([box(50, 20)], pad=4), (0, 0, 600, 900), density=3)
    assert bounds(root) == [(12, 12, 162, 72)]


def test_nothing_is_wider_than_what_holds_it():
    root = laid_out(Column([box(500, 10), Row([box(150, 10), box(150, 10)])]))
    assert all(0 <= view.bounds[0] and view.bounds[2] <= 200 for view in root.walk())


def test_a_list_scrolls_within_its_content():
    scrolls = {}
    root = Column([ListView([box(height=300), box(height=300)], "rows"), box(height=100)])
    laid_out(root, scrolls=scrolls)
    state = scrolls["rows"]
    assert (state.offset, state.limit) == (0, 300)
    assert state.by(1000) and not state.by(1) and state.offset == 300
    laid_out(root, scrolls=scrolls)
    assert bounds(root.children[0]) == [(0, -300, 200, 0), (0, 0, 200, 300)]


def test_a_list_that_shrinks_does_not_stay_beyond_its_end():
    scrolls = {"list": ScrollState()}
    laid_out(ListView([box(height=1000)]), scrolls=scrolls)
    scrolls["list"].by(600)
    laid_out(ListView([box(height=500)]), scrolls=scrolls)
    assert (scrolls["list"].offset, scrolls["list"].limit) == (100, 100)


def test_a_list_from_its_end_stays_there_as_it_grows_unless_it_was_scrolled():
    scrolls = {}
    offsets = []
    for rows, scrolled in ((5, 0), (6, 0), (6, -50), (7, 0)):
        root = ListView([box(height=100)] * rows, from_end=True)
        laid_out(root, scrolls=scrolls)
        offsets.append(scrolls["list"].offset)
        scrolls["list"].by(scrolled)
    assert offsets == [100, 200, 200, 150]


@pytest.mark.parametrize("scale", [0.85, 1.0, 1.3])
def test_texts_grow_with_the_font_scale(scale):
    text = laid_out(Column([Text("A line", 20)], align="start"), font_scale=scale).children[0]
    left, top, right, bottom = text.bounds
    assert bottom - top == line_height(round(20 * scale)) and right - left == text_width("A line", round(20 * scale))


# texts


def test_wrapped_lines_fit_and_lose_no_word():
    text = "Pack my box with five dozen liquor jugs, and a Donaudampfschifffahrtsgesellschaft"
    lines = wrap(text, 16, False, 120, None)
    assert all(text_width(line, 16) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_what_is_cut_ends_in_an_ellipsis():
    lines = wrap("one two three four five six seven", 16, False, 80, 2)
    assert len(lines) == 2 and lines[1].endswith("…") and text_width(lines[1], 16) <= 80


def test_line_breaks_are_kept():
    assert wrap("a\n\nb", 16, False, 100, None) == ("a", "", "b")


def test_passwords_are_measured_and_drawn_as_dots():
    field = TextField(TextInput("secret"), password=True)
    root = laid_out(Column([field]))
    shown = [c.content for c in commands(root, Layout(1, {}), SCREEN) if c.kind == "text"]
    assert shown == ["••••••"]


def test_typing_replaces_a_selection_and_moves_the_cursor():
    field = TextInput("abc", selected=True)
    field.insert("xy")
    assert (field.text, field.cursor, field.selected) == ("xy", 2, "")
    field.move(1)
    field.insert("_")
    field.delete()
    field.delete()
    assert (field.text, field.cursor) == ("y", 0)
    field.delete()
    assert field.text == "y" and not TextInput("", selected=True).selected


# pixels and nodes


def test_a_frame_that_was_repaired_equals_one_that_is_new():
    layout, painter = Layout(1.0, {}), Painter(200, 400)
    for color in ("#ff0000", "#00ff00"):
        boxes = [Text("Hello"), box(50, 50, bg=color, radius=8), Space(flex=1), box(height=9, bg=color)]
        root = laid_out(Column(boxes, bg="#ffffff"))
        frame = painter.show(commands(root, layout, SCREEN))
        assert np.array_equal(frame, Painter(200, 400).show(commands(root, layout, SCREEN)))
    assert (frame[395:, :] == (0, 255, 0)).all()


def test_frames_are_copies():
    painter, drawing = Painter(20, 20), commands(laid_out(box(bg="#102030"), (0, 0, 20, 20)), Layout(1, {}), SCREEN)
    frame = painter.show(drawing)
    frame[:] = 0
    assert (painter.show(drawing) == (16, 32, 48)).all()


def test_dark_turns_light_to_dark_and_keeps_the_hue():
    drawing = commands(laid_out(box(bg="#ffd0d0"), (0, 0, 4, 4)), Layout(1, {}), SCREEN)
    painter = Painter(4, 4)
    light, dark = painter.show(drawing)[0, 0].astype(int), painter.show(drawing, dark=True)[0, 0].astype(int)
    assert light.sum() > 600 and dark.sum() < 300 and dark[0] > dark[1] == dark[2]
    assert (painter.show(drawing)[0, 0] == light).all()


def test_images_are_stretched_or_whole():
    white = np.full((10, 20, 3), 255, np.uint8)
    for whole, covered in ((False, 1.0), (True, 0.5)):
        root = laid_out(View(image=white, whole=whole), (0, 0, 40, 40))
        frame = Painter(40, 40).show(commands(root, Layout(1, {}), SCREEN))
        assert (frame == 255).all(axis=2).mean() == pytest.approx(covered, abs=0.01)


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ((0, 0, 4, 4), (2, 1, 9, 3), (2, 1, 4, 3)),
        ((0, 0, 4, 4), (4, 0, 9, 9), None),
        ((0, 0, 1, 1), (0, 2, 1, 3), None),
    ],
)
def test_common_part_of_rectangles(a, b, common):
    assert intersect(a, b) == intersect(b, a) == common


def test_nodes_leave_out_what_is_unimportant_or_out_of_sight():
    root = laid_out(Column([Column([Text("seen", id="x", on_tap=print)]), Space(500), Text("below")]))
    (node,) = nodes(root, "org.app", SCREEN)
    assert (node.text, node.id, node.clickable, node.enabled) == ("seen", "org.app:id/x", True, True)


def test_a_node_is_cut_off_at_the_edge_of_its_list():
    scrolls = {}
    root = Column([ListView([Text("a", height=300), Text("b", height=300)])])
    laid_out(root, scrolls=scrolls)
    scrolls["list"].by(100)
    laid_out(root, scrolls=scrolls)
    (found,) = nodes(root, "p", SCREEN)
    assert found.scrollable and [child.bounds for child in found.children] == [(0, 0, 200, 200), (0, 200, 200, 400)]
