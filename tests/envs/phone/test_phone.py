"""The embedded phone as a user meets it: touch, keys, typing, apps, the shade, snapshots."""

from datetime import timedelta
from functools import partial

import numpy as np
import pytest

from coach_gym.envs.phone.app import App, Choice, Confirm, Menu, Prompt, Screen
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.screens.pickers import DatePicker, TimePicker
from coach_gym.envs.phone.system.system import START
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    ListItem,
    ListView,
    Scaffold,
    Slider,
    Switch,
    Text,
    TextField,
)
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import Element, compress, parse_ui
from tests.envs.hands import Hands

PACKAGE = "org.example.sampler"


class Sampler(App):
    """An app of this test with one of everything."""

    package = PACKAGE
    label = "Sampler"

    def main(self) -> Screen:
        return Main()


class Main(Screen):
    def __init__(self) -> None:
        super().__init__()
        self.taps = 0
        self.held = 0
        self.level = 0.0
        self.on = False
        self.field = TextInput()
        self.sent = ""
        self.picked = ""

    def build(self):
        rows = [
            Text(f"taps {self.taps} held {self.held} sent {self.sent} picked {self.picked}"),
            Button("Count", self._count, on_long=self._hold),
            TextField(self.field, "Message", on_submit=self._send),
            Slider(self.level, self._slide, "Level"),
            Switch(self.on, self._flip, "Power"),
            Button("Ask", self._ask),
            *(ListItem(f"Row {i}", on_tap=partial(self._pick, f"row {i}")) for i in range(40)),
        ]
        return Scaffold("Sampler", ListView(rows), on_back=self.pop)

    def _count(self):
        self.taps += 1

    def _hold(self):
        self.held += 1

    def _send(self):
        self.sent = self.field.text

    def _slide(self, share):
        self.level = share

    def _flip(self):
        self.on = not self.on

    def _pick(self, what):
        self.picked = str(what)

    def _ask(self):
        self.push(Confirm("Sure?", "This counts ten.", "Yes", self._ten))

    def _ten(self):
        self.taps += 10


@pytest.fixture(params=[(270, 600), (1080, 2400), (800, 1280)], ids=lambda size: f"{size[0]}x{size[1]}")
def phone(request) -> Phone:
    phone = world_phone(*request.param)
    phone.apps[PACKAGE] = Sampler(phone)
    phone.launch(PACKAGE)
    return phone


def elements(phone: Phone) -> list[Element]:
    return parse_ui(compress(phone.ui()))


def find(phone: Phone, label: str) -> Element:
    found = [e for e in elements(phone) if label in (e.label, e.hint)]
    assert found, f"{label!r} is not on the screen: {[e.label for e in elements(phone)]}"
    return found[0]


def tap(phone: Phone, label: str) -> None:
    phone.tap(*find(phone, label).center)


def main(phone: Phone) -> Main:
    return phone.stacks[PACKAGE][0]  # type: ignore[return-value]


def test_screenshot_has_the_size_of_the_screen_and_belongs_to_the_caller(phone):
    frame = phone.screenshot()
    assert frame.shape == (phone.height, phone.width, 3) and frame.dtype == np.uint8
    frame[:] = 0
    assert phone.screenshot().any()


def test_tap_and_long_press_reach_the_button(phone):
    tap(phone, "Count")
    phone.long_press(*find(phone, "Count").center)
    assert (main(phone).taps, main(phone).held) == (1, 1)


def test_typing_needs_a_focused_field_and_shows_the_keyboard(phone):
    phone.type("lost")
    assert main(phone).field.text == ""
    tap(phone, "Message")
    assert any("Keyboard" in node.cls for node in phone.ui().walk())
    phone.type("héllo 🙂")
    assert find(phone, "Message").value == "héllo 🙂" and find(phone, "Message").focused
    phone.key("DEL")
    assert main(phone).field.text == "héllo "


def test_enter_submits_and_hides_the_keyboard(phone):
    tap(phone, "Message")
    phone.type("one line\n")
    assert main(phone).sent == "one line" and not phone.keyboard_shown


def test_a_field_keeps_the_focus_when_the_keyboard_is_put_away(phone):
    tap(phone, "Message")
    phone.type("ab")
    phone.key("BACK")
    assert not any("Keyboard" in node.cls for node in phone.ui().walk())
    twin = phone.fork()
    phone.type("cd")
    phone.key("DEL")
    assert find(phone, "Message").value == "abc" and not phone.keyboard_shown
    twin.type("!\n")
    assert main(twin).sent == "ab!" and main(phone).field.text == "abc"
    tap(phone, "Message")
    assert phone.keyboard_shown
    phone.go_home()
    phone.type("lost")
    assert phone.focus is None


