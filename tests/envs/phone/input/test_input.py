"""Fingers and keys, as protocols report them, on the embedded phone."""

import pytest

from coach_gym.envs.phone.input import ime
from coach_gym.envs.phone.input.fingers import Fingers
from coach_gym.envs.phone.input.keys import CODES, CTRL, SHIFT, press
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import parse_ui
from tests.envs.hands import Hands

CONTACTS = "com.google.android.contacts"


class Recorder:
    """A phone of 2 pixels a dp that notes what is done to it."""

    density = 2

    def __init__(self):
        self.done = []

    def __getattr__(self, name):
        return lambda *args: self.done.append((name, *args))


def gestures(*events):
    phone = Recorder()
    fingers = Fingers(phone)
    for event in events:
        getattr(fingers, event[0])(*event[1:])
    return [done for done in phone.done if done[0] != "elapse"]


def test_a_short_touch_is_a_tap_even_of_a_shaky_finger():
    assert gestures(("down", 0, 50, 60, 1.0), ("down", 0, 66, 60, 1.1), ("up", 0, 1.2)) == [("tap", 50, 60)]


def test_a_touch_of_half_a_second_is_a_long_press():
    assert gestures(("down", 0, 50, 60, 1.0), ("up", 0, 1.5)) == [("long_press", 50, 60)]


def test_a_second_tap_at_once_and_nearby_makes_a_double_tap():
    tap = [("down", 0, 50, 60, 1.0), ("up", 0, 1.1)]
    again = [("down", 0, 60, 70, 1.4), ("up", 0, 1.5)]
    assert gestures(*tap, *again) == [("tap", 50, 60), ("double_tap", 60, 70)]
    third = [("down", 0, 60, 70, 1.6), ("up", 0, 1.7)]
    assert gestures(*tap, *again, *third)[2] == ("tap", 60, 70)
    for other in (("down", 0, 60, 70, 1.5), ("down", 0, 60, 270, 1.4)):
        assert gestures(*tap, other, ("up", 0, 1.6))[1][0] == "tap"


def test_a_moving_finger_traces_its_path():
    events = [("down", 3, 0, 0, 0.0), ("down", 3, 40, 0, 0.1), ("down", 3, 40, 90, 0.2), ("up", 3, 0.25)]
    assert gestures(*events) == [("trace", [(0, 0), (40, 0), (40, 90)], 0.25)]


def test_a_loop_back_to_the_start_is_no_tap():
    events = [("down", 0, 5, 5, 0.0), ("down", 0, 95, 5, 0.1), ("down", 0, 5, 5, 0.2), ("up", 0, 0.3)]
    assert [done[0] for done in gestures(*events)] == ["trace"]


def test_two_fingers_do_nothing_and_the_next_touch_is_a_tap_again():
    pinch = [("down", 0, 10, 10, 0), ("down", 1, 90, 90, 0), ("down", 0, 40, 40, 1), ("up", 1, 1), ("up", 0, 1)]
    assert gestures(*pinch) == []
    assert gestures(*pinch, ("down", 0, 7, 7, 2), ("up", 0, 2.1)) == [("tap", 7, 7)]


def test_fingers_that_were_never_down_and_endless_paths_do_no_harm():
    assert gestures(("up", 4, 1.0)) == []
    crowd = [("down", finger, finger, finger, 0.0) for finger in range(1000)]
    assert gestures(*crowd) == []
    endless = [("down", 0, step % 500, step % 700, step / 100) for step in range(10_000)]
    ((_, path, _),) = gestures(*endless, ("up", 0, 100.0))
    assert path[0] == (0, 0) and path[-1] == (9999 % 500, 9999 % 700) and len(path) < 5000


def test_a_canvas_follows_every_leg_of_a_line():
    phone = world_phone(100, 200)
    legs = []
    canvas = View(on_drag=lambda start, end: legs.append((start, end)))
    canvas.bounds = (0, 0, 100, 200)
    phone.windows.touchable = lambda: [(canvas, (0, 0, 100, 200))]
    phone.trace([(0, 0), (50, 0), (50, 100)])
    assert legs == [((0, 0), (0.5, 0)), ((0.5, 0), (0.5, 0.5))]


