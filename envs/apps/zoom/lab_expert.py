"""Experts of Zoom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

APP = "Zoom"


@expert("zoom_1")
def join(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Enters the number of the meeting."""
    yield from _enter(s, "1234567890")


@expert("zoom_2")
def join_as(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Enters the number and the name."""
    yield from _enter(s, "0987654321")
    yield from s.refill("Your name", "Alice")


@expert("zoom_3")
def join_silently(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Enters the number and turns audio and video off."""
    yield from _enter(s, "1234567890")
    yield from _only_listen(s)


@expert("zoom_4")
def connect_to_audio(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Chooses how audio is connected."""
    yield from _choose_audio(s, "WiFi or cellular data")


@expert("zoom_5")
def medium_light(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Chooses the skin tone."""
    yield from _choose_tone(s, "Medium-light")


@expert("ZoomJoinMeeting")
def join_meeting(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Joins with number, name and both options."""
    yield from _enter(s, p["number"].replace(" ", ""))
    yield from s.refill("Your name", p["name"])
    yield s.back()  # puts the keyboard away
    if not p["audio"]:
        yield from s.toggle("Don't Connect To Audio", True)
    if not p["video"]:
        yield from s.toggle("Turn Off My Video", True)
    yield s.tap("Join")


@expert("ZoomAutoConnectAudio")
def auto_connect_audio(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Chooses how audio is connected."""
    yield from _choose_audio(s, p["choice"])


@expert("ZoomReactionSkinTone")
def reaction_skin_tone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Chooses the skin tone."""
    yield from _choose_tone(s, p["tone"])


@expert("ZoomNameInMeeting")
def name_in_meeting(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the name in the list of recent meetings."""
    yield from s.open(APP)
    yield s.tap("Join a meeting")
    yield s.tap("Recent meetings")
    yield from s.scroll_to(p["number"])
    yield s.finish(s.find(p["number"]).label.split(", as ")[1])


def _enter(s: Screen, digits: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Join a meeting")
    yield from s.fill("Meeting ID", digits)


def _only_listen(s: Screen) -> Iterator[str]:
    yield s.back()  # puts the keyboard away
    yield from s.toggle("Don't Connect To Audio", True)
    yield from s.toggle("Turn Off My Video", True)


def _choose_audio(s: Screen, choice: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Settings")
    yield s.tap("Auto-connect to audio")
    yield s.tap(choice)


def _choose_tone(s: Screen, tone: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Settings")
    yield s.tap("Reaction skin tone")
    yield s.tap(tone)
