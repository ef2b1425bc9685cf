"""Clipper shows what is on the clipboard."""

from tests.envs.hands import Hands


def test_it_shows_the_clipboard():
    hands = Hands("ca.zgrs.clipper")
    assert hands.shows("The clipboard is empty")
    hands.phone.clipboard = "hello; reboot"
    hands.phone.changed()
    assert hands.shows("hello; reboot")