def test_a_traced_swipe_scrolls_as_a_swipe_does():
    swiped, traced = Hands("com.android.settings"), Hands("com.android.settings")
    swiped.phone.swipe((135, 400), (135, 200), 1.0)
    traced.phone.trace([(135, 400), (140, 300), (135, 200)], 1.0)
    assert swiped.ui == traced.ui != Hands("com.android.settings").ui


@pytest.fixture
def field():
    """The hands on the name field of a new contact."""
    hands = Hands(CONTACTS)
    hands.tap("Create contact", "First name")
    return hands


def keys(hands, *names, meta=0):
    for name in names:
        press(hands.phone, CODES[name], meta)


def test_key_codes_are_androids():
    assert [CODES[name] for name in ("HOME", "0", "A", "Z", "ENTER", "DEL", "PAGE_DOWN")] == [3, 7, 29, 54, 66, 67, 93]


def test_letters_digits_and_signs_are_typed(field):
    keys(field, "A", "B", "SPACE", "1", "COMMA")
    keys(field, "A", "1", "SLASH", meta=SHIFT)
    press(field.phone, 149)
    assert field.phone.focus.text == "ab 1,A!?5"


def test_the_cursor_moves_and_text_is_deleted_on_both_sides(field):
    field.type("abcdef")
    keys(field, "DPAD_LEFT", "DPAD_LEFT", "DEL", "FORWARD_DEL", "MOVE_HOME", "FORWARD_DEL", "MOVE_END", "X")
    assert field.phone.focus.text == "bcfx"
    keys(field, "FORWARD_DEL", "DPAD_RIGHT")
    assert field.phone.focus.text == "bcfx"


def test_shortcuts_select_copy_and_paste(field):
    field.type("one")
    keys(field, "A", "C", meta=CTRL)
    keys(field, "DEL")
    assert field.phone.focus.text == "" and field.phone.clipboard == "one"
    keys(field, "V", "V", meta=CTRL)
    keys(field, "PASTE")
    assert field.phone.focus.text == "oneoneone"


def test_buttons_work_the_system():
    phone = world_phone(270, 600)
    phone.launch(CONTACTS)
    press(phone, CODES["NOTIFICATION"])
    assert phone.shade == 1
    press(phone, CODES["BACK"])
    assert (phone.shade, phone.foreground) == (0, CONTACTS)
    press(phone, CODES["HOME"])
    assert phone.foreground == phone.launcher.package


def test_any_code_takes_its_time_and_nothing_else(field):
    before = field.ui
    for code in (0, 24, 26, 82, -1, 10**9):
        press(field.phone, code)
    assert field.ui == before


def test_enter_goes_to_the_field_below_and_the_keyboard_stays(field):
    for name in ("Ann", "Lee"):
        field.type(name)
        keys(field, "ENTER")
    assert field.phone.keyboard_shown and field.find("Company").focused
    assert (field.find("First name").value, field.find("Last name").value) == ("Ann", "Lee")


def test_the_done_key_of_a_keyboard_puts_it_away(field):
    field.phone.storage.settings["secure", "default_input_method"] = ime.ADB_IME
    ime.broadcast(field.phone, "ADB_EDITOR_CODE", {"code": 6})
    assert not field.phone.keyboard_shown and field.find("First name").focused


def test_keys_move_between_fields_and_buttons_and_press_them():
    hands = Hands(CONTACTS)
    hands.tap("Create contact")
    phone = hands.phone
    hands.tap("First name")
    phone.type("Ann")
    press(phone, CODES["TAB"])
    assert phone.keyboard_shown, "the keyboard stays from field to field"
    phone.type("Lee")
    assert hands.find("First name").value == "Ann" and hands.find("Last name").value == "Lee"
    assert hands.find("Last name").focused
    press(phone, CODES["TAB"], SHIFT)
    assert hands.find("First name").focused
    press(phone, CODES["DPAD_DOWN"])
    assert hands.find("Last name").focused
    twin = phone.fork()
    for _ in range(4):  # in each of the two fields first to the start of the text
        press(phone, CODES["DPAD_UP"])
    focused = [element for element in parse_ui(hands.ui) if element.focused]
    assert len(focused) == 1 and not focused[0].editable and not phone.keyboard_shown
    assert phone.highlight is not None and twin.highlight is None
    phone.go_home()
    press(phone, CODES["TAB"])
    press(phone, CODES["ENTER"])
    assert phone.foreground == next(iter(phone.apps)), "ENTER opens the first icon"
