"""Experts of AndroidWorld's families in Settings, and of those that only open an app or use the camera."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

WIFI = "Wi\u2011Fi"


def open_page(s: Screen, *path: str) -> Iterator[str]:
    """Opens Settings and a page in it by the rows that lead there."""
    yield from s.open("Settings")
    yield from s.follow(*path)


def toggle_row(s: Screen, label: str, on: bool, *path: str) -> Iterator[str]:
    """Switches something on or off, on the page to which the rows of a path lead."""
    yield from open_page(s, *path)
    yield from s.scroll_to(label)
    yield from s.toggle(label, on)


def wifi(s: Screen, on: bool) -> Iterator[str]:
    """Switches Wi-Fi, from the main list of Settings."""
    yield from s.follow("Network & internet", "Internet")
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
def _switch_wifi(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, p["on_or_off"] == "on")


@expert(
    "SystemBluetoothTurnOn", "SystemBluetoothTurnOff", "SystemBluetoothTurnOnVerify", "SystemBluetoothTurnOffVerify"
)
def _switch_bluetooth(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from bluetooth(s, p["on_or_off"] == "on")


@expert("TurnOffWifiAndTurnOnBluetooth")
def _wifi_off_bluetooth_on(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, False)
    yield s.back()
    yield s.back()
    yield from bluetooth(s, True)


@expert("TurnOnWifiAndOpenApp")
def _wifi_on_open_app(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, True)
    yield from s.open(p["app_name"])


expert("OpenAppTaskEval")(lambda s, p: s.open(p["app_name"]))


@expert("SystemBrightnessMax", "SystemBrightnessMin", "SystemBrightnessMaxVerify", "SystemBrightnessMinVerify")
def _brightness(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    share = 1.0 if p["max_or_min"] == "max" else 0.0
    yield from open_page(s, "Display", "Brightness level")
    if s.find("Display brightness").value != f"{round(100 * share)}%":
        yield slide(s, "Display brightness", share)


@expert("CameraTakePhoto")
def _take_photo(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Camera")
    yield s.tap("Shutter")


@expert("CameraTakeVideo")
def _take_video(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Camera")
    yield from s.follow("Video", "Start recording", "While using the app", "Stop recording")
