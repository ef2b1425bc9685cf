"""Settings by touch: what a user switches is what stands in the settings tables, and shows where it should."""

import numpy as np
import pytest

from coach_gym.envs.apps.settings import pages
from coach_gym.envs.apps.settings.app import APP, MAIN, SEARCHED
from coach_gym.envs.phone.paths import BATTERY_LEVEL
from coach_gym.ui import compress
from tests.envs.hands import SCREENS, Hands

WIFI = "Wi\u2011Fi"


@pytest.fixture
def hands():
    return Hands(APP.package, (540, 1200))


@pytest.fixture(params=SCREENS, ids=str)
def any_hands(request):
    return Hands(APP.package, request.param)


def setting(hands, namespace, key):
    return hands.storage.settings[namespace, key]


def scroll(hands):
    width, height = hands.phone.width, hands.phone.height
    hands.phone.swipe((width // 2, height * 3 // 4), (width // 2, height // 4))


def slide(hands, label, share):
    left, top, right, bottom = hands.find(label).bounds
    start = ((left + right) // 2, (top + bottom) // 2)
    hands.phone.swipe(start, (round(left + share * (right - left)), start[1]))


def test_every_page_opens_from_the_list_and_back_returns_to_it(any_hands):
    for _, title, page in MAIN:
        while not any_hands.shows(title):
            scroll(any_hands)
        any_hands.tap(title)
        assert any_hands.elements[1].label == page.title == title
        any_hands.back()
        assert any_hands.shows("Search settings")


@pytest.mark.parametrize(
    ("page", "label", "namespace", "key", "on", "off"),
    [
        ("Network & internet", "Mobile data", "global", "mobile_data", "1", "0"),
        ("Network & internet", "Airplane mode", "global", "airplane_mode_on", "1", "0"),
        ("Connected devices", "Bluetooth", "global", "bluetooth_on", "1", "0"),
        ("Connected devices", "NFC", "global", "nfc_on", "1", "0"),
        ("Battery", "Battery Saver", "global", "low_power", "1", "0"),
        ("Display", "Dark theme", "secure", "ui_night_mode", "2", "1"),
        ("Display", "Auto-rotate screen", "system", "accelerometer_rotation", "1", "0"),
        ("Sound & vibration", "Touch sounds", "system", "sound_effects_enabled", "1", "0"),
        ("Location", "Use location", "secure", "location_mode", "3", "0"),
    ],
)
def test_a_switch_changes_its_setting_and_nothing_else_and_back_again(hands, page, label, namespace, key, on, off):
    hands.tap(page)
    before = dict(hands.storage.settings)
    was_on = hands.find(label).checked
    assert setting(hands, namespace, key) == (on if was_on else off)
    hands.tap(label)
    assert hands.find(label).checked != was_on
    assert setting(hands, namespace, key) == (off if was_on else on)
    hands.tap(label)
    assert dict(hands.storage.settings) == before


def test_airplane_mode_takes_the_radios_down_and_brings_back_those_that_were_on(hands):
    hands.tap("Connected devices", "Bluetooth", "Navigate up", "Network & internet", "Airplane mode")
    assert (setting(hands, "global", "wifi_on"), setting(hands, "global", "bluetooth_on")) == ("0", "0")
    hands.tap("Airplane mode")
    assert (setting(hands, "global", "wifi_on"), setting(hands, "global", "bluetooth_on")) == ("1", "0")


def test_networks_show_while_wifi_is_on_and_ask_for_their_password(hands):
    hands.tap("Network & internet", "Internet")
    assert hands.find("AndroidWifi").label == "AndroidWifi, Connected"
    hands.tap("Riverside Cafe")
    assert setting(hands, "global", "wifi_network") == "Riverside Cafe"
    hands.tap("Home 2.4G", "Password")
    hands.type("short")
    hands.tap("Connect")
    assert hands.shows("Check password and try again") and setting(hands, "global", "wifi_network") == "Riverside Cafe"
    hands.tap("Home 2.4G", "Password")
    hands.type("long enough")
    hands.tap("Connect")
    assert setting(hands, "global", "wifi_network") == "Home 2.4G"
    hands.tap(WIFI)
    assert not hands.shows("Home 2.4G") and setting(hands, "global", "wifi_on") == "0"


def test_pairing_switches_bluetooth_on(hands):
    hands.tap("Connected devices", "Bluetooth")
    assert setting(hands, "global", "bluetooth_on") == "0"
    hands.tap("Pair new device")
    assert setting(hands, "global", "bluetooth_on") == "1"


@pytest.mark.parametrize(("share", "level"), [(1.0, 255), (0.0, 1), (0.5, 128)])
def test_the_brightness_slider_reaches_its_ends_and_its_middle(any_hands, share, level):
    while not any_hands.shows("Display"):
        scroll(any_hands)
    any_hands.tap("Display", "Brightness level")
    slide(any_hands, "Display brightness", share)
    if share == 0.5:
        any_hands.tap("Display brightness")
    assert abs(int(setting(any_hands, "system", "screen_brightness")) - level) <= (2 if share == 0.5 else 0)
    any_hands.back()
    assert any_hands.find("Brightness level").label == f"Brightness level, {round(level / 2.55)}%"


def test_volumes_keep_within_their_range(hands):
    hands.tap("Sound & vibration")
    slide(hands, "Media volume", 1.0)
    slide(hands, "Alarm volume", 0.0)
    assert (setting(hands, "system", "volume_music"), setting(hands, "system", "volume_alarm")) == ("15", "1")


def test_timeout_and_language_are_chosen_from_a_list(hands):
    hands.tap("Display", "Screen timeout", "10 minutes")
    assert setting(hands, "system", "screen_off_timeout") == "600000" and hands.find("10 minutes").checked
    hands.tap("Navigate up")
    assert hands.find("Screen timeout").label == "Screen timeout, After 10 minutes of inactivity"
    hands.tap("Navigate up", "System", "Languages", "Deutsch (Deutschland)")
    assert setting(hands, "system", "system_locales") == "de-DE"


def test_the_ringtone_dialog_chooses_or_is_left_without_a_change(hands):
    hands.tap("Sound & vibration", "Phone ringtone")
    assert hands.find("Zen").checked
    hands.tap("Cancel", "Phone ringtone")
    hands.back()
    assert setting(hands, "system", "ringtone") == "Zen"
    hands.tap("Phone ringtone", "Beats")
    assert hands.find("Phone ringtone").label == "Phone ringtone, Beats"


def test_a_larger_font_makes_texts_larger_everywhere(hands):
    hands.tap("Display")
    before = next(e for e in hands.elements if e.label == "Display").bounds
    hands.tap("Font size", "Make larger", "Make larger", "Make larger")
    assert setting(hands, "system", "font_scale") == "1.3" and hands.shows("Largest")
    hands.tap("Navigate up")
    after = next(e for e in hands.elements if e.label == "Display").bounds
    assert after[3] - after[1] > 1.2 * (before[3] - before[1])


def test_the_dark_theme_darkens_the_screen_and_leaves_the_text_as_it_is(hands):
    hands.tap("Display")
    light = hands.phone.screenshot()
    hands.tap("Dark theme")
    dark, text = hands.phone.screenshot(), hands.ui
    assert light.mean() > 200 and dark.mean() < 60
    hands.tap("Dark theme")
    assert hands.ui == text.replace('checked="1"', 'checked="0"') and np.array_equal(hands.phone.screenshot(), light)


def test_the_battery_shows_the_charge_of_the_phone(hands):
    hands.storage.write(BATTERY_LEVEL, b"37\n")
    hands.phone.changed()
    hands.tap("Battery")
    assert hands.shows("37%") and "37%" not in status_texts(hands)
    hands.tap("Battery percentage")
    assert "37%" in status_texts(hands)


def status_texts(hands):
    return [node.text for node in hands.phone.ui().walk() if node.decor]


def test_the_phone_is_renamed_unless_the_name_is_empty(hands):
    scroll(hands)
    hands.tap("About phone", "Device name")
    field = next(e for e in hands.elements if e.editable)
    hands.select_text(field)
    hands.type("Blue phone")
    hands.tap("OK")
    assert setting(hands, "global", "device_name") == "Blue phone"
    hands.tap("Device name")
    hands.select_text(next(e for e in hands.elements if e.editable))
    hands.phone.key("DEL")
    hands.tap("OK")
    assert hands.find("Device name").label == "Device name, Blue phone"


def test_about_phone_reads_the_build_file_and_a_touch_copies(hands):
    hands.storage.write(pages.BUILD, pages.build_properties("Pixel 7", "14", "UP1A.1"))
    scroll(hands)
    hands.tap("About phone")
    assert hands.shows("Android version, 14") and hands.shows("Build number, UP1A.1")
    hands.tap("Model")
    assert hands.phone.clipboard == "Pixel 7" and hands.shows("Copied to clipboard")


def test_app_info_opens_and_stops_an_app(hands):
    hands.phone.launch("com.android.camera2")
    hands.phone.launch(APP.package)
    hands.tap("Apps", "Camera", "Force stop")
    assert "com.android.camera2" not in hands.phone.stacks and not hands.find("Force stop").enabled
    hands.tap("Open")
    assert hands.phone.foreground == "com.android.camera2"


def test_search_finds_settings_by_a_part_of_their_names(any_hands):
    any_hands.tap("Search settings")
    any_hands.type("wi-f")
    any_hands.tap(WIFI)
    assert any_hands.find(WIFI).checked
    any_hands.back()
    any_hands.tap("Clear text")
    any_hands.type("xyzzy")
    assert any_hands.shows("No results")


def test_whatever_search_promises_is_on_the_page_that_it_opens(hands):
    for title, page in SEARCHED:
        screen = page()
        screen.app = hands.phone.apps[APP.package]
        texts = [view.text for view in screen.build().walk()]
        assert title in texts, f"{title} is not on {page.title}"


def test_a_snapshot_in_the_middle_of_a_dialog_is_exact(any_hands):
    phone = any_hands.phone
    any_hands.tap("Network & internet", "Internet", "Home 2.4G", "Password")
    any_hands.type("secr")
    saved, text, frame = phone.snapshot(), any_hands.ui, phone.screenshot()
    any_hands.type("et-word")
    any_hands.tap("Connect", WIFI)
    phone.restore(saved)
    assert any_hands.ui == text and np.array_equal(phone.screenshot(), frame)
    any_hands.type("et-word")
    any_hands.tap("Connect")
    assert setting(any_hands, "global", "wifi_network") == "Home 2.4G"
    assert compress(phone.ui()) != text
