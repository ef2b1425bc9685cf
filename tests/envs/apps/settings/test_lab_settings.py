"""Settings of AndroidLab's phone."""

from datetime import datetime

import pytest

from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.profiles import lab_phone
from tests.envs.hands import Hands


@pytest.fixture
def settings():
    phone = lab_phone(360, 1600)
    phone.now = datetime(2024, 5, 10, 12)
    return Hands("com.android.settings", phone=phone)


def value(settings, namespace, key):
    return settings.storage.settings.get((namespace, key))


def test_every_row_of_the_main_list_opens_its_page(settings):
    for row in [element.label.split(", ")[0] for element in settings.elements if element.clickable][1:]:
        settings.tap(row)
        assert settings.shows("Navigate up") and settings.shows(row)
        settings.back()


def test_private_dns_by_name(settings):
    settings.tap("Network & internet", "Private DNS", "Private DNS provider hostname", "Enter hostname of DNS provider")
    settings.type("dns.google")
    settings.tap("Save")
    assert value(settings, "global", "private_dns_mode") == "hostname"
    assert "Private DNS, dns.google" in settings.ui
    settings.tap("Private DNS", "Off", "Cancel")
    assert value(settings, "global", "private_dns_mode") == "hostname"


def test_wifi_need_not_turn_itself_on(settings):
    settings.tap("Network & internet", "Internet", "Network preferences", "Turn on Wi\u2011Fi automatically")
    assert value(settings, "global", "wifi_wakeup_enabled") == "0"


def test_bluetooth_has_a_name_of_its_own(settings):
    settings.tap("Connected devices", "Pair new device", "Device name")
    settings.select_text("Device name")
    settings.type("my AVD")
    settings.tap("Rename")
    assert value(settings, "secure", "bluetooth_name") == "my AVD" and "Device name, my AVD" in settings.ui


def test_an_app_can_be_removed(settings):
    settings.tap("Apps", "Booking.com", "Uninstall", "Cancel", "Uninstall", "OK")
    assert "com.booking" not in settings.phone.services.packages and not settings.shows("Booking.com")


def test_the_default_browser_goes_with_its_app(settings):
    settings.tap("Apps", "Default apps", "Browser app", "Firefox")
    assert settings.phone.services.roles["browser"] == "Firefox"
    settings.back()
    settings.back()
    settings.tap("Firefox", "Uninstall", "OK", "Default apps")
    assert "Browser app, Chrome" in settings.ui
    settings.tap("Browser app")
    assert not settings.shows("Firefox")


def test_an_app_without_notifications_is_listed_apart(settings):
    settings.tap("Notifications", "Device & app notifications")
    assert settings.shows("Allowed") and not settings.shows("Not allowed")
    settings.tap("Contacts", "Allow notification access")
    settings.back()
    names = [element.label for element in settings.elements]
    assert names.index("Not allowed") < names.index("Contacts")


def test_volumes_are_kept_for_the_speaker_too(settings):
    settings.tap("Sound & vibration")
    slider = next(e for e in settings.elements if e.label == "Alarm volume")
    settings.phone.swipe(slider.center, (slider.bounds[2] - 2, slider.center[1]), 2)
    assert (value(settings, "system", "volume_alarm"), value(settings, "system", "volume_alarm_speaker")) == ("7", "7")


def test_ring_vibration(settings):
    settings.tap("Sound & vibration", "Vibration & haptics", "Ring vibration")
    assert value(settings, "system", "ring_vibration_intensity") == "0"


def test_languages_have_places(settings):
    settings.tap("System", "Languages & input", "Languages", "Add a language", "Espa\u00f1ol (Estados Unidos)")
    assert "Espa\u00f1ol (Estados Unidos), 2" in settings.ui and "English (United States), 1" in settings.ui
    settings.tap("Espa\u00f1ol (Estados Unidos)")
    assert "Espa\u00f1ol (Estados Unidos), 1" in settings.ui
    settings.tap("Add a language")
    assert not any(e.label == "Espa\u00f1ol (Estados Unidos)" for e in settings.elements)


def test_the_voice_speaks_another_language(settings):
    settings.tap("System", "Languages & input", "Text-to-speech output", "Language", "Chinese (China)")
    assert "Language, Chinese (China)" in settings.ui


