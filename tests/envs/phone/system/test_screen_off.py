"""A screen that is off is black and feels nothing, whoever touches it."""

import io

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.phone.shell import run
from tests.envs.hands import Hands

CONTACTS = "com.google.android.contacts"


@pytest.fixture
def dark(phone):
    phone.go_home()
    run(phone, "input keyevent SLEEP")
    return phone


@pytest.mark.parametrize("touch", ["input tap {}", "input swipe {} 135 100 100", "input swipe {} {} 900"])
def test_it_feels_no_touch(dark, touch):
    before = dark.ui()
    x, y = Hands(None, phone=dark).find("Contacts").center
    run(dark, touch.format(*[f"{x} {y}"] * 2))
    assert dark.ui() == before and dark.foreground == dark.launcher.package
    run(dark, f"input keyevent WAKEUP; input tap {x} {y}")
    assert dark.foreground == CONTACTS


def test_it_takes_no_key_but_those_that_light_it(dark):
    dark.services.screen_on = True
    hands = Hands(CONTACTS, phone=dark)
    hands.tap("Create contact", "First name")
    run(dark, "input keyevent POWER; input text a; input keyevent B HOME; input keyevent POWER")
    assert dark.foreground == CONTACTS and dark.focus.text == "" and dark.services.screen_on


def test_its_picture_is_black(dark):
    assert not dark.screenshot().any()
    assert not np.asarray(Image.open(io.BytesIO(run(dark, "screencap -p").stdout)))[..., :3].any()


def test_reports_say_so(dark):
    asked = "dumpsys display; dumpsys window policy; dumpsys input_method"
    for lit in (False, True):
        dark.services.screen_on = lit
        told = run(dark, asked).stdout.decode()
        assert f"mScreenState={'ON' if lit else 'OFF'}\n" in told and f"state {'ON' if lit else 'OFF'}}}" in told
        assert f"mAwake={str(lit).lower()}" in told and f"mInteractive={str(lit).lower()}" in told


def test_it_is_lit_after_a_restart(dark):
    dark.restart()
    assert dark.services.screen_on
