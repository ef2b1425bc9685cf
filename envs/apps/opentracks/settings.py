"""OpenTracks' settings: the units, and how speeds are told."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.apps.opentracks import data
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.app import Choice, Screen
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Header, Icon, ListItem, ListView, Scaffold

_DEFAULTS = "Default Units and Activity"


class Settings(Screen):
    """The groups of settings."""

    activity = f"{data.PACKAGE}.settings.SettingsActivity"

    def build(self) -> View:
        """Lists the only group."""
        units = ListItem(_DEFAULTS, "Preferred Units", lambda: self.push(Defaults()), leading=Icon("ruler"))
        return Scaffold("Settings", ListView([units]), self.pop)


class Defaults(Screen):
    """The units for distances, and whether speeds or paces are told."""

    activity = Settings.activity

    def build(self) -> View:
        """Lists the settings with what is chosen."""
        rows = [
            Header("Units"),
            ListItem("Preferred units", self._units, self._choose_units),
            ListItem("Preferred rate", self._rate, self._choose_rate),
        ]
        return Scaffold(_DEFAULTS, ListView(rows), self.pop)

    @property
    def _units(self) -> str:
        return data.units_of(self.phone.storage).title

    @property
    def _rate(self) -> str:
        return data.RATES[data.rate_of(self.phone.storage)]

    def _choose_units(self) -> None:
        keys = {units.title: key for key, units in data.UNITS.items()}
        self.push(Choice("Preferred units", list(keys), partial(self._set, data.UNITS_KEY, keys), self._units))

    def _choose_rate(self) -> None:
        keys = {title: key for key, title in data.RATES.items()}
        self.push(Choice("Preferred rate", list(keys), partial(self._set, data.RATE_KEY, keys), self._rate))

    def _set(self, key: str, values: dict[str, str], title: str) -> None:
        preferences.update(self.phone.storage, data.SETTINGS, {key: values[title]})
