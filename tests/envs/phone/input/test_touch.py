"""What the views below a finger are told: taps, long touches, swipes, slides, drags, scrolling and flinging."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.input import ime, scrolling
from coach_gym.envs.phone.input.touch import FLING
from coach_gym.envs.phone.intents import CANCELED, OK
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, ListView, Pile, Slider, Space, Text, TextField
from tests.envs.phone.sampler import showing

WIDTH, HEIGHT = 270, 600


class Given(Screen):
    """Shows the views that a function makes, and notes what they are told."""

    def __init__(self, make):
        super().__init__()
        self.make, self.told = make, []

    def build(self):
        return self.make(self)


def screen(make):
    return showing(Given(make)).phone.top


def middle(screen, text):
    left, top, right, bottom = next(node.bounds for node in screen.phone.ui().walk() if text in (node.text, node.desc))
    return (left + right) // 2, (top + bottom) // 2


def note(shown, *what):
    return lambda *more: shown.told.append((*what, *more))


def test_the_view_in_front_gets_the_touch():
    shown = screen(lambda s: Pile([Button("Behind", note(s, "behind")), Button("Front", note(s, "front"))]))
    shown.phone.tap(*middle(shown, "Front"))
    assert shown.told == [("front",)]


def test_an_inner_view_gets_it_before_its_box():
    shown = screen(lambda s: Column([Button("Inner", note(s, "inner")), Space(100)], on_tap=note(s, "box")))
    shown.phone.tap(*middle(shown, "Inner"))
    shown.phone.tap(135, 130)
    assert shown.told == [("inner",), ("box",)]


@pytest.mark.parametrize("touch", ["tap", "long_press"])
def test_what_is_disabled_takes_the_touch_and_does_nothing(touch):
    shown = screen(
        lambda s: Column([Column([Button("Off", note(s, "off"), enabled=False)], on_tap=note(s, "box"))])
    )
    getattr(shown.phone, touch)(*middle(shown, "Off"))
    assert shown.told == []


def test_a_long_touch_without_a_use_for_it_is_none():
    shown = screen(lambda s: Column([Text("Short", on_tap=note(s, "tap")), Text("Long", on_long=note(s, "long"))]))
    for label in ("Short", "Long"):
        shown.phone.long_press(*middle(shown, label))
    assert shown.told == [("long",)]


def test_a_touch_outside_of_everything_does_nothing():
    shown = screen(lambda s: Column([Button("Only", note(s, "tap"))]))
    shown.phone.tap(-5, 100)
    shown.phone.tap(WIDTH + 50, HEIGHT + 50)
    shown.phone.long_press(WIDTH + 50, 0)
    shown.phone.swipe((WIDTH + 50, 0), (0, 0))
    assert shown.told == []


# places on a view


@pytest.mark.parametrize(("share", "told"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.25, 0.25)])
def test_a_slider_is_told_how_far_it_is_touched(share, told):
    shown = screen(lambda s: Column([Slider(0.3, note(s), "Level")]))
    _, y = middle(shown, "Level")
    shown.phone.tap(round(share * (WIDTH - 1)), y)
    ((value,),) = shown.told
    assert value == pytest.approx(told, abs=0.03)


def test_a_slider_follows_a_finger_sideways_but_not_up():
    shown = screen(lambda s: Column([Slider(0.3, note(s), "Level")], on_swipe=note(s, "swipe")))
    x, y = middle(shown, "Level")
    shown.phone.swipe((x, y), (WIDTH - 1, y))
    shown.phone.swipe((x, y + 5), (x, y - 100))
    assert shown.told == [(1.0,), ("swipe", "up")]


@given(st.integers(0, WIDTH - 1), st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_a_long_touch_tells_its_place(x, y):
    shown = screen(lambda s: Column([View(text="Map", on_hold=note(s), height=133.4)]))
    top = next(node.bounds[1] for node in shown.phone.ui().walk() if node.text == "Map")
    shown.phone.long_press(x, top + y)
    (((across, down),),) = shown.told
    assert across == pytest.approx(x / WIDTH, abs=0.01) and down == pytest.approx(y / 100, abs=0.02)


def test_a_canvas_is_told_every_leg():
    shown = screen(lambda s: Column([View(text="Canvas", on_drag=note(s), height=100)]))
    x, y = middle(shown, "Canvas")
    shown.phone.trace([(x, y), (x + 20, y), (x + 20, y + 20), (x, y)])
    assert len(shown.told) == 3 and shown.told[0][0] == shown.told[2][1]


# swipes and lists


@pytest.mark.parametrize(
    ("end", "way"),
    [((250, 300), "right"), ((20, 300), "left"), ((135, 100), "up"), ((135, 500), "down"), ((200, 260), "right")],
)
def test_a_swipe_has_the_direction_in_which_it_goes_furthest(end, way):
    shown = screen(lambda s: Column([Space(flex=1)], on_swipe=note(s)))
    shown.phone.swipe((135, 300), end)
    assert shown.told == [(way,)]


def rows(shown):
    return ListView([Text(f"row {n}", height=40) for n in range(100)], on_swipe=note(shown))


def offset(shown):
    shown.phone.ui()
    return shown.scrolls["list"].offset


@pytest.mark.parametrize("seconds", [0.5, 2.0, 60.0])
def test_a_list_follows_a_slow_finger_to_the_pixel(seconds):
    shown = screen(rows)
    shown.phone.swipe((135, 400), (135, 320), seconds)
    assert offset(shown) == 80 and not shown.told


def test_a_list_runs_on_after_a_fast_finger():
    shown = screen(rows)
    shown.phone.swipe((135, 400), (135, 300), 0.05)
    far = offset(shown)
    assert 100 < far <= 400
    shown.phone.swipe((135, 300), (135, 400), 0.05)
    assert offset(shown) == 0
    assert 100 / shown.phone.density / 0.05 > FLING


def test_a_list_at_its_end_lets_the_swipe_through():
    shown = screen(rows)
    shown.phone.swipe((135, 200), (135, 400), 1)
    assert shown.told == [("down",)] and offset(shown) == 0


def test_the_innermost_list_that_can_move_does():
    def make(s):
        inner = Column([ListView([Space(200), Space(200)], "inner")], height=150)
        return ListView([inner, Space(1000)], "outer")

    shown = screen(make)
    for _ in range(8):
        shown.phone.swipe((135, 130), (135, 60), 1)
    inner, outer = shown.scrolls["inner"], shown.scrolls["outer"]
    assert inner.offset == inner.limit > 0 and outer.offset > 0


def test_scrolling_by_a_program_tells_when_nothing_moves():
    shown = screen(rows)
    area = next(node for node in shown.phone.ui().walk() if node.scrollable)
    assert scrolling.scroll(shown.phone, area, True, 1, scrolling.SCROLL_SECONDS)
    assert scrolling.to_end(shown.phone, area, True, 1, scrolling.FLING_SECONDS, 100)
    assert offset(shown) == shown.scrolls["list"].limit
    assert not scrolling.scroll(shown.phone, area, True, 1, scrolling.SCROLL_SECONDS)
    assert not scrolling.scroll(shown.phone, area, False, 1, scrolling.SCROLL_SECONDS)


# text from outside


class Form(Screen):
    def __init__(self):
        super().__init__()
        self.line, self.lines, self.sent = TextInput(), TextInput(), 0

    def build(self):
        return Column([TextField(self.line, "Line", on_submit=self.send), TextField(self.lines, "Lines", lines=3)])

    def send(self):
        self.sent += 1


@pytest.fixture
def form():
    hands = showing(Form())
    hands.phone.storage.settings["secure", "default_input_method"] = ime.ADB_IME
    hands.tap("Line")
    return hands.phone.top


def coded(text):
    return {"msg": base64.b64encode(text.encode()).decode()}


def test_broadcasts_type_press_clear_and_enter(form):
    phone = form.phone
    for action, extras in (
        ("ADB_INPUT_TEXT", {"msg": "plain"}), ("ADB_CLEAR_TEXT", {}), ("ADB_INPUT_B64", coded("héllo\n😀")),
        ("ADB_INPUT_CODE", {"code": 67}), ("ADB_EDITOR_CODE", {"code": 6}),
    ):  # fmt: skip
        assert ime.broadcast(phone, action, extras) == (OK, "success")
    assert form.line.text == "héllo " and form.sent == 1 and not phone.keyboard_shown


def test_editor_actions_move_between_fields_submit_or_hide_the_keyboard(form):
    def act(code, letter):
        ime.broadcast(form.phone, "ADB_EDITOR_CODE", {"code": code})
        ime.broadcast(form.phone, "ADB_INPUT_TEXT", {"msg": letter})
        return form.line.text, form.lines.text, form.phone.keyboard_shown

    following, done, before, send = 5, 6, 7, 4
    assert act(following, "b") == ("", "b", True)
    assert act(before, "a") == ("a", "b", True)
    assert act(before, "c") == ("a", "bc", True), "from the first field to the last"
    assert act(done, "d") == ("a", "bcd", False), "no line break"
    assert act(following, "e") == ("ae", "bcd", False) and form.sent == 0
    assert act(send, "f") == ("aef", "bcd", False) and form.sent == 1


def test_characters_arrive_by_their_codes(form):
    assert ime.broadcast(form.phone, "ADB_INPUT_CHARS", {"chars": "128512,32,97"}) == (OK, "success")
    assert form.line.text.endswith("\N{GRINNING FACE} a")


def test_wrong_broadcasts_are_refused_and_others_are_for_others(form):
    assert ime.broadcast(form.phone, "ADB_INPUT_B64", {"msg": "!"})[0] == CANCELED
    assert ime.broadcast(form.phone, "ADB_INPUT_CODE", {"code": "x"})[0] == CANCELED
    assert ime.broadcast(form.phone, "android.intent.action.VIEW", {}) is None
    assert form.line.text == ""


def test_a_clients_own_input_method_works_once_it_is_chosen(form):
    phone = form.phone
    assert ime.broadcast(phone, "ADB_KEYBOARD_INPUT_TEXT", {"text": "YQ=="}) == (CANCELED, "")
    phone.storage.settings["secure", "default_input_method"] = ime.U2_IME
    assert ime.broadcast(phone, "ADB_INPUT_TEXT", {"msg": "a"}) == (CANCELED, "")
    assert ime.broadcast(phone, "ADB_KEYBOARD_INPUT_TEXT", {"text": "YQ=="})[0] == OK
    assert ime.broadcast(phone, "ADB_KEYBOARD_SET_TEXT", {"text": "Yg=="})[0] == OK and form.line.text == "b"
    phone.clipboard = "clip"
    assert base64.b64decode(ime.broadcast(phone, "ADB_KEYBOARD_GET_CLIPBOARD", {})[1]) == b"clip"
    ime.broadcast(phone, "ADB_KEYBOARD_HIDE", {})
    assert not phone.keyboard_shown and phone.top is form


def test_line_breaks_stay_in_fields_of_several_lines(form):
    for field, text in ((form.line, "a b"), (form.lines, "a\nb")):
        form.phone.focus = field
        form.phone.changed()
        ime.enter_text(form.phone, "a\nb")
        assert field.text == text
    form.phone.focus = None
    ime.enter_text(form.phone, "lost")


@pytest.mark.parametrize("hint", ["Line", "Lines"])
def test_a_field_is_found_by_its_node(form, hint):
    node = next(node for node in form.phone.ui().walk() if node.hint == hint)
    field = ime.field_at(form.phone, node)
    assert field is not None and field.hint == hint
    assert ime.field_at(form.phone, form.phone.ui()) is None
