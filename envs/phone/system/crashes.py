"""What Android shows when an app fails: the app has ended, and a dialog says so."""

from __future__ import annotations

from collections.abc import Sequence

from coach_gym.envs.phone.app import App, Dialog
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Button, Column


class Stopped(Exception):
    """An app has failed while it was starting, and is no longer there to go on with."""


class KeepsStopping(Dialog):
    """Android's message that an app has failed."""

    window_package = "android"
    cancelable = False

    def __init__(self, failed: App) -> None:
        super().__init__(f"{failed.label} keeps stopping")
        self.failed = failed.package
        self.window = f"Application Error: {failed.package}"

    def on_back(self) -> bool:
        """Stays until it is answered."""
        return True

    def content(self) -> Sequence[View]:
        """Returns the two things that one can do about it."""
        info = Button("App info", self.closing(self._show_info), "aerr_app_info", "text")
        return [Column([info, Button("Close app", self.closing(), "aerr_close", "text")], pad=(8, 0, 8, 8))]

    def _show_info(self) -> None:
        self.phone.start(Intent("android.settings.APPLICATION_DETAILS_SETTINGS", f"package:{self.failed}"))
