"""Zoom by touch: which meetings were joined and what is set stands in the app's own files."""

import numpy as np
import pytest

from coach_gym.envs.apps.zoom.app import AUDIO, AUDIO_CHOICES, DATABASE, PACKAGE, PREFERENCES, SKIN_TONE, spaced
from coach_gym.envs.phone import preferences
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, records


@pytest.fixture(params=SCREENS, ids=str)
def zoom(request):
    return Hands(PACKAGE, request.param)


def joined(hands):
    return hands.storage.database(DATABASE).execute("SELECT meeting, name, audio, video FROM joined").fetchall()


def settings(hands):
    return preferences.load(hands.storage, PREFERENCES)


def enter(hands, digits):
    hands.tap("Join a meeting", "Meeting ID")
    hands.type(digits)


def value(hands, hint):
    return next(element.value for element in hands.elements if element.hint == hint)


@pytest.mark.parametrize(
    "digits, written",
    [("", ""), ("12", "12"), ("1234", "123 4"), ("123456789", "123 456 789"), ("1234567890", "123 456 7890"),
     ("12345678901", "123 4567 8901")],
)  # fmt: skip
def test_a_number_is_written_in_groups(digits, written):
    assert spaced(digits) == written


def test_the_number_is_grouped_while_it_is_typed(zoom):
    enter(zoom, "0987654321")
    assert value(zoom, "Meeting ID") == "098 765 4321"
    zoom.phone.key("DEL")
    assert value(zoom, "Meeting ID") == "098 765 432"


def test_joining_takes_a_number_and_a_name(zoom):
    enter(zoom, "12345678")
    zoom.back()
    zoom.tap("Join")
    assert not joined(zoom) and zoom.shows("Join options"), "eight digits are no meeting"
    zoom.tap("Meeting ID")
    zoom.type("9")
    zoom.select_text("Your name")
    zoom.type(" ")
    zoom.back()
    zoom.tap("Join")
    assert not joined(zoom), "nor is a space a name"
    zoom.tap("Your name")
    zoom.type("Ada")
    zoom.back()
    zoom.tap("Join")
    assert joined(zoom) == [("123456789", "Ada", 1, 1)] and zoom.shows("Meeting ID: 123 456 789")
    zoom.tap("Leave")
    assert zoom.shows("Join a meeting")


def test_both_options_are_for_one_meeting(zoom):
    enter(zoom, "1234567890")
    zoom.back()
    zoom.tap("Don't Connect To Audio", "Turn Off My Video")
    assert [e.checked for e in zoom.elements if e.checkable] == [True, True] and "On, switch" in zoom.ui
    zoom.tap("Join")
    assert joined(zoom) == [("1234567890", "Android", 0, 0)]
    zoom.tap("Leave")
    zoom.back()
    zoom.tap("Join a meeting")
    assert [e.checked for e in zoom.elements if e.checkable] == [False, False]


def test_video_can_be_off_for_all_meetings(zoom):
    zoom.tap("Settings")
    zoom.tap("Always turn off my video")
    zoom.back()
    zoom.tap("Join a meeting")
    assert [e.checked for e in zoom.elements if e.checkable] == [False, True]


def test_a_personal_link_is_joined_by_its_name(zoom):
    zoom.tap("Join a meeting", "Join with a personal link name", "Personal link name")
    zoom.type("ada.home")
    zoom.back()
    zoom.tap("Join")
    assert joined(zoom) == [("ada.home", "Android", 1, 1)] and zoom.shows("Meeting ID: ada.home")


def test_recent_meetings_fill_in_the_number(zoom):
    zoom.tap("Join a meeting", "Recent meetings")
    assert zoom.shows("No recent meetings")
    zoom.tap("Close")
    zoom.tap("Meeting ID")
    zoom.type("1234567890")
    zoom.back()
    zoom.tap("Join", "Leave")
    zoom.back()
    zoom.tap("Join a meeting", "Recent meetings", "123 456 7890")
    assert value(zoom, "Meeting ID") == "123 456 7890" and not zoom.shows("Recent meetings, Close")


def test_audio_and_skin_tone_are_kept(zoom):
    zoom.tap("Settings")
    assert zoom.find("Auto-connect to audio").label == "Auto-connect to audio, Off"
    zoom.tap("Auto-connect to audio", "WiFi or cellular data")
    assert zoom.find("Auto-connect to audio").label == "Auto-connect to audio, WiFi or cellular data"
    zoom.tap("Reaction skin tone")
    assert zoom.find("Default").label == "Default, Selected"
    zoom.tap("Medium-light")
    assert zoom.find("Medium-light").label == "Medium-light, Selected" and zoom.find("Default").label == "Default"
    assert settings(zoom) == {"auto_connect_audio": "WiFi or cellular data", "reaction_skin_tone": "Medium-light"}


def test_a_snapshot_of_the_audio_choices_is_exact(zoom):
    zoom.tap("Settings")
    zoom.tap("Auto-connect to audio")
    saved, frame = zoom.phone.snapshot(), zoom.phone.screenshot()
    for _ in range(2):
        zoom.tap("Call my phone number")
        assert settings(zoom) == {"auto_connect_audio": "Call my phone number"}
        zoom.phone.restore(saved)
        assert not settings(zoom) and np.array_equal(zoom.phone.screenshot(), frame)


@pytest.mark.parametrize("choices, change", [
    (("Mirror my video",), {"mirror_video": True}),
    (("Auto-connect to audio", "Off"), {AUDIO: "Off"}),
    (("Reaction skin tone", "Dark"), {SKIN_TONE: "Dark"}),
])  # fmt: skip
def test_one_setting_changes_no_other(choices, change):
    hands = Hands(PACKAGE, (540, 1200))
    known = {
        "mirror_video": False, AUDIO: AUDIO_CHOICES[1], SKIN_TONE: "Light", "screen_name": " Ann\n", "runs": 3,
        "devices": frozenset({"a", "b"}), "volume": 0.5,
    }  # fmt: skip
    hands.storage.write(PREFERENCES, preferences.to_xml(known))
    hands.tap("Settings", *choices)
    assert preferences.load(hands.storage, PREFERENCES) == {**known, **change}


def test_joining_keeps_the_meetings_before():
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(DATABASE)
    add_record(db, "joined", meeting="123456789", name=" Bob")
    before = records(db, "joined")
    hands.tap("Join a meeting", "Meeting ID")
    hands.type("987654321")
    hands.back()
    hands.tap("Join")
    assert records(db, "joined")[:1] == before and len(records(db, "joined")) == 2
