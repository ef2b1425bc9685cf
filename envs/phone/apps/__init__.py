"""The apps of the embedded phone, one module each; every module names its `App` class `APP`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from coach_gym.envs.phone.app import App

MODULES = (
    "recipes", "camera", "clock", "contacts", "files", "markor", "expense", "settings", "calendar", "messages", "tasks",
    "zoom", "bluecoins", "gallery", "draw", "recorder", "vlc", "retro", "opentracks", "joplin", "osmand", "pimusic",
    "cantook", "chrome", "mapsme", "dialer", "clipper",
)  # fmt: skip
"""In the order in which the home screen shows them."""


LAB_MODULES = (
    "lab_clock", "lab_contacts", "dialer", "lab_messages", "lab_settings", "lab_calendar", "zoom", "bluecoins",
    "pimusic", "cantook", "mapsme",
)  # fmt: skip
"""Of the phone that AndroidLab's tasks run on."""


def all_apps(modules: Sequence[str] = MODULES) -> list[type[App]]:
    """The classes of the apps in some modules."""
    return [import_module(f"{__name__}.{module}").APP for module in modules]
