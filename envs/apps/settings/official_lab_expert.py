"""Experts of AndroidLab's tasks in Settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from coach_gym.envs.apps.settings.expert import open_page, slide, toggle_row
from coach_gym.envs.apps.settings.lab_expert import set_volume
from coach_gym.envs.tasks.pickers import pick_date
from coach_gym.envs.tasks.screen import Screen, expert

expert("setting_0")(lambda s, p: toggle_row(s, "Airplane mode", True, "Network & internet"))
expert("setting_3")(lambda s, p: toggle_row(s, "Bluetooth", False, "Connected devices"))
expert("setting_5")(lambda s, p: toggle_row(s, "Battery percentage", True, "Battery"))
expert("setting_7")(lambda s, p: toggle_row(s, "Dark theme", True, "Display"))
expert("setting_13")(lambda s, p: toggle_row(s, "Ring vibration", False, "Sound & vibration", "Vibration & haptics"))


@expert("setting_1")
def _keep_wifi_off(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    path = ("Network & internet", "Internet", "Network preferences")
    yield from toggle_row(s, "Turn on Wi\u2011Fi automatically", False, *path)


@expert("setting_18")
def _silence_contacts(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    path = ("Notifications", "Device & app notifications", "Contacts")
    yield from toggle_row(s, "Allow notification access", False, *path)


@expert("setting_2")
def _private_dns(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet", "Private DNS")
    yield s.tap("Private DNS provider hostname")
    yield from s.fill("Enter hostname of DNS provider", "dns.google")
    yield s.tap("Save")


@expert("setting_4")
def _bluetooth_name(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Connected devices", "Pair new device", "Device name")
    yield from s.refill(lambda e: e.editable, "my AVD")
    yield s.tap("Rename")


@expert("setting_8")
def _darkest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display", "Brightness level")
    yield slide(s, "Display brightness", 0.0)
    yield s.back()


expert("setting_9")(lambda s, p: set_volume(s, "Ring & notification volume", 0.0))
expert("setting_10")(lambda s, p: set_volume(s, "Alarm volume", 1.0))


@expert("setting_11")
def _speak_chinese(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "System", "Languages & input", "Text-to-speech output", "Language", "Chinese (China)")


@expert("setting_12")
def _first_of_may(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "System", "Date & time")
    yield from s.toggle("Set time automatically", False)
    yield s.tap("Date")
    yield from pick_date(s, date(2024, 5, 1))


@expert("setting_15")
def _add_spanish(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "System", "Languages & input", "Languages", "Add a language")
    yield from s.follow("Espa\u00f1ol (Estados Unidos)")


expert("setting_19")(lambda s, p: open_page(s, "Apps", "Default apps", "Browser app", "Firefox"))
expert("setting_20")(lambda s, p: open_page(s, "Apps", "Booking.com", "Uninstall", "OK"))
expert("setting_21")(lambda s, p: open_page(s))

# questions


def _summary(s: Screen, title: str) -> str:
    """Reads what a row says below its title."""
    return s.find(lambda e: e.label.startswith(f"{title}, ")).label.split(", ", 1)[1]


def _tell_summary(s: Screen, title: str, *path: str) -> Iterator[str]:
    yield from open_page(s, *path)
    yield s.finish(_summary(s, title))


expert("setting_6")(lambda s, p: _tell_summary(s, "Apps", "Storage"))
expert("setting_17")(lambda s, p: _tell_summary(s, "Android version", "About phone"))


@expert("setting_14")
def _time_zone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "System", "Date & time", "Time zone")
    yield s.finish(_summary(s, "Time zone").split(" (")[0])


@expert("setting_16")
def _first_language(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "System", "Languages & input", "Languages")
    yield s.finish(s.find(lambda e: e.label.endswith(", 1")).label.removesuffix(", 1"))


@expert("setting_22")
def _is_offline(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet")
    yield s.finish("open" if s.find("Airplane mode").checked else "not open")
