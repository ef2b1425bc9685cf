"""Experts of AndroidLab's tasks in Settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from coach_gym.envs.apps.settings.expert import slide
from coach_gym.envs.tasks.pickers import pick_date
from coach_gym.envs.tasks.screen import Screen, expert

APP = "Settings"
Play = Callable[[Screen, Mapping[str, Any]], Iterator[str]]


def _go(s: Screen, *path: str) -> Iterator[str]:
    """Opens Settings and a page in it by the rows that lead there."""
    yield from s.open(APP)
    for row in path:
        yield from s.scroll_to(row)
        yield s.tap(row)


def _toggling(label: str, on: bool, *path: str) -> Play:
    """Makes an expert that switches something on or off."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _go(s, *path)
        yield from s.scroll_to(label)
        yield from s.toggle(label, on)
        yield s.finish()

    return play


expert("setting_0")(_toggling("Airplane mode", True, "Network & internet"))
expert("setting_1")(
    _toggling("Turn on Wi\u2011Fi automatically", False, "Network & internet", "Internet", "Network preferences")
)
expert("setting_3")(_toggling("Bluetooth", False, "Connected devices"))
expert("setting_5")(_toggling("Battery percentage", True, "Battery"))
expert("setting_7")(_toggling("Dark theme", True, "Display"))
expert("setting_13")(_toggling("Ring vibration", False, "Sound & vibration", "Vibration & haptics"))
expert("setting_18")(
    _toggling("Allow notification access", False, "Notifications", "Device & app notifications", "Contacts")
)


@expert("setting_2")
def _private_dns(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "Network & internet", "Private DNS")
    yield s.tap("Private DNS provider hostname")
    yield from s.fill("Enter hostname of DNS provider", "dns.google")
    yield s.tap("Save")
    yield s.finish()


@expert("setting_4")
def _bluetooth_name(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "Connected devices", "Pair new device", "Device name")
    yield from s.refill(lambda e: e.editable, "my AVD")
    yield s.tap("Rename")
    yield s.finish()


@expert("setting_8")
def _darkest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "Display", "Brightness level")
    yield slide(s, "Display brightness", 0.0)
    yield s.back()
    yield s.finish()


def _sliding(label: str, share: float) -> Play:
    """Makes an expert that sets a volume."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _go(s, "Sound & vibration")
        yield slide(s, label, share)
        yield s.finish()

    return play


expert("setting_9")(_sliding("Ring & notification volume", 0.0))
expert("setting_10")(_sliding("Alarm volume", 1.0))


@expert("setting_11")
def _speak_chinese(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "System", "Languages & input", "Text-to-speech output", "Language")
    yield s.tap("Chinese (China)")
    yield s.finish()


@expert("setting_12")
def _first_of_may(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "System", "Date & time")
    yield from s.toggle("Set time automatically", False)
    yield s.tap("Date")
    yield from pick_date(s, date(2024, 5, 1))
    yield s.finish()


@expert("setting_15")
def _add_spanish(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    name = "Espa\u00f1ol (Estados Unidos)"
    yield from _go(s, "System", "Languages & input", "Languages", "Add a language")
    yield from s.scroll_to(name)
    yield s.tap(name)
    yield s.finish()


@expert("setting_19")
def _firefox(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "Apps", "Default apps", "Browser app")
    yield s.tap("Firefox")
    yield s.finish()


@expert("setting_20")
def _uninstall(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go(s, "Apps", "Booking.com")
    yield s.tap("Uninstall")
    yield s.tap("OK")
    yield s.finish()


@expert("setting_21")
def _open_settings(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(APP)
    yield s.finish()


# questions


def _telling(read: Callable[[Screen], str], *path: str) -> Play:
    """Makes an expert that reads something off a page."""

    def play(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
        yield from _go(s, *path)
        yield s.finish(read(s))

    return play


def _summary(title: str) -> Callable[[Screen], str]:
    """Reads what a row says below its title."""
    return lambda s: s.find(lambda e: e.label.startswith(f"{title}, ")).label.split(", ", 1)[1]


expert("setting_6")(_telling(_summary("Apps"), "Storage"))
expert("setting_14")(
    _telling(lambda s: _summary("Time zone")(s).split(" (")[0], "System", "Date & time", "Time zone")
)
expert("setting_16")(
    _telling(
        lambda s: s.find(lambda e: e.label.endswith(", 1")).label[:-3], "System", "Languages & input", "Languages"
    )
)
expert("setting_17")(_telling(_summary("Android version"), "About phone"))
expert("setting_22")(
    _telling(lambda s: "open" if s.find("Airplane mode").checked else "not open", "Network & internet")
)
