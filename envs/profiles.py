"""The apps of the embedded phone, one module each; every module names its `App` class `APP`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from coach_gym.envs.phone.app import App
from coach_gym.envs.phone.phone import Phone

MODULES = (
    "recipes.app", "camera.app", "clock.app", "contacts.app", "files.app", "markor.app", "expense.app",
    "settings.app", "calendar.app", "messages.app", "tasks.app", "zoom.app", "bluecoins.app", "gallery.app",
    "draw.app", "recorder.app", "vlc.app", "retro.app", "opentracks.app", "joplin.app", "osmand.app",
    "pimusic.app", "cantook.app", "chrome.app", "mapsme.app", "dialer.app", "clipper.app",
)  # fmt: skip
"""In the order in which the home screen shows them."""

LAB_MODULES = (
    "clock.lab", "contacts.lab", "dialer.app", "google_messages.app", "settings.lab", "calendario.app", "zoom.app",
    "bluecoins.app", "pimusic.app", "cantook.app", "mapsme.app",
)  # fmt: skip
"""Of the phone that AndroidLab's tasks run on."""


def all_apps(modules: Sequence[str] = MODULES) -> list[type[App]]:
    """The classes of the apps in some modules."""
    return [import_module(f"coach_gym.envs.apps.{module}").APP for module in modules]


def world_phone(width: int = 1080, height: int = 2400, density: float | None = None) -> Phone:
    """Returns AndroidWorld's phone: an embedded phone with its apps. See `Phone` for the arguments."""
    return Phone(width, height, density, all_apps(MODULES))


def lab_phone(width: int = 1080, height: int = 2400, density: float | None = None) -> Phone:
    """Returns AndroidLab's phone: an embedded phone with its apps. See `Phone` for the arguments."""
    return Phone(width, height, density, all_apps(LAB_MODULES))
