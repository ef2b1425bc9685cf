"""Android's own screens for folders and new files, pushed by any app."""

import pytest

from coach_gym.envs.phone.folders import DEVICE, DOWNLOADS, SHARED
from coach_gym.envs.phone.screens.documents import Destination, SaveDocument
from tests.envs.hands import Hands


@pytest.fixture
def hands():
    hands = Hands("com.android.camera2")
    for folder in ("Documents/Old", "Documents/.hidden"):
        hands.storage.mkdir(f"{SHARED}/{folder}")
    hands.storage.write(f"{SHARED}/Documents/a.txt", b"x")
    return hands


def pushed(hands, kind, label):
    """Opens one of the screens; returns a list that receives what is chosen."""
    chosen = []
    hands.phone.push(hands.phone.apps["com.android.camera2"], kind(label, chosen.append))
    return chosen


def test_a_folder_is_walked_to_and_taken(hands):
    chosen = pushed(hands, Destination, "MOVE")
    assert hands.shows(DEVICE)
    hands.tap("Documents")
    assert hands.shows("Old") and not hands.shows(".hidden") and not hands.shows("a.txt")
    hands.tap("Old", "Navigate up", "MOVE")
    assert chosen == [f"{SHARED}/Documents"] and hands.shows("Shutter")


@pytest.mark.parametrize("leave", [("CANCEL",), ("Navigate up",)])
def test_a_folder_may_be_refused(hands, leave):
    chosen = pushed(hands, Destination, "COPY")
    hands.tap(*leave)
    assert chosen == [] and hands.shows("Shutter")


@pytest.mark.parametrize("touches, folder", [
    ((), DOWNLOADS), (("Show roots", DEVICE), SHARED), (("Show roots", DEVICE, "Documents"), f"{SHARED}/Documents"),
    (("Show roots", DEVICE, "Documents", "Show roots", "Downloads"), DOWNLOADS),
])  # fmt: skip
def test_a_file_is_saved_in_the_folder_shown(hands, touches, folder):
    chosen = pushed(hands, SaveDocument, "new.txt")
    hands.tap(*touches, "SAVE")
    assert chosen == [f"{folder}/new.txt"] and hands.shows("Shutter")


@pytest.mark.parametrize("typed, path", [
    ("other.txt", f"{SHARED}/Documents/other.txt"), ("a.txt", f"{SHARED}/Documents/a (1).txt"),
    ("Old", f"{SHARED}/Documents/Old (1)"),
])  # fmt: skip
def test_a_taken_name_gets_a_number(hands, typed, path):
    chosen = pushed(hands, SaveDocument, "new.txt")
    hands.tap("Show roots", DEVICE, "Documents")
    hands.select_text("File name")
    hands.type(typed)
    hands.tap("SAVE")
    assert chosen == [path]


@pytest.mark.parametrize("typed", [" ", "a/b", "..", "x" * 300])
def test_an_impossible_name_is_refused(hands, typed):
    chosen = pushed(hands, SaveDocument, "new.txt")
    hands.select_text("File name")
    hands.type(typed)
    hands.tap("SAVE")
    assert chosen == [] and hands.shows("That name can't be used")


def test_back_leads_up_to_the_root_and_then_away(hands):
    chosen = pushed(hands, SaveDocument, "new.txt")
    hands.tap("Show roots", DEVICE, "Documents", "Old")
    for title in ("Documents", DEVICE):
        hands.back()
        assert hands.shows(title)
    hands.back()
    assert hands.shows("Shutter") and chosen == []
