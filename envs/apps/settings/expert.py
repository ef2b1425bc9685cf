"""Experts of AndroidWorld's families in Settings, and of those that only open an app or use the camera."""

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
def _switch_wifi(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, p["on_or_off"] == "on")
    yield s.finish()


@expert(
    "SystemBluetoothTurnOn", "SystemBluetoothTurnOff", "SystemBluetoothTurnOnVerify", "SystemBluetoothTurnOffVerify"
)
def _switch_bluetooth(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from bluetooth(s, p["on_or_off"] == "on")
    yield s.finish()


@expert("TurnOffWifiAndTurnOnBluetooth")
def _wifi_off_bluetooth_on(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, False)
    yield s.back()
    yield s.back()
    yield from bluetooth(s, True)
    yield s.finish()


@expert("TurnOnWifiAndOpenApp")
def _wifi_on_open_app(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Settings")
    yield from wifi(s, True)
    yield from s.open(p["app_name"])
    yield s.finish()


@expert("OpenAppTaskEval")
def _open_app(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open(p["app_name"])
    yield s.finish()


@expert("SystemBrightnessMax", "SystemBrightnessMin", "SystemBrightnessMaxVerify", "SystemBrightnessMinVerify")
def _brightness(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    share = 1.0 if p["max_or_min"] == "max" else 0.0
    yield from open_page(s, "Display")
    yield s.tap("Brightness level")
    if s.find("Display brightness").value != f"{round(100 * share)}%":
        yield slide(s, "Display brightness", share)
    yield s.finish()


@expert("CameraTakePhoto")
def _take_photo(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Camera")
    yield s.tap("Shutter")
    yield s.finish()


@expert("CameraTakeVideo")
def _take_video(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Camera")
    yield s.tap("Video")
    yield s.tap("Start recording")
    yield s.tap("While using the app")
    yield s.tap("Stop recording")
    yield s.finish()
