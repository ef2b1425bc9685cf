"""Clipper shows what is on the clipboard and lets broadcasts read and set it."""

import pytest

from coach_gym.envs.apps.clipper.app import Clipper
from coach_gym.envs.phone.intents import CANCELED, OK, Intent
from tests.envs.hands import Hands


@pytest.fixture
def hands():
    return Hands(Clipper.package)


def test_it_shows_the_clipboard(hands):
    assert hands.shows("The clipboard is empty")
    hands.phone.clipboard = "hello; reboot"
    hands.phone.changed()
    assert hands.shows("hello; reboot")


@pytest.mark.parametrize("action", ["clipper.get", "get"])
def test_the_clipboard_is_read(hands, action):
    assert hands.phone.broadcast(Intent(action)) == (CANCELED, "")
    hands.phone.clipboard = "text"
    assert hands.phone.broadcast(Intent(action)) == (OK, "text")


@pytest.mark.parametrize("action", ["clipper.set", "set"])
def test_the_clipboard_is_set(hands, action):
    code, _ = hands.phone.broadcast(Intent(action, extras={"text": "new"}))
    assert code == OK and hands.phone.clipboard == "new"
    code, answer = hands.phone.broadcast(Intent(action))
    assert code == CANCELED and "No text is provided" in answer and hands.phone.clipboard == "new"


def test_only_the_app_in_front_reaches_the_clipboard(hands):
    hands.phone.clipboard = "secret"
    hands.phone.key("HOME")
    assert hands.phone.broadcast(Intent("clipper.get")) == (CANCELED, None)
    hands.phone.broadcast(Intent("clipper.set", extras={"text": "new"}))
    assert hands.phone.clipboard == "secret"


def test_other_broadcasts_are_not_its_business(hands):
    assert hands.phone.apps[Clipper.package].received(Intent("android.intent.action.BOOT_COMPLETED")) is None
