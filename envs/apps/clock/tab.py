"""What the tabs of the Clock app have in common."""

from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.toolkit.view import View


class Tab(Screen):
    """A tab, which may have a button of its own at the bottom."""

    def fab(self) -> View | None:
        """The floating button, or None."""
        return None