def test_the_date_is_set_only_by_hand(settings):
    settings.tap("System", "Date & time", "Date")
    assert not settings.shows("OK")
    settings.tap("Set time automatically", "Date", "01 May 2024", "OK")
    settings.tap("Time", "AM", "9 hours", "OK")
    assert settings.phone.now.replace(second=0) == datetime(2024, 5, 1, 9, 0)


def test_the_time_zone_is_shanghais(settings):
    settings.tap("System", "Date & time", "Time zone")
    assert "Time zone, Asia/Shanghai (GMT+08:00)" in settings.ui


def test_search_finds_the_pages_of_this_phone(settings):
    settings.tap("Search settings")
    settings.type("default")
    settings.tap("Default apps")
    assert settings.shows("Browser app")


@pytest.mark.parametrize(
    ("path", "label", "namespace", "key", "on", "off"),
    [
        ("Network & internet", "Data Saver", "global", "data_saver", "1", "0"),
        ("Network & internet/Internet/Network preferences", "Turn on Wi\u2011Fi automatically",
         "global", "wifi_wakeup_enabled", "1", "0"),
        ("Network & internet/Internet/Network preferences", "Notify for public networks",
         "global", "wifi_networks_available_notification_on", "1", "0"),
        ("Connected devices", "NFC", "global", "nfc_on", "1", "0"),
        ("Sound & vibration/Vibration & haptics", "Ring vibration", "system", "ring_vibration_intensity", "2", "0"),
        ("Sound & vibration/Vibration & haptics", "Touch feedback", "system", "haptic_feedback_intensity", "2", "0"),
        ("System/Date & time", "Set time automatically", "global", "auto_time", "1", "0"),
        ("System/Date & time", "Use 24-hour format", "system", "time_12_24", "24", "12"),
        ("Display", "Dark theme", "secure", "ui_night_mode", "2", "1"),
        ("Display", "Night Light", "secure", "night_display_activated", "1", "0"),
    ],
)  # fmt: skip
def test_a_switch_changes_its_setting_and_no_other(settings, path, label, namespace, key, on, off):
    settings.tap(*path.split("/"))
    before = dict(settings.storage.settings)
    was_on = before.get((namespace, key)) == on
    settings.tap(label)
    assert value(settings, namespace, key) == (off if was_on else on)
    settings.tap(label)
    assert {**settings.storage.settings, (namespace, key): None} == {**before, (namespace, key): None}
    assert value(settings, namespace, key) == (on if was_on else off)


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("WIFI_SETTINGS", "Network preferences"), ("WIRELESS_SETTINGS", "Private DNS"),
        ("LOCALE_SETTINGS", "Add a language"), ("DATE_SETTINGS", "Time zone"),
        ("APPLICATION_SETTINGS", "Default apps"), ("DEVICE_INFO_SETTINGS", "Model"),
    ],
)  # fmt: skip
def test_an_intent_opens_the_page_of_this_phone(settings, action, shown):
    assert settings.phone.start(Intent(f"android.settings.{action}")) == "com.android.settings"
    assert settings.shows(shown)


def test_whatever_the_search_promises_is_on_the_page_that_it_opens(settings):
    edition = settings.phone.apps["com.android.settings"].edition
    titles = [title for title, _ in edition.findable()]
    assert len(set(titles)) == len(titles)
    for title, page in edition.findable():
        settings.phone.open_screen("com.android.settings", page())
        assert settings.shows(title) or page.title == title, title
        settings.back()


def test_languages_are_kept_as_codes(settings):
    settings.tap("System", "Languages & input", "Languages", "Add a language", "Espa\u00f1ol (M\u00e9xico)")
    settings.tap("Add a language", "Deutsch (Deutschland)", "Deutsch (Deutschland)")
    assert value(settings, "system", "system_locales") == "de-DE,en-US,es-MX"


def test_a_language_that_nobody_offers_is_kept(settings):
    settings.storage.settings["system", "system_locales"] = "en-US,fy-NL"
    settings.phone.changed()
    settings.tap("System", "Languages & input", "Languages", "Add a language", "Italiano (Italia)")
    assert value(settings, "system", "system_locales") == "en-US,fy-NL,it-IT"
