"""Where a touch puts the cursor of a text field, and what it selects."""

import pytest

from coach_gym.envs.phone import shell
from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.input import keys
from coach_gym.envs.phone.toolkit.caret import word_at
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import Column, Space, TextField
from tests.envs.hands import Hands
from tests.envs.phone.sampler import showing


class Fields(Screen):
    def __init__(self):
        super().__init__()
        self.line, self.lines = TextInput("hello world"), TextInput("one\n\nthree words here")
        self.code, self.above = TextInput("42"), 0

    def build(self):
        code = TextField(self.code, "Code", password=True)
        return Column([Space(self.above), TextField(self.line, "Line"), TextField(self.lines, "Lines", lines=5), code])


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


# keys


@pytest.fixture
def lines(fields):
    """The screen with the cursor at the end of a field of three lines."""
    Hands(None, phone=fields.phone).tap("Lines")
    fields.lines.set("one\n\nthree words here")
    fields.phone.changed()
    return fields


def press(fields, *names):
    for name in names:
        keys.press(fields.phone, keys.CODES[name])


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["DPAD_UP"], "one\nQ\nthree words here"), (["DPAD_UP", "DPAD_DOWN"], "one\n\nQthree words here"),
        (["DPAD_UP"] * 2, "Qone\n\nthree words here"), (["DPAD_UP", "DPAD_UP", "MOVE_END"], "oneQ\n\nthree words here"),
        (["MOVE_HOME"], "one\n\nQthree words here"), (["MOVE_HOME", "DPAD_DOWN"], "one\n\nthree words hereQ"),
        (["MOVE_HOME", "TAB"], "one\n\n\tQthree words here"), (["DPAD_UP", "MOVE_END"], "one\nQ\nthree words here"),
    ],
)  # fmt: skip
def test_arrows_move_between_lines_and_tab_is_a_letter(lines, names, text):
    press(lines, *names)
    lines.phone.type("Q")
    assert lines.lines.text == text


def test_arrows_leave_a_field_at_the_ends_of_its_text(lines):
    press(lines, "DPAD_DOWN")
    assert lines.phone.focus is lines.code
    press(lines, "DPAD_UP", "DPAD_UP")
    assert lines.phone.focus is lines.lines
    press(lines, *["DPAD_UP"] * 4)
    assert lines.phone.focus is lines.line


def test_an_arrow_ends_a_selection_in_its_line(lines):
    lines.lines.select(5, 10)
    press(lines, "DPAD_LEFT")
    assert (lines.lines.cursor, lines.lines.selected) == (9, "")


# words


def shown(fields):
    return [node.text for node in fields.phone.ui().walk() if node.text in ("Cut", "Copy", "Paste", "Select all")]


@pytest.mark.parametrize("touch", ["long_press", "double_tap"])
def test_a_word_is_selected_below_the_finger(fields, touch):
    getattr(fields.phone, touch)(*caret(fields, fields.line, 8))
    assert fields.line.selected == "world" and shown(fields) == ["Cut", "Copy", "Paste", "Select all"]
    fields.phone.type("there")
    assert fields.line.text == "hello there"


def test_a_long_touch_beside_the_text_selects_all(fields):
    _, y = caret(fields, fields.line, 0)
    fields.phone.long_press(260, y)
    assert fields.line.selected == "hello world" and shown(fields) == ["Cut", "Copy", "Paste"]


@pytest.mark.parametrize("text", ["+1 (555) 010-0199", "10/15/2023", "12.50", "ada.king@example.com"])
def test_of_what_is_no_words_all_is_selected(fields, text):
    fields.line.set(text)
    fields.phone.changed()
    fields.phone.long_press(*caret(fields, fields.line, 2))
    assert fields.line.selected == text


def test_a_double_tap_beside_the_text_is_two_taps(fields):
    _, y = caret(fields, fields.line, 0)
    fields.phone.double_tap(260, y)
    assert (fields.line.cursor, fields.line.selected) == (11, "") and shown(fields) == []


def test_of_a_password_all_is_selected(fields):
    fields.code.set("a b")
    fields.phone.changed()
    fields.phone.long_press(*caret(fields, fields.code, 1))
    assert fields.code.selected == "a b"


def test_all_can_be_selected(fields):
    hands = Hands(None, phone=fields.phone)
    fields.phone.long_press(*caret(fields, fields.line, 2))
    hands.tap("Select all")
    assert fields.line.selected == "hello world" and shown(fields) == ["Cut", "Copy", "Paste"]


def test_a_selected_word_is_cut_and_pasted(fields):
    hands = Hands(None, phone=fields.phone)
    fields.phone.long_press(*caret(fields, fields.line, 2))
    hands.tap("Cut")
    assert (fields.line.text, fields.phone.clipboard) == (" world", "hello")
    fields.phone.type("good")
    hands.tap("Lines")
    fields.phone.long_press(*caret(fields, fields.line, 8))
    hands.tap("Paste")
    assert fields.line.text == "good hello"


def test_the_toolbar_is_never_below_the_keyboard(fields):
    fields.above = 480
    fields.phone.changed()
    Hands(None, phone=fields.phone).hold("Line")
    bounds = {node.text: node.bounds for node in fields.phone.ui().walk()}
    assert bounds["Paste"][3] <= bounds["q"][1]


@pytest.mark.parametrize(
    ("text", "index", "word"),
    [
        ("it's 3.50 now.", 1, "it's"), ("it's 3.50 now.", 7, "3.50"), ("it's 3.50 now.", 13, "now"),
        ("a, b", 1, "a"), ("a, b", 2, " "), ("--", 2, "-"), ("héllo", 5, "héllo"),
    ],
)  # fmt: skip
def test_words_end_where_android_ends_them(text, index, word):
    start, end = word_at(text, index)
    assert text[start:end] == word


@pytest.mark.parametrize(
    ("script", "selected"),
    [("input tap {at}; input tap {at}", "hello"), ("input tap {at}; sleep 1; input tap {at}", "")],
)
def test_two_taps_of_a_script_are_a_double_tap_unless_it_waits(fields, script, selected):
    x, y = caret(fields, fields.line, 2)
    shell.run(fields.phone, script.format(at=f"{x} {y}"))
    assert fields.line.selected == selected


def test_taps_of_two_scripts_are_two_taps(fields):
    x, y = caret(fields, fields.line, 2)
    for _ in range(2):
        shell.run(fields.phone, f"input tap {x} {y}")
    assert fields.line.selected == ""
