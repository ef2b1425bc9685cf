"""What the screens of the Clock app have in common."""

from __future__ import annotations

from coach_gym.envs.apps.clock.data import PREFERENCES
from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.preferences import Value, load, update
from coach_gym.envs.phone.toolkit.view import View


class ClockScreen(Screen):
    """A screen that reads and changes the app's preferences."""

    @property
    def preferences(self) -> dict[str, Value]:
        """The app's preferences."""
        return load(self.phone.storage, PREFERENCES)

    def prefer(self, key: str, value: Value) -> None:
        """Changes one of the app's preferences."""
        update(self.phone.storage, PREFERENCES, {key: value})


class Tab(ClockScreen):
    """A tab, which may have a button of its own at the bottom."""

    def fab(self) -> View | None:
        """The floating button, or None."""
        return None
