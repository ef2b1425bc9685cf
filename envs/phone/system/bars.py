"""The status bar and the navigation bar."""

from __future__ import annotations

from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.paths import BATTERY_LEVEL
from coach_gym.envs.phone.system.host import SystemHost
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Icon, Row, Space, Text

STATUS_HEIGHT = 26  # dp
NAVIGATION_HEIGHT = 44  # dp


def status_key(phone: SystemHost) -> tuple:
    """Returns everything that the status bar depends on."""
    on = tuple(phone.storage.settings.get(("global", name)) for name in ("wifi_on", "bluetooth_on", "airplane_mode_on"))
    percent = phone.storage.settings.get(("system", "status_bar_show_battery_percent")) == "1"
    return phone.local(phone.now).strftime("%H:%M"), on, bool(phone.notifications), battery_level(phone), percent


def battery_level(phone: Host) -> int:
    """Returns the charge of the battery in per cent."""
    return int(phone.services.battery.get("level") or phone.storage.read(BATTERY_LEVEL) or 100)


def status(phone: SystemHost) -> View:
    """Returns the status bar. Swiping it down opens the notification shade."""
    clock, (wifi, bluetooth, airplane), notified, level, percent = status_key(phone)
    icons = [Icon("bell_outline", 14, theme.TEXT, "New notification")] if notified else []
    icons += [Icon("bluetooth", 14, theme.TEXT, "Bluetooth on.")] if bluetooth == "1" else []
    icons += [Icon("airplane", 14, theme.TEXT, "Airplane mode.")] if airplane == "1" else []
    icons += [Icon("wifi", 14, theme.TEXT, "Wifi signal full.")] if wifi != "0" else []
    icons += [Text(f"{level}%", 12, id="battery_percentage_view")] if percent else []
    icons += [Icon("battery", 14, theme.TEXT, f"Battery {level} percent.")]
    left = [Text(clock, 13, bold=True, id="clock"), Space(flex=1)]

    def swiped(way: str) -> None:
        if way == "down":
            phone.shade = 1

    return Row([*left, *icons], gap=4, pad=(14, 2, 14, 2), bg=theme.SURFACE_VARIANT, on_swipe=swiped)


def navigation(phone: SystemHost) -> View:
    """Returns the bar with Back, Home and Overview."""
    buttons = [
        _button("triangle_outline", "Back", "back", phone.go_back),
        _button("circle_outline", "Home", "home", phone.go_home),
        _button("square_outline", "Overview", "recent_apps", phone.show_recents),
    ]
    return Row([Space(flex=1), *buttons, Space(flex=1)], gap=54, bg=theme.SURFACE_VARIANT)


def _button(icon: str, desc: str, id: str, on_tap) -> View:
    return View(
        "android.widget.ImageView", icon=icon, desc=desc, id=id, on_tap=on_tap, size=16, width=44, height=44,
        color=theme.TEXT,
    )  # fmt: skip
