"""The embedded phone as a device, in the same process."""

from __future__ import annotations

import copy
import sqlite3
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, Self

import numpy as np

from coach_gym.actions import Action, ActionError
from coach_gym.envs.devices.gestures import DRAG, WAIT, scroll_end
from coach_gym.envs.phone import shell
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.profiles import ANDROID_WORLD, Profile
from coach_gym.ui import Node


class PhoneDevice:
    """An embedded Android phone.

    Args:
        width: Screen width in pixels.
        height: Screen height in pixels.
        profile: Which apps it has.
    """

    name = "embedded phone"

    def __init__(self, width: int = 1080, height: int = 2400, profile: Profile = ANDROID_WORLD) -> None:
        self.phone: Phone = profile.phone(width, height)
        self._fresh = self.phone.snapshot()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen in pixels."""
        return self.phone.width, self.phone.height

    @property
    def now(self) -> datetime:
        """Time on the phone's own clock."""
        return self.phone.now

    @property
    def foreground(self) -> str:
        """Package of the app in front."""
        return self.phone.foreground

    def screenshot(self) -> np.ndarray:
        """Returns the screen as a new (height, width, 3) uint8 array."""
        return self.phone.screenshot()

    def ui(self) -> Node:
        """Returns the root of the screen's accessibility tree."""
        return self.phone.ui()

    def perform(self, action: Action) -> None:
        """Carries out an action. See `Device.perform`."""
        phone, start = self.phone, action.start or (0, 0)
        match action.kind:
            case "click":
                phone.tap(*start)
            case "long_press":
                phone.long_press(*start)
            case "scroll":
                phone.swipe(start, scroll_end(action, self.size))
            case "drag":
                phone.swipe(start, action.end or start, DRAG)
            case "type":
                if action.start is not None:
                    phone.tap(*action.start)
                phone.type(action.content)
            case "open_app":
                self._open(action.content)
            case "press_back" | "press_home" | "press_enter":
                phone.key(action.kind.removeprefix("press_").upper())
            case "wait":
                phone.elapse(timedelta(seconds=WAIT))

    def _open(self, label: str) -> None:
        app = self.phone.app_named(label)
        if app is None:
            names = ", ".join(sorted(app.label for app in self.phone.apps.values()))
            raise ActionError(f"There is no app named {label[:60]!r}. Installed are: {names}.")
        with self.phone.running():
            self.phone.launch(app.package)
        self.phone.elapse(timedelta(seconds=1))

    def shell(self, command: str) -> str:
        """Runs a command line in the phone's shell, as root, and returns what it prints."""
        return shell.run(self.phone, command, merged=True).stdout.decode(errors="replace")

    # state

    def read(self, path: str) -> bytes | None:
        """Returns the content of a file, or None if it does not exist."""
        return self.phone.storage.read(real(path))

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        """Writes a file, creating its folders."""
        self.phone.storage.write(real(path), data, modified)
        self.phone.changed()

    def remove(self, path: str) -> None:
        """Removes a file, or a folder with its contents, if it exists."""
        self.phone.storage.remove(real(path))
        self.phone.changed()

    def listdir(self, path: str) -> list[str]:
        """Returns the sorted names in a folder; an empty list if it does not exist."""
        return self.phone.storage.listdir(real(path))

    def database(self, path: str) -> AbstractContextManager[sqlite3.Connection]:
        """Opens an SQLite file for the length of a `with` block."""
        self.phone.changed()
        return self.phone.storage.session(real(path))

    def get_setting(self, namespace: str, key: str) -> str | None:
        """Returns a value of Android's settings, or None."""
        return self.phone.storage.settings.get((namespace, key))

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        """Sets a value of Android's settings."""
        self.phone.storage.settings[namespace, key] = value
        self.phone.changed()

    def get_clipboard(self) -> str:
        """Returns the text that pasting would insert."""
        return self.phone.clipboard

    def put_clipboard(self, text: str) -> None:
        """Copies a text to the clipboard."""
        self.phone.clipboard = text

    def reset_state(self) -> None:
        """Returns the phone to its initial state."""
        self.phone.restore(self._fresh)

    def snapshot(self) -> Any:
        """Returns the phone's state. See `ForkableDevice`."""
        return self.phone.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Returns exactly to a snapshot of this phone."""
        self.phone.restore(snapshot)

    def fork(self) -> Self:
        """Returns another phone in the same state."""
        twin = copy.copy(self)
        twin.phone = self.phone.fork()
        return twin

    def digest(self) -> str:
        """Returns a hash of the phone's state. See `ForkableDevice`."""
        return self.phone.digest()

    def close(self) -> None:
        """Does nothing: there is nothing to release."""
