"""The apps of the embedded phone, one module each; every module names its `App` class `APP`."""

from __future__ import annotations

from importlib import import_module

from coach_gym.envs.phone.app import App

MODULES: tuple[str, ...] = (
    "expense",
    "recipes",
    "settings",
    "clock",
    "camera",
    "contacts",
    "messages",
    "files",
    "markor",
    "tasks",
    "calendar",
)


def all_apps() -> list[type[App]]:
    """The classes of all installed apps."""
    return [import_module(f"{__name__}.{module}").APP for module in MODULES]
