"""Where a touch puts the cursor of a text field."""

import pytest

from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import Column, TextField
from tests.envs.phone.sampler import showing


class Fields(Screen):
    def __init__(self):
        super().__init__()
        self.line, self.lines = TextInput("hello world"), TextInput("one\n\nthree words here")
        self.code = TextInput("42")

    def build(self):
        code = TextField(self.code, "Code", password=True)
        return Column([TextField(self.line, "Line"), TextField(self.lines, "Lines", lines=5), code])


@pytest.fixture
def fields():
    return showing(Fields()).phone.top


def caret(fields, input, index):
    """Where the cursor is drawn before a character."""
    phone = fields.phone
    phone.focus = input
    input.move(index)
    phone.changed()
    (left, top, _, bottom) = next(c.rect for c in phone.windows.drawing() if c.color == "#1a73e8" and c.content == 0)
    phone.focus = None
    input.move(len(input.text))
    phone.changed()
    return left, (top + bottom) // 2


@pytest.mark.parametrize("index", [0, 3, 6, 11])
def test_text_goes_in_where_the_field_was_touched(fields, index):
    fields.phone.tap(*caret(fields, fields.line, index))
    fields.phone.type("X")
    assert fields.line.text == "hello world"[:index] + "X" + "hello world"[index:]


def test_a_touch_beside_the_text_puts_the_cursor_at_the_end_that_is_nearer(fields):
    _, y = caret(fields, fields.line, 0)
    fields.phone.tap(260, y)
    assert fields.line.cursor == 11
    fields.phone.tap(1, y)
    assert fields.line.cursor == 0


@pytest.mark.parametrize("index", [1, 3, 4, 5, 9, 21])
def test_every_line_can_be_touched(fields, index):
    fields.phone.tap(*caret(fields, fields.lines, index))
    assert fields.lines.cursor == index


def test_below_the_last_line_the_cursor_goes_into_it(fields):
    x, y = caret(fields, fields.lines, 8)
    fields.phone.tap(x, y + 25)
    assert fields.lines.cursor == 8


def test_the_dots_of_a_password_are_touched_as_letters_are(fields):
    fields.phone.tap(*caret(fields, fields.code, 1))
    assert fields.code.cursor == 1


def test_a_touch_ends_a_selection(fields):
    fields.line.select_all()
    fields.phone.tap(*caret(fields, fields.line, 2))
    fields.phone.type("X")
    assert fields.line.text == "heXllo world"


def test_a_fork_has_the_same_selection(fields):
    fields.phone.focus = fields.line
    fields.line.select(0, 5)
    twin = fields.phone.fork()
    twin.type("X")
    assert (twin.top.line.text, fields.line.text) == ("X world", "hello world")


def test_only_what_is_selected_is_marked(fields):
    fields.lines.select(1, 10)
    fields.phone.changed()
    (first, empty, last) = [c.rect for c in fields.phone.windows.drawing() if c.color == "#b9d4fb"]
    end = caret(fields, fields.lines, 10)
    assert first[0] == caret(fields, fields.lines, 1)[0] and empty[0] == empty[2] and last[2] == end[0]
