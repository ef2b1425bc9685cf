"""What the system's own windows need of their phone, beyond what apps need."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.notifications import Notification


class SystemHost(Host, Protocol):
    """A phone as its bars, keyboard, notification shade and windows see it.

    Attributes:
        notifications: What the shade lists, the latest first.
        shade: 0 closed, 1 with notifications, 2 with all quick settings; 3 is the power menu.
        keyboard_shown: Whether the soft keyboard is on the screen.
        keyboard: The page of the soft keyboard: "lower", "upper" or "symbols".
        highlight: The number of the view that has the focus by a key.
        editing: Whether the toolbar to cut, copy and paste is shown.
        message: The text at the bottom of the screen, and when it goes away.
    """

    notifications: list[Notification]
    shade: int
    keyboard_shown: bool
    keyboard: str
    highlight: int | None
    editing: bool
    message: tuple[str, datetime] | None

    def running(self, package: str = "", shown: bool = True) -> AbstractContextManager[None]:
        """Runs code of an app, which ends if it fails because its data is damaged."""

    def changed(self) -> None:
        """Notes that something may look different now."""

    def key(self, name: str) -> None:
        """Presses a key such as "DEL"."""

    def go_back(self) -> None:
        """Does what the Back button does."""

    def restart(self) -> None:
        """Restarts: screens, clipboard, notifications and calls are lost."""

    def show_recents(self) -> None:
        """Shows the running apps."""
