"""Screens of other shapes: turned phones and tablets."""

import numpy as np
import pytest

from coach_gym.envs.phone.app import Choice, Screen
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import Column, Text, TextField
from coach_gym.envs.profiles import world_phone
from tests.envs.phone.sampler import showing

LANDSCAPE = (270, 600, 3)


@pytest.mark.parametrize("command", ["settings put system user_rotation 1", "wm user-rotation lock 3"])
def test_a_turned_screen_is_wider_than_high_and_fully_used(phone, command):
    upright = phone.screenshot()
    assert run(phone, command).code == 0
    turned = phone.screenshot()
    assert turned.shape == LANDSCAPE and phone.ui().bounds == (0, 0, 600, 270)
    assert max(node.bounds[2] for node in phone.ui().walk()) == 600
    phone.turn(0)
    assert np.array_equal(phone.screenshot(), upright)


def test_clients_read_how_the_screen_is_turned(phone):
    run(phone, "wm user-rotation lock 1")
    assert run(phone, "wm size; wm user-rotation").stdout == b"Physical size: 270x600\nlock 1\n"
    assert b"SurfaceOrientation: 1" in run(phone, "dumpsys input").stdout
    assert b"init=270x600 120dpi cur=600x270" in run(phone, "dumpsys window").stdout
    assert b'rotation="1"' in run(phone, "uiautomator dump /dev/tty").stdout
    refused = run(phone, "wm user-rotation lock 7")
    assert refused.code == 1 and refused.stderr


def test_a_screen_that_turns_by_itself_follows_the_phone(phone):
    phone.services.held = 3
    assert phone.rotation == 0
    run(phone, "wm user-rotation free")
    assert phone.rotation == 3 and run(phone, "wm user-rotation").stdout == b"free\n"


def test_twins_and_snapshots_know_how_the_screen_is_turned(phone):
    upright = phone.snapshot()
    phone.turn(1)
    twin = phone.fork()
    phone.restore(upright)
    assert (phone.screenshot().shape, twin.screenshot().shape) == ((600, 270, 3), LANDSCAPE)


class Form(Screen):
    """Higher than a phone on its side, and without a list."""

    def __init__(self):
        super().__init__()
        self.fields = [TextInput() for _ in range(9)]

    def build(self):
        return Column([TextField(field, f"Field {number}") for number, field in enumerate(self.fields)])


def bottom_of(phone, label):
    return next((node.bounds[3] for node in phone.ui().walk() if label in (node.text, node.hint)), None)


@pytest.mark.parametrize("last", ["Field 8", "Number 8"])
def test_what_is_too_high_for_a_screen_on_its_side_scrolls(last):
    hands = showing(Form() if last == "Field 8" else Choice("Which?", [f"Number {n}" for n in range(9)], print))
    hands.phone.turn(1)
    assert bottom_of(hands.phone, last) is None
    for _ in range(4):
        hands.phone.swipe((300, 150), (300, 40), 2.0)
    hidden = hands.phone.height - round(44 * hands.phone.density)
    assert bottom_of(hands.phone, last) <= hidden


def test_the_buttons_of_a_dialog_stay_where_they_are_while_the_rest_scrolls():
    hands = showing(Choice("Which?", [f"Number {n}" for n in range(9)], print))
    hands.phone.turn(1)
    at = bottom_of(hands.phone, "Cancel")
    hands.phone.swipe((300, 150), (300, 40), 2.0)
    assert at is not None and bottom_of(hands.phone, "Cancel") == at


def test_pages_that_fit_do_not_scroll():
    hands = showing(Form())
    assert all(view.scroll is None for root, _ in hands.phone.windows.touchable() for view in root.walk())


def test_the_keyboard_leaves_room_on_a_screen_on_its_side(phone):
    hands = showing(Form())
    hands.phone.turn(1)
    hands.phone.tap(300, 40)
    assert hands.phone.keyboard_shown and bottom_of(hands.phone, "Field 0") is not None
    hands.phone.type("abc")
    assert hands.phone.top.fields[0].text == "abc"


class Lines(Screen):
    def build(self):
        return Column([Text(f"Line {number}", 14) for number in range(200)])


def lines_on(size):
    phone = showing(Lines(), size).phone
    return sum(node.text.startswith("Line") for node in phone.ui().walk())


def test_a_tablet_shows_more_and_not_the_same_magnified():
    assert lines_on((1600, 2560)) > 1.4 * lines_on((1080, 2400))
    tablet, slim = Phone(1600, 2560), Phone(1080, 2400)
    assert (tablet.width / tablet.density, slim.width / slim.density) == (800, 360)
    assert Phone(2400, 1080).density == slim.density
    assert Phone(480, 800).density == 480 / 360


def test_the_home_screen_of_a_tablet_has_more_columns():
    def columns(phone):
        tops = [node.bounds[1] for node in phone.ui().walk() if node.text in {app.label for app in phone.apps.values()}]
        return tops.count(min(tops))

    assert columns(world_phone(270, 600)) == 4
    assert columns(world_phone(800, 1280)) == 8
