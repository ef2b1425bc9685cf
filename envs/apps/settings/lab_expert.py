"""Experts of AndroidLab's families in Settings, on AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.settings.expert import open_page, slide, toggle_row
from coach_gym.envs.tasks.screen import Screen, expert

SWITCHES = {  # as goals name it: the page, its switch
    "adaptive brightness": ("Display", "Adaptive brightness"),
    "auto-rotate": ("Display", "Auto-rotate screen"),
    "battery percentage": ("Battery", "Battery percentage"),
    "Battery Saver": ("Battery", "Battery Saver"),
    "color inversion": ("Accessibility", "Color inversion"),
    "Data Saver": ("Network & internet", "Data Saver"),
    "dial pad tones": ("Sound & vibration", "Dial pad tones"),
    "Do Not Disturb": ("Notifications", "Do Not Disturb"),
    "location": ("Location", "Use location"),
    "mobile data": ("Network & internet", "Mobile data"),
    "NFC": ("Connected devices", "NFC"),
    "Night Light": ("Display", "Night Light"),
    "notification history": ("Notifications", "Notification history"),
    "touch sounds": ("Sound & vibration", "Touch sounds"),
}


@expert("SettingsSwitch")
def _switch(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    page, label = SWITCHES[p["what"]]
    yield from toggle_row(s, label, p["on_or_off"] == "on", page)


@expert("SettingsSwitchState")
def _tell_switch_state(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    page, label = SWITCHES[p["what"]]
    yield from open_page(s, page)
    yield from s.scroll_to(label)
    yield s.finish("on" if s.find(label).checked else "off")


expert("SettingsAirplaneMode")(
    lambda s, p: toggle_row(s, "Airplane mode", p["on_or_off"] == "on", "Network & internet")
)
expert("SettingsDarkTheme")(lambda s, p: toggle_row(s, "Dark theme", p["on_or_off"] == "on", "Display"))


@expert("SettingsBrightness")
def _set_brightness(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display", "Brightness level")
    yield slide(s, "Display brightness", p["percent"] / 100)


expert("SettingsScreenTimeout")(lambda s, p: open_page(s, "Display", "Screen timeout", p["choice"]))
expert("SettingsRingtone")(lambda s, p: open_page(s, "Sound & vibration", "Phone ringtone", p["choice"]))


@expert("SettingsFontSize")
def _set_font_size(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    sizes = ("Small", "Default", "Large", "Largest")
    yield from open_page(s, "Display", "Font size")
    while shown := sizes.index(p["choice"]) - sizes.index(s.find(lambda e: e.id == "current_label").label):
        yield s.tap("Make larger" if shown > 0 else "Make smaller")


@expert("SettingsLanguage")
def _set_language(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Puts a language first: the phone speaks the first of the list."""
    yield from open_page(s, "System", "Languages & input", "Languages")
    if not s.has(p["choice"]):
        yield from s.follow("Add a language", p["choice"])
    yield s.tap(p["choice"])


def set_volume(s: Screen, title: str, share: float) -> Iterator[str]:
    """Moves one of the sliders of volumes to a share of its width."""
    yield from open_page(s, "Sound & vibration")
    yield slide(s, title, share)


@expert("SettingsVolume")
def _set_volume(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from set_volume(s, f"{p['sound'].capitalize()} volume", 1.0 if p["how"].endswith("up") else 0.0)


@expert("SettingsDeviceName")
def _rename_phone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "About phone", "Device name")
    yield from s.refill(lambda e: e.editable, p["name"])
    yield s.tap("OK")


@expert("SettingsJoinNetwork")
def _join_network(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet", "Internet", p["network"])
    yield from s.fill("Password", p["password"])
    yield s.tap("Connect")


@expert("SettingsPercentage")
def _tell_percentage(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    row = "Battery"
    yield from s.open("Settings")
    if p["what"] == "screen brightness":
        yield s.tap("Display")
        row = "Brightness level"
    yield from s.scroll_to(row)
    yield s.finish(s.find(row).label.split(", ")[-1])


@expert("SettingsFact")
def _tell_fact(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "About phone")
    title = {"name": "Device name", "model": "Model", "build number": "Build number"}.get(p["what"], p["what"])
    yield from s.scroll_to(title)
    yield s.finish(s.find(title).label.partition(", ")[2])
