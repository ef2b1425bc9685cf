"""Settings of AndroidLab's phone."""

from datetime import datetime

import pytest

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
    settings.hold("Device name")
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
