"""Experts of the tasks in Settings, and of those that only open an app or use the camera."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

WIFI = "Wi\u2011Fi"


def open_page(s: Screen, page: str) -> Iterator[str]:
    """Opens Settings and one of the pages of its main list."""
    yield from s.open("Settings")
    yield from s.scroll_to(page)
    yield s.tap(page)


def wifi(s: Screen, on: bool) -> Iterator[str]:
    """Switches Wi-Fi, from the main list of Settings."""
    yield s.tap("Network & internet")
    yield s.tap("Internet")
    yield from s.toggle(WIFI, on)


def bluetooth(s: Screen, on: bool) -> Iterator[str]:
    """Switches Bluetooth, from the main list of Settings."""
    yield s.tap("Connected devices")
    yield from s.toggle("Bluetooth", on)


def slide(s: Screen, label: str, share: float) -> str:
    """Drags a slider from its middle to a share of its width; for the middle itself a touch does."""
    element = s.find(label)
    left, _, right, _ = element.bounds
    margin = 0.04 * (right - left)  # the ends of a slider are reached a little before its box ends
    x = left + margin + share * (right - left - 2 * margin)
    return s.tap(element) if share == 0.5 else s.drag(element, (round(x), element.center[1]))


@expert("SystemWifiTurnOn", "SystemWifiTurnOff", "SystemWifiTurnOnVerify", "SystemWifiTurnOffVerify")
def switch_wifi(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, p["on_or_off"] == "on")
    yield s.finish()


@expert(
    "SystemBluetoothTurnOn", "SystemBluetoothTurnOff", "SystemBluetoothTurnOnVerify", "SystemBluetoothTurnOffVerify"
)
def switch_bluetooth(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from bluetooth(s, p["on_or_off"] == "on")
    yield s.finish()


@expert("TurnOffWifiAndTurnOnBluetooth")
def wifi_off_bluetooth_on(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, False)
    yield s.back()
    yield s.back()
    yield from bluetooth(s, True)
    yield s.finish()


@expert("TurnOnWifiAndOpenApp")
def wifi_on_open_app(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, True)
    yield from s.open(p["app_name"])
    yield s.finish()


@expert("OpenAppTaskEval")
def open_app(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(p["app_name"])
    yield s.finish()


@expert("SystemBrightnessMax", "SystemBrightnessMin", "SystemBrightnessMaxVerify", "SystemBrightnessMinVerify")
def brightness(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    share = 1.0 if p["max_or_min"] == "max" else 0.0
    yield from open_page(s, "Display")
    yield s.tap("Brightness level")
    if s.find("Display brightness").value != f"{round(100 * share)}%":
        yield slide(s, "Display brightness", share)
    yield s.finish()


@expert("CameraTakePhoto")
def take_photo(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Camera")
    yield s.tap("Shutter")
    yield s.finish()


@expert("CameraTakeVideo")
def take_video(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Camera")
    yield s.tap("Video")
    yield s.tap("Start recording")
    yield s.tap("While using the app")
    yield s.tap("Stop recording")
    yield s.finish()


# AndroidLab's kind

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
def tell_switch_state(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from show_switch(s, p["what"])
    yield s.finish("on" if s.find(SWITCHES[p["what"]][1]).checked else "off")


@expert("SettingsAirplaneMode")
def switch_airplane_mode(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet")
    yield from s.toggle("Airplane mode", p["on_or_off"] == "on")
    yield s.finish()


@expert("SettingsDarkTheme")
def switch_dark_theme(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display")
    yield from s.toggle("Dark theme", p["on_or_off"] == "on")
    yield s.finish()


@expert("SettingsBrightness")
def set_brightness(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display")
    yield s.tap("Brightness level")
    yield slide(s, "Display brightness", p["percent"] / 100)
    yield s.finish()


@expert("SettingsScreenTimeout")
def set_screen_timeout(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Display")
    yield s.tap("Screen timeout")
    yield s.tap(p["choice"])
    yield s.finish()


@expert("SettingsFontSize")
def set_font_size(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    sizes = ("Small", "Default", "Large", "Largest")
    yield from open_page(s, "Display")
    yield s.tap("Font size")
    while shown := sizes.index(p["choice"]) - sizes.index(s.find(lambda e: e.id == "current_label").label):
        yield s.tap("Make larger" if shown > 0 else "Make smaller")
    yield s.finish()


@expert("SettingsRingtone")
def set_ringtone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Sound & vibration")
    yield from s.scroll_to("Phone ringtone")
    yield s.tap("Phone ringtone")
    yield s.tap(p["choice"])
    yield s.finish()


@expert("SettingsLanguage")
def set_language(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "System")
    yield s.tap("Languages")
    yield s.tap(p["choice"])
    yield s.finish()


@expert("SettingsVolume")
def set_volume(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Sound & vibration")
    yield slide(s, f"{p['sound'].capitalize()} volume", 1.0 if p["how"].endswith("up") else 0.0)
    yield s.finish()


@expert("SettingsDeviceName")
def rename_phone(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "About phone")
    yield s.tap("Device name")
    yield from s.refill(lambda e: e.editable, p["name"])
    yield s.tap("OK")
    yield s.finish()


@expert("SettingsJoinNetwork")
def join_network(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "Network & internet")
    yield s.tap("Internet")
    yield s.tap(p["network"])
    yield from s.fill("Password", p["password"])
    yield s.tap("Connect")
    yield s.finish()


@expert("SettingsPercentage")
def tell_percentage(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    row = "Battery"
    yield from s.open("Settings")
    if p["what"] == "screen brightness":
        yield s.tap("Display")
        row = "Brightness level"
    yield s.finish(s.find(row).label.split(", ")[-1])


@expert("SettingsFact")
def tell_fact(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from open_page(s, "About phone")
    title = {"name": "Device name", "model": "Model", "build number": "Build number"}.get(p["what"], p["what"])
    yield from s.scroll_to(title)
    yield s.finish(s.find(title).label.partition(", ")[2])
