"""Experts of AndroidLab's families in Settings, on AndroidLab's phone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.settings.expert import open_page, slide
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


def show_switch(s: Screen, what: str) -> Iterator[str]:
    """Opens the page of a switch and scrolls to it."""
    page, label = SWITCHES[what]
    yield from open_page(s, page)
    yield from s.scroll_to(label)


@expert("SettingsSwitch")
def switch(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from show_switch(s, p["what"])
    yield from s.toggle(SWITCHES[p["what"]][1], p["on_or_off"] == "on")
    yield s.finish()


@expert("SettingsSwitchState")
def _tell_switch_state(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from show_switch(s, p["what"])
    yield s.finish("on" if s.find(SWITCHES[p["what"]][1]).checked else "off")


@expert("SettingsAirplaneMode")
def _switch_airplane_mode(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet")
    yield from s.toggle("Airplane mode", p["on_or_off"] == "on")
    yield s.finish()


@expert("SettingsDarkTheme")
def _switch_dark_theme(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display")
    yield from s.toggle("Dark theme", p["on_or_off"] == "on")
    yield s.finish()


@expert("SettingsBrightness")
def _set_brightness(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display")
    yield s.tap("Brightness level")
    yield slide(s, "Display brightness", p["percent"] / 100)
    yield s.finish()


@expert("SettingsScreenTimeout")
def _set_screen_timeout(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display")
    yield s.tap("Screen timeout")
    yield s.tap(p["choice"])
    yield s.finish()


@expert("SettingsFontSize")
def _set_font_size(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    sizes = ("Small", "Default", "Large", "Largest")
    yield from open_page(s, "Display")
    yield s.tap("Font size")
    while shown := sizes.index(p["choice"]) - sizes.index(s.find(lambda e: e.id == "current_label").label):
        yield s.tap("Make larger" if shown > 0 else "Make smaller")
    yield s.finish()


@expert("SettingsRingtone")
def _set_ringtone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Sound & vibration")
    yield from s.scroll_to("Phone ringtone")
    yield s.tap("Phone ringtone")
    yield s.tap(p["choice"])
    yield s.finish()


@expert("SettingsLanguage")
def set_language(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Puts a language first: the phone speaks the first of the list."""
    yield from open_page(s, "System")
    yield s.tap("Languages & input")
    yield s.tap("Languages")
    if not s.has(p["choice"]):
        yield s.tap("Add a language")
        yield from s.scroll_to(p["choice"])
        yield s.tap(p["choice"])
    yield s.tap(p["choice"])
    yield s.finish()


@expert("SettingsVolume")
def _set_volume(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Sound & vibration")
    yield slide(s, f"{p['sound'].capitalize()} volume", 1.0 if p["how"].endswith("up") else 0.0)
    yield s.finish()


@expert("SettingsDeviceName")
def _rename_phone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "About phone")
    yield s.tap("Device name")
    yield from s.refill(lambda e: e.editable, p["name"])
    yield s.tap("OK")
    yield s.finish()


@expert("SettingsJoinNetwork")
def _join_network(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet")
    yield s.tap("Internet")
    yield s.tap(p["network"])
    yield from s.fill("Password", p["password"])
    yield s.tap("Connect")
    yield s.finish()


@expert("SettingsPercentage")
def _tell_percentage(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    row = "Battery"
    yield from s.open("Settings")
    if p["what"] == "screen brightness":
        yield s.tap("Display")
        row = "Brightness level"
    yield s.finish(s.find(row).label.split(", ")[-1])


@expert("SettingsFact")
def _tell_fact(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "About phone")
    title = {"name": "Device name", "model": "Model", "build number": "Build number"}.get(p["what"], p["what"])
    yield from s.scroll_to(title)
    yield s.finish(s.find(title).label.partition(", ")[2])
