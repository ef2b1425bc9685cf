"""The apps of the embedded phone, one module each; every module names its `App` class `APP`."""

from __future__ import annotations

from importlib import import_module

from coach_gym.envs.phone.app import App

MODULES = (
    "recipes", "camera", "clock", "contacts", "files", "markor", "expense", "settings", "calendar", "messages", "tasks",
    "zoom", "gallery", "opentracks",
)  # fmt: skip
"""In the order in which the home screen shows them."""


def all_apps() -> list[type[App]]:
    """The classes of all installed apps."""
    return [import_module(f"{__name__}.{module}").APP for module in MODULES]