def test_soft_keys_type(phone):
    tap(phone, "Message")
    keys = {node.desc: node.bounds for node in phone.ui().walk() if "Keyboard" in node.cls}
    for name in ("Shift", "h", "i", "Space", "Delete"):
        left, top, right, bottom = keys[name]
        phone.tap((left + right) // 2, (top + bottom) // 2)
    assert main(phone).field.text == "Hi"


def test_a_swipe_scrolls_with_the_finger_and_a_fling_goes_further(phone):
    before = find(phone, "Row 1").bounds[1]
    x, y = phone.width // 2, phone.height * 2 // 3
    finger = phone.height // 6
    phone.swipe((x, y), (x, y - finger), seconds=2)
    assert before - find(phone, "Row 1").bounds[1] == finger
    state = next(iter(main(phone).scrolls.values()))
    slow = state.offset
    phone.swipe((x, y), (x, y - finger), seconds=0.02)
    assert state.offset - slow > finger
    for _ in range(30):
        phone.swipe((x, y), (x, y - finger), seconds=0.02)
    assert state.offset == state.limit and find(phone, "Row 39")


def test_rows_below_the_fold_are_neither_read_nor_touched(phone):
    assert not any(e.label == "Row 39" for e in elements(phone))
    assert all(e.bounds[3] <= phone.height for e in elements(phone))


def test_sliders_follow_a_touch_and_a_drag(phone):
    left, top, right, bottom = find(phone, "Level").bounds
    phone.tap((left + right) // 2, (top + bottom) // 2)
    assert main(phone).level == pytest.approx(0.5, abs=0.02)
    phone.swipe(((left + right) // 2, (top + bottom) // 2), (right - 1, (top + bottom) // 2))
    assert main(phone).level == 1.0


def test_a_dialog_hides_what_is_behind_it_and_closes_when_touched_beside(phone):
    tap(phone, "Ask")
    assert {"Sure?", "Cancel", "Yes"} <= {e.label for e in elements(phone)}
    assert not any(e.label == "Count" for e in elements(phone))
    phone.tap(phone.width // 2, phone.height // 12)
    assert len(phone.stack) == 1 and main(phone).taps == 0
    tap(phone, "Ask")
    tap(phone, "Yes")
    assert main(phone).taps == 10


def test_back_closes_keyboard_then_dialog_then_app(phone):
    tap(phone, "Message")
    phone.key("BACK")
    assert not phone.keyboard_shown and phone.foreground == PACKAGE
    tap(phone, "Ask")
    phone.key("BACK")
    assert len(phone.stack) == 1
    phone.key("BACK")
    assert phone.foreground == phone.launcher.package and PACKAGE not in phone.stacks


def test_home_keeps_the_app_and_recents_bring_it_back(phone):
    tap(phone, "Count")
    phone.key("HOME")
    assert phone.foreground == phone.launcher.package
    phone.key("APP_SWITCH")
    tap(phone, "Sampler")
    assert phone.foreground == PACKAGE and main(phone).taps == 1
    phone.key("APP_SWITCH")
    tap(phone, "Close Sampler")
    assert PACKAGE not in phone.stacks


def test_launcher_finds_apps_by_pages_drawer_and_search(phone):
    phone.key("HOME")
    x, y = phone.width // 2, phone.height // 2
    phone.swipe((x, y), (x, y // 4))
    phone.tap(*find(phone, "Search apps").center)
    phone.type("sampl")
    tap(phone, "Sampler")
    assert phone.foreground == PACKAGE


def test_shade_opens_toggles_settings_and_opens_notifications(phone):
    opened = Sampler.package
    then = partial(setattr, main(phone), "sent", "opened")
    phone.post(Notification(opened, "New mail", "Hello there", phone.now, then))
    phone.key("HOME")
    x = phone.width // 2
    phone.swipe((x, 2), (x, phone.height // 2))
    before = phone.storage.settings.get(("global", "bluetooth_on"), "0")
    tap(phone, "Bluetooth")
    assert phone.storage.settings["global", "bluetooth_on"] != before
    phone.swipe((x, phone.height // 4), (x, phone.height // 2))
    assert phone.shade == 2 and find(phone, "Display brightness")
    row = next(e for e in elements(phone) if e.label.startswith("New mail"))
    phone.tap(*row.center)
    assert phone.foreground == PACKAGE and main(phone).sent == "opened" and not phone.notifications


def test_the_clock_is_the_phones_own(phone):
    assert phone.now < START + timedelta(minutes=1)
    before = phone.now
    phone.elapse(timedelta(minutes=5))
    assert phone.now - before == timedelta(minutes=5)
    assert any(node.text == phone.now.strftime("%H:%M") for node in phone.ui().walk())


def test_date_and_time_pickers(phone):
    screen = main(phone)
    screen.push(DatePicker(phone.now.date(), screen._pick))
    tap(phone, "Next month")
    day = next(e for e in elements(phone) if e.desc == "24 November 2023" or e.label == "24 November 2023")
    phone.tap(*day.center)
    tap(phone, "OK")
    assert screen.picked == "2023-11-24"
    screen.push(TimePicker(phone.now.time(), screen._pick))
    tap(phone, "07")
    tap(phone, "35")
    tap(phone, "OK")
    assert screen.picked == "07:35:00"
    screen.push(TimePicker(phone.now.time(), screen._pick))
    tap(phone, "Switch to text input")
    tap(phone, "Minute")
    phone.type("41")
    tap(phone, "OK")
    assert screen.picked == "15:41:00"


def test_prompts_choices_and_menus_answer_their_screen(phone):
    screen = main(phone)
    screen.push(Prompt("Name", screen._pick, hint="Your name"))
    tap(phone, "Your name")
    phone.type("Ada")
    tap(phone, "OK")
    assert screen.picked == "Ada"
    screen.push(Choice("Colour", ["red", "green"], screen._pick, "red"))
    tap(phone, "green")
    assert screen.picked == "green"
    screen.push(Menu([("Ten", screen._ten), ("Count", screen._count)]))
    tap(phone, "Ten")
    assert screen.taps == 10


def test_snapshots_are_exact_and_can_be_restored_again(phone):
    tap(phone, "Message")
    phone.type("half a sent")
    tap(phone, "Ask")
    saved, seen, text = phone.snapshot(), phone.screenshot(), compress(phone.ui())
    for _ in range(2):
        tap(phone, "Yes")
        phone.storage.write(f"{SHARED}/x", b"1")
        phone.key("HOME")
        phone.restore(saved)
        assert np.array_equal(phone.screenshot(), seen) and compress(phone.ui()) == text
        assert not phone.storage.exists(f"{SHARED}/x")
    tap(phone, "Yes")
    assert main(phone).taps == 10, "a restored dialog acts on the restored screen"


def test_partial_repaints_equal_full_ones(phone):
    rng = np.random.default_rng(0)
    for _ in range(60):
        x, y = int(rng.integers(phone.width)), int(rng.integers(phone.height))
        if rng.random() < 0.3:
            phone.swipe((x, y), (int(rng.integers(phone.width)), int(rng.integers(phone.height))))
        else:
            phone.tap(x, y)
        shown = phone.screenshot()
        phone._painter.forget()
        assert np.array_equal(shown, phone.screenshot())


def test_labels_longer_than_the_screen_wrap_or_end_in_an_ellipsis(phone):
    class Long(Screen):
        def build(self):
            word = "incomprehensibilities" * 9
            return Column([Text(word), Text("many words " * 40, max_lines=2), Button(word, self.pop)])

    main(phone).push(Long())
    phone.screenshot()
    for node in phone.ui().walk():
        assert node.bounds[2] <= phone.width


def test_long_pressing_a_field_offers_to_select_its_text_to_copy_or_replace(phone):
    hands = Hands(None, phone=phone)
    tap(phone, "Message")
    phone.type("old words")
    hands.select_text("Message")
    tap(phone, "Copy")
    assert phone.clipboard == "old words" and not any(e.label == "Copy" for e in elements(phone))
    hands.select_text("Message")
    phone.type("new")
    assert main(phone).field.text == "new"
    hands.select_text("Message")
    tap(phone, "Paste")
    assert main(phone).field.text == "old words"
    hands.select_text("Message")
    tap(phone, "Cut")
    assert main(phone).field.text == "" and phone.clipboard == "old words"


def test_a_message_is_read_but_takes_no_touches(phone):
    main(phone).notify("Saved")
    below = [e for e in elements(phone) if e.clickable and e.label.startswith("Row")][-1]
    assert find(phone, "Saved")
    phone.tap(*below.center)
    assert main(phone).picked == below.label.lower()
    phone.elapse(timedelta(seconds=5))
    assert not any(e.label == "Saved" for e in elements(phone))
