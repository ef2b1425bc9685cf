"""What the system draws around apps: bars, shade, keyboard, toolbar, launcher, recents, messages."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from coach_gym.envs.phone.app import Confirm, Menu, Screen
from coach_gym.envs.phone.intents import HOME, MAIN, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.paths import BATTERY_LEVEL
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.launcher import DOCK
from coach_gym.envs.phone.system.shade import TILES, set_brightness, toggle
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.toolkit.widgets import Column, TextField
from tests.envs.hands import Hands
from tests.envs.phone.sampler import PACKAGE, Blank, Sampler, showing

CLOCK = "com.google.android.deskclock"


def nodes(phone):
    return list(phone.ui().walk())


def find(phone, label):
    return next((node for node in nodes(phone) if label in (node.text, node.desc, node.hint)), None)


def touch(phone, *labels):
    for label in labels:
        left, top, right, bottom = find(phone, label).bounds
        phone.tap((left + right) // 2, (top + bottom) // 2)


class Fields(Screen):
    def __init__(self, first="", second=""):
        super().__init__()
        self.first, self.second = TextInput(first), TextInput(second)

    def build(self):
        return Column([TextField(self.first, "First"), TextField(self.second, "Second")], pad=80)


# the status bar


def test_the_status_bar_tells_time_radios_and_battery(phone):
    settings = phone.storage.settings
    settings["global", "bluetooth_on"], settings["global", "airplane_mode_on"] = "1", "1"
    settings["system", "status_bar_show_battery_percent"] = "1"
    phone.storage.write(BATTERY_LEVEL, b"42\n")
    phone.now = datetime(2023, 10, 15, 7, 5)
    phone.changed()
    assert all(find(phone, text) for text in ("07:05", "Bluetooth on.", "Airplane mode.", "42%", "Battery 42 percent."))
    settings["global", "wifi_on"] = "0"
    phone.changed()
    assert not find(phone, "Wifi signal full.")


def test_a_bell_shows_that_something_was_posted(phone):
    assert not find(phone, "New notification")
    phone.post(Notification(CLOCK, "Alarm", "", phone.now))
    assert find(phone, "New notification")


def test_the_navigation_bar_works_as_its_buttons_say(phone):
    phone.launch(CLOCK)
    touch(phone, "Home")
    assert phone.foreground == phone.launcher.package
    touch(phone, "Overview", "Clock")
    assert phone.foreground == CLOCK
    touch(phone, "Back")
    assert CLOCK not in phone.stacks


# the shade


@pytest.fixture
def shade(phone):
    phone.swipe((135, 5), (135, 300))
    assert phone.shade == 1
    return phone


def test_the_shade_opens_in_two_steps_and_closes_in_two(shade):
    assert not find(shade, "Mobile data")
    shade.swipe((135, 100), (135, 300))
    assert shade.shade == 2 and find(shade, "Mobile data") and find(shade, "Display brightness")
    for left in (1, 0):
        shade.swipe((135, 300), (135, 100))
        assert shade.shade == left


def test_what_is_below_the_shade_is_not_read(shade):
    assert not find(shade, "Contacts")
    shade.key("BACK")
    assert shade.shade == 0 and find(shade, "Contacts")


@pytest.mark.parametrize(("label", "key"), [(label, key) for label, _, key in TILES[:4]])
def test_tiles_switch_settings(shade, label, key):
    before = shade.storage.settings.get(("global", key), "0") != "0"
    touch(shade, label)
    assert (shade.storage.settings["global", key] != "0") != before
    assert find(shade, label).checked != before


@pytest.mark.parametrize(("wifi", "bluetooth"), [("1", "0"), ("0", "1"), ("1", "1"), ("0", "0")])
def test_airplane_mode_gives_the_radios_back_as_they_were(phone, wifi, bluetooth):
    settings = phone.storage.settings
    settings["global", "wifi_on"], settings["global", "bluetooth_on"] = wifi, bluetooth
    toggle(phone, "airplane_mode_on")
    assert (settings["global", "wifi_on"], settings["global", "bluetooth_on"]) == ("0", "0")
    toggle(phone, "airplane_mode_on")
    assert (settings["global", "wifi_on"], settings["global", "bluetooth_on"]) == (wifi, bluetooth)


@pytest.mark.parametrize(("share", "level"), [(0, "1"), (0.5, "128"), (1, "255")])
def test_brightness_is_never_zero(phone, share, level):
    set_brightness(phone, share)
    assert phone.storage.settings["system", "screen_brightness"] == level


def test_a_notification_opens_its_app_and_goes(shade):
    called = []
    shade.post(Notification(CLOCK, "Alarm", "07:00", shade.now, lambda: called.append(shade.foreground)))
    touch(shade, "Alarm")
    assert called == [CLOCK] and not shade.notifications and not shade.shade


@pytest.mark.parametrize(("end", "left"), [((250, 0), 1), ((-250, 0), 1), ((0, 120), 2)])
def test_a_notification_is_swiped_away_sideways(shade, end, left):
    for title in ("First", "Second"):
        shade.post(Notification(CLOCK, title, "", shade.now))
    start = find(shade, "First").bounds
    x, y = (start[0] + start[2]) // 2, (start[1] + start[3]) // 2
    shade.swipe((x, y), (max(0, min(269, x + end[0])), y + end[1]))
    assert len(shade.notifications) == left


def test_all_notifications_are_cleared(shade):
    for title in ("First", "Second"):
        shade.post(Notification(CLOCK, title, "", shade.now))
    touch(shade, "Clear all")
    assert not shade.notifications


# keyboard and toolbar


@pytest.fixture
def fields():
    hands = showing(Fields("one", "two"))
    hands.tap("Second")
    return hands


def press(hands, *keys):
    touch(hands.phone, *keys)


def test_keys_type_capitals_once_and_signs_until_turned_back(fields):
    press(fields, "Shift", "A", "b", "Symbol keyboard", "1", "?", "Symbol keyboard", "c", "Space", ".")
    assert fields.phone.top.second.text == "twoAb1?c ."
    press(fields, "Delete", "Delete")
    assert fields.phone.top.second.text == "twoAb1?c"


def test_enter_of_the_keyboard_leaves_the_field(fields):
    press(fields, "Enter")
    assert not fields.phone.keyboard_shown and not find(fields.phone, "Symbol keyboard")


def test_the_keyboard_goes_with_its_field(fields):
    fields.phone.push(fields.phone.apps[PACKAGE], Blank())
    assert not find(fields.phone, "Shift")


def test_text_is_cut_copied_and_pasted(fields):
    phone, screen = fields.phone, fields.phone.top
    fields.select_text("Second")
    touch(phone, "Cut")
    assert (phone.clipboard, screen.second.text) == ("two", "")
    fields.select_text("First")
    touch(phone, "Copy")
    assert phone.clipboard == "one" == screen.first.text
    fields.hold("Second")
    touch(phone, "Paste")
    assert screen.second.text == "one"


def test_the_toolbar_goes_with_the_next_touch_or_letter(fields):
    for act in (lambda: fields.type("x"), lambda: fields.phone.tap(135, 300)):
        fields.hold("First")
        assert find(fields.phone, "Paste")
        act()
        assert not find(fields.phone, "Paste")


# launcher and recents


def test_the_home_screen_has_pages_of_twelve_above_a_dock(phone):
    docked = [phone.apps[package].label for package in DOCK if package in phone.apps]
    paged = [app.label for app in phone.apps.values() if app.label not in docked]
    assert {*paged[:12], *docked} <= {node.text for node in nodes(phone)}
    phone.swipe((250, 300), (20, 300))
    assert find(phone, paged[12]) and not find(phone, paged[0])
    for _ in range(9):
        phone.swipe((250, 300), (20, 300))
    assert find(phone, paged[-1]) and all(find(phone, label) for label in docked)
    for _ in range(9):
        phone.swipe((20, 300), (250, 300))
    assert find(phone, paged[0])


def test_the_drawer_finds_apps_by_part_of_their_name(phone):
    hands = Hands(None, phone=phone)
    phone.swipe((135, 450), (135, 100))
    hands.tap("Search apps")
    hands.type("CLO")
    assert hands.shows("Clock") and not hands.shows("Camera")
    hands.tap("Clock")
    assert phone.foreground == CLOCK


def test_swiping_down_closes_the_drawer(phone):
    phone.swipe((135, 450), (135, 100))
    assert find(phone, "Search apps") and len(phone.stack) == 2
    phone.swipe((135, 150), (135, 450))
    assert len(phone.stack) == 1


def test_recents_list_running_apps_until_they_are_closed(phone):
    phone.show_recents()
    assert find(phone, "No recent items")
    for package in (CLOCK, "com.android.settings"):
        phone.launch(package)
    phone.show_recents()
    tops = [find(phone, f"Close {label}").bounds[1] for label in ("Settings", "Clock")]
    assert tops == sorted(tops)
    touch(phone, "Close Settings")
    assert "com.android.settings" not in phone.stacks and find(phone, "Clock")
    touch(phone, "Clear all")
    assert list(phone.stacks) == [phone.launcher.package] and phone.foreground == phone.launcher.package


def test_the_overview_shows_what_each_app_shows(phone):
    phone.launch(CLOCK)
    page = phone.screenshot()
    phone.show_recents()
    card = find(phone, "Clock").bounds
    left, top, right, bottom = card
    seen = phone.screenshot()[top:bottom, left:right]
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 20  # its texts and icons
    assert bottom - top > 0.3 * len(page)


def test_notifications_of_an_app_stand_together(phone):
    clock, settings = CLOCK, "com.android.settings"
    for package, title in ((clock, "First"), (settings, "Other"), (clock, "Second")):
        phone.post(Notification(package, title, "", phone.now))
    phone.shade = 1
    phone.changed()
    shown = [node.text.split(", ")[0] for node in nodes(phone) if node.text]
    order = [text for text in shown if text in ("Clock", "Settings", "First", "Second", "Other")]
    assert order == ["Clock", "Second", "First", "Settings", "Other"]


def test_a_dialog_darkens_what_is_behind_it_and_a_menu_does_not():
    screen = Fields()
    hands = showing(screen)
    bright = hands.phone.screenshot()[100, 5]
    screen.push(Menu([("One", print)]))
    assert (hands.phone.screenshot()[100, 5] == bright).all()
    screen.push(Confirm("Sure?", "", "Yes", print))
    assert (hands.phone.screenshot()[100, 5] < bright).all()
    hands.phone.key("BACK")
    assert (hands.phone.screenshot()[100, 5] == bright).all()


# messages, apps and the clock


def test_a_message_shows_for_four_seconds_and_lets_touches_through():
    hands = showing(Fields())
    hands.phone.snackbar("Saved")
    assert hands.shows("Saved")
    hands.phone.tap(*hands.find("Saved").center)
    hands.phone.elapse(timedelta(seconds=2))
    assert hands.shows("Saved")
    hands.phone.elapse(timedelta(seconds=1))
    assert not hands.shows("Saved")


def test_apps_come_back_where_they_were_left(phone):
    phone.launch("com.android.settings")
    phone.push(phone.apps["com.android.settings"], Blank())
    top = phone.top
    phone.go_home()
    phone.launch("com.android.settings")
    assert phone.top is top
    phone.stop("com.android.settings")
    assert phone.foreground == phone.launcher.package


def test_leaving_the_last_screen_of_an_app_goes_home():
    hands = showing(Blank())
    hands.back()
    hands.back()
    assert hands.phone.foreground == hands.phone.launcher.package and PACKAGE not in hands.phone.stacks


def test_leaving_a_screen_leaves_those_above_it():
    hands = showing(Blank())
    low = hands.phone.top
    for _ in range(2):
        hands.phone.push(hands.phone.apps[PACKAGE], Blank())
    low.pop()
    assert len(hands.phone.stack) == 1
    low.pop()
    assert len(hands.phone.stack) == 1, "leaving twice is leaving once"


def test_a_screen_can_take_the_place_of_another():
    hands = showing(Blank())
    new = Fields()
    hands.phone.top.replace(new)
    assert hands.phone.stack[1:] == [new] and new.app is hands.phone.apps[PACKAGE]


@pytest.mark.parametrize("key", ["CAMERA", "", "F1"])
def test_other_keys_take_their_time_alone(phone, key):
    before, tree = phone.now, phone.ui()
    phone.key(key)
    assert phone.now - before == timedelta(seconds=1) and phone.ui() == tree


def test_home_is_an_intent_too(phone):
    phone.launch(CLOCK)
    assert phone.start(Intent(MAIN, categories=(HOME,))) == phone.launcher.package == phone.foreground


@pytest.mark.parametrize(("density", "width"), [(None, 66), (1.0, 44), (0.5, 22)])
def test_density_scales_the_layout(density, width):
    left, _, right, _ = find(Phone(540, 1200, density), "Home").bounds
    assert right - left == width


def test_an_app_of_no_name_is_not_found():
    phone = showing(Blank()).phone
    assert phone.app_named("  sAMPLER ") is phone.apps[PACKAGE] and phone.app_named("Sample") is None
    assert isinstance(phone.apps[PACKAGE], Sampler)
