"""The notification shade with its quick settings."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.settings import whole
from coach_gym.envs.phone.system.host import SystemHost
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Grid,
    Icon,
    ListItem,
    ListView,
    Row,
    Slider,
    Space,
    Text,
)

TILES = (  # label, icon, settings key
    ("Internet", "wifi", "wifi_on"),
    ("Bluetooth", "bluetooth", "bluetooth_on"),
    ("Airplane mode", "airplane", "airplane_mode_on"),
    ("Do Not Disturb", "minus_circle_outline", "zen_mode"),
    ("Battery Saver", "battery_plus_outline", "low_power"),
    ("Mobile data", "swap_vertical", "mobile_data"),
)
BRIGHTEST = 255


def build(phone: SystemHost) -> View:
    """Returns the shade: four tiles and the notifications, or all tiles and the brightness slider."""
    tiles = TILES if phone.shade == 2 else TILES[:4]
    top: list[View] = [Text(phone.local(phone.now).strftime("%a, %b %-d"), 14, pad=(4, 2, 4, 6))]
    if phone.shade == 2:
        top.append(_brightness(phone))
    top.append(Grid([_tile(phone, *tile) for tile in tiles], 2, gap=8))
    packages = dict.fromkeys(notification.package for notification in phone.notifications)
    groups = [_group(phone, package) for package in packages]
    clear = [Button("Clear all", partial(_clear, phone), "dismiss_text", "text")] if groups else []
    parts = [Column(top, pad=(12, 6, 12, 12), gap=6), ListView([*groups, *clear], "shade")]
    return Column(parts, bg=theme.SURFACE_VARIANT, on_swipe=partial(_swiped, phone), on_tap=_nothing)


def _tile(phone: SystemHost, label: str, icon: str, key: str) -> View:
    on = phone.storage.settings.get(("global", key), "0") != "0"
    color = theme.ON_PRIMARY if on else theme.TEXT
    parts = [Icon(icon, 20, color), Text(label, 13, color, max_lines=1, important=False, flex=1)]
    return View(
        "android.widget.Switch", parts, axis="h", align="center", gap=10, pad=(14, 14, 10, 14), radius=24, desc=label,
        bg=theme.PRIMARY if on else theme.SURFACE, checkable=True, checked=on, on_tap=partial(toggle, phone, key),
    )  # fmt: skip


def toggle(phone: Host, key: str) -> None:
    """Turns a global setting on or off. Airplane mode turns Wi-Fi and Bluetooth off, and back on as they were."""
    settings = phone.storage.settings
    on = settings.get(("global", key), "0") == "0"
    settings["global", key] = "1" if on else "0"
    if key == "airplane_mode_on":
        for radio in ("wifi_on", "bluetooth_on"):
            if on:
                settings["global", f"{radio}_before_airplane"] = settings.get(("global", radio), "0")
                settings["global", radio] = "0"
            else:
                settings["global", radio] = settings.pop(("global", f"{radio}_before_airplane"), "0")


def _brightness(phone: SystemHost) -> View:
    level = brightness(phone) / BRIGHTEST
    return Slider(level, partial(set_brightness, phone), "Display brightness", "brightness_slider")


def brightness(phone: Host) -> int:
    """Returns the brightness from 0 to `BRIGHTEST`."""
    return whole(phone.storage.settings, "system", "screen_brightness", 102, BRIGHTEST)


def set_brightness(phone: Host, share: float) -> None:
    """Sets the brightness to a share of the maximum; Android's minimum is 1."""
    phone.storage.settings["system", "screen_brightness"] = str(max(1, round(share * BRIGHTEST)))


def _group(phone: SystemHost, package: str) -> View:
    """Returns an app's notifications below its name, the latest first."""
    rows = [_row(phone, notification) for notification in phone.notifications if notification.package == package]
    heading = Row([Text(_sender(phone, package)[0], 12, theme.SECONDARY), Space(flex=1)], pad=(16, 4, 16, 0))
    return Column([heading, *rows], bg=theme.SURFACE, radius=16)


def _row(phone: SystemHost, notification: Notification) -> View:
    _, icon, color = _sender(phone, notification.package)
    when = Text(phone.local(notification.when).strftime("%H:%M"), 12, theme.SECONDARY)
    return ListItem(
        notification.title, notification.text, partial(_open, phone, notification),
        leading=Icon(icon, 24, color), trailing=when,
        on_swipe=partial(_dismiss, phone, notification),
    )  # fmt: skip


def _sender(phone: SystemHost, package: str) -> tuple[str, str, str]:
    """Returns the name, icon and colour of who has posted a notification: an app, or the shell."""
    app = phone.apps.get(package)
    return (app.label, app.icon, app.color) if app is not None else ("Shell", "console", theme.SECONDARY)


def _open(phone: SystemHost, notification: Notification) -> None:
    if notification.package not in phone.apps:  # nothing opens, as on Android
        return
    phone.notifications.remove(notification)
    phone.launch(notification.package)
    if notification.then is not None:
        notification.then()


def _dismiss(phone: SystemHost, notification: Notification, way: str) -> None:
    if way in ("left", "right"):
        phone.notifications.remove(notification)
    else:
        _swiped(phone, way)


def _clear(phone: SystemHost) -> None:
    phone.notifications.clear()


def _swiped(phone: SystemHost, way: str) -> None:
    if way == "down":
        phone.shade = 2
    elif way == "up":
        phone.shade = phone.shade - 1


def _nothing() -> None:
    """Absorbs touches beside the parts of the shade."""
