"""Kinds of embedded phones: AndroidWorld's and AndroidLab's, each a list of apps with their data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coach_gym.envs.phone.app import App, Host
    from coach_gym.envs.phone.phone import Phone

OUR_APPS = "coach_gym.envs.apps"


@dataclass(frozen=True)
class Profile:
    """A kind of embedded phone.

    Attributes:
        name: Name in messages.
        modules: Modules of the apps, in the order in which the home screen shows them. In each, `APP` makes the app
            from its phone: it is an `App` class, or one with its data, such as `partial(Clock, edition=...)`.
    """

    name: str
    modules: tuple[str, ...]

    def phone(self, width: int = 1080, height: int = 2400, density: float | None = None) -> Phone:
        """Makes a phone with these apps. See `Phone` for the arguments."""
        from coach_gym.envs.phone.phone import Phone  # not before it is needed: listing environments must stay cheap

        return Phone(width, height, density, self.apps())

    def apps(self) -> list[Callable[[Host], App]]:
        """Imports the apps."""
        return [import_module(module).APP for module in self.modules]

    @property
    def packages(self) -> list[str]:
        """Packages of the apps: each holds everything of its app, experts included."""
        return [module.rpartition(".")[0] for module in self.modules]

    def with_apps(self, packages: Iterable[str]) -> Profile:
        """Returns this profile with the apps of further packages, each in a module `app`."""
        return replace(self, modules=(*self.modules, *(f"{package}.app" for package in packages)))


def _ours(*modules: str) -> tuple[str, ...]:
    return tuple(f"{OUR_APPS}.{module}" for module in modules)


ANDROID_WORLD = Profile("android_world", _ours(
    "recipes.app", "camera.app", "clock.app", "contacts.app", "files.app", "markor.app", "expense.app",
    "settings.app", "calendar.app", "messages.app", "tasks.app", "zoom.app", "bluecoins.app", "gallery.app",
    "draw.app", "recorder.app", "vlc.app", "retro.app", "opentracks.app", "joplin.app", "osmand.app",
    "pimusic.app", "cantook.app", "chrome.app", "mapsme.app", "dialer.app", "clipper.app",
))  # fmt: skip
"""The phone that AndroidWorld's tasks run on."""

ANDROID_LAB = Profile("android_lab", _ours(
    "clock.lab", "contacts.lab", "dialer.app", "google_messages.app", "settings.lab", "calendario.app", "zoom.app",
    "bluecoins.app", "pimusic.app", "cantook.app", "mapsme.app", "files.app", "markor.app",
))  # fmt: skip
"""The phone that AndroidLab's tasks run on: another Clock, Contacts, Settings and calendar, and no browser."""


def world_phone(width: int = 1080, height: int = 2400, density: float | None = None) -> Phone:
    """Returns AndroidWorld's phone: an embedded phone with its apps. See `Phone` for the arguments."""
    return ANDROID_WORLD.phone(width, height, density)


def lab_phone(width: int = 1080, height: int = 2400, density: float | None = None) -> Phone:
    """Returns AndroidLab's phone: an embedded phone with its apps. See `Phone` for the arguments."""
    return ANDROID_LAB.phone(width, height, density)
