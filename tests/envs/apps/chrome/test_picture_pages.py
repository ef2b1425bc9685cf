"""Pages of picture buttons and picture switches: no text tells them apart, the receipt depends on what was touched."""

import io
from base64 import b64encode

import pytest
from PIL import Image

from coach_gym.envs.apps.chrome import sight_pages
from coach_gym.envs.apps.chrome.app import read
from coach_gym.envs.apps.chrome.page import Article
from coach_gym.envs.apps.chrome.picture_pages import PictureButtons, PictureSwitches
from coach_gym.envs.apps.chrome.sight_tasks import ChromePressColor, ChromeSetSwitches
from coach_gym.envs.tasks.words import ParamRng
from tests.envs.hands import Hands

FILES = "com.google.android.documentsui"
DOWNLOADS = "/storage/emulated/0/Download"
RED, BLUE = (230, 20, 20), (20, 20, 230)


def picture(color):
    out = io.BytesIO()
    Image.new("RGB", (40, 40), color).save(out, "JPEG")
    return b64encode(out.getvalue()).decode()


def opened(data):
    hands = Hands(FILES, (270, 600))
    hands.storage.write(f"{DOWNLOADS}/task.html", data)
    hands.phone.changed()
    hands.tap("Download", "task.html", "Chrome")
    return hands


def unnamed(hands):
    """The buttons without a name, from the upper left on."""
    return [element for element in hands.elements if element.cls == "Button" and not element.label]


def channel(hands, element):
    """Which of red, green and blue is brightest in the middle of an element."""
    x, y = element.center
    return int(hands.phone.screenshot()[y, x].argmax())


def test_buttons_show_their_pictures_and_have_no_names():
    hands = opened(sight_pages.buttons([picture(RED), picture(BLUE)], ["AAAA", "BBBB"]))
    assert [channel(hands, button) for button in unnamed(hands)] == [0, 2]


@pytest.mark.parametrize(("button", "receipt"), [(0, "AAAA"), (1, "BBBB")])
def test_a_button_gives_its_receipt_once(button, receipt):
    hands = opened(sight_pages.buttons([picture(RED), picture(BLUE)], ["AAAA", "BBBB"]))
    hands.phone.tap(*unnamed(hands)[button].center)
    assert hands.shows(f"Receipt: {receipt}") and not unnamed(hands)


@pytest.mark.parametrize(
    ("touched", "receipt"), [((), "R0"), ((0,), "R1"), ((1,), "R2"), ((0, 1), "R3"), ((0, 0), "R0")]
)
def test_switches_change_back_and_forth_and_save_gives_the_receipt_of_those_changed(touched, receipt):
    rows = [["Fan", picture(RED), picture(BLUE)], ["Lamp", picture(BLUE), picture(RED)]]
    hands = opened(sight_pages.switches(rows, ["R0", "R1", "R2", "R3"]))
    text = hands.ui
    for row in touched:
        hands.phone.tap(*unnamed(hands)[row].center)
        assert hands.ui == text
    hands.tap("Save")
    assert hands.shows(f"Receipt: {receipt}")


def test_a_touch_changes_the_picture():
    hands = opened(sight_pages.switches([["Fan", picture(RED), picture(BLUE)]], ["R0", "R1"]))
    (switch,) = unnamed(hands)
    before = channel(hands, switch)
    hands.phone.tap(*switch.center)
    assert (before, channel(hands, switch)) == (0, 2)


@pytest.mark.parametrize(
    "constants",
    [
        f'const PICTURES = ["{picture(RED)}"]; const RECEIPTS = [];',
        'const PICTURES = [7]; const RECEIPTS = ["A"];',
        'const PICTURES = ["abcde"]; const RECEIPTS = ["A"];',
        'const SWITCHES = [["Fan", "", ""]]; const RECEIPTS = ["A"];',
        'const SWITCHES = ["Fan"]; const RECEIPTS = ["A", "B"];',
    ],
)
def test_constants_that_make_no_page_leave_a_text(constants):
    page = read(f"<p>Hello</p><button>Save</button><script>{constants}</script>".encode())
    assert isinstance(page, Article) and ("p", "Hello") in page.blocks


@pytest.mark.parametrize(("family", "kind"), [(ChromePressColor, PictureButtons), (ChromeSetSwitches, PictureSwitches)])
def test_the_source_of_a_page_tells_no_picture_from_another(family, kind):
    """Opened as a text, two equal pictures are two different codes, and all pages are as long."""
    task = family(family.sample(ParamRng(3)))
    page = task.page()
    assert isinstance(read(page), kind) and len(page) == len(family(task.swapped()).page())
    same = Image.new("RGB", (64, 64), RED)
    assert task.encoded(same, 0) != task.encoded(same, 1)
