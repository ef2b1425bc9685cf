"""A long press on the power key opens the menu that Android shows."""

import pytest

from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.system import power_menu
from tests.envs.hands import Hands

CLOCK = "com.google.android.deskclock"


@pytest.fixture
def hands(phone):
    hands = Hands(CLOCK, phone=phone)
    assert run(phone, "input keyevent --longpress POWER").code == 0
    return hands


def test_it_covers_the_screen(hands):
    phone = hands.phone
    assert [element.label for element in hands.elements] == ["Emergency", "Power off", "Restart"]
    assert phone.foreground == CLOCK and phone.shade == power_menu.SHOWN and phone.services.screen_on
    menu = phone.screenshot()
    phone.key("BACK")
    assert not phone.shade and hands.shows("Alarm")
    assert phone.screenshot()[300:500].mean() > menu[300:500].mean(), "what is behind the menu is dark"


@pytest.mark.parametrize("away", ["input tap 20 100", "input keyevent BACK", "input keyevent HOME"])
def test_it_goes_away(away, hands):
    run(hands.phone, away)
    assert not hands.phone.shade and not hands.shows("Restart")


def test_its_buttons(hands):
    phone = hands.phone
    phone.clipboard = "kept"
    hands.tap("Power off")
    assert phone.foreground == CLOCK and "cannot be switched off" in phone.message[0] and not phone.shade
    run(phone, "input keyevent --longpress KEYCODE_POWER")
    hands.tap("Emergency")
    assert phone.foreground == "com.google.android.dialer" and not phone.shade
    run(phone, "input keyevent --longpress 26")
    hands.tap("Restart")
    assert phone.foreground == phone.launcher.package and CLOCK not in phone.stacks and not phone.clipboard


def test_short_presses_put_the_screen_out_and_light_it(phone):
    run(phone, "input keyevent POWER")
    assert not phone.services.screen_on and not phone.shade
    run(phone, "input keyevent --doubletap POWER")
    assert not phone.services.screen_on
    run(phone, "input keyevent --longpress HOME")
    assert not phone.shade
