"""The interface of a device, which all kinds of phones share."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from coach_gym.actions import Action
from coach_gym.ui import Node


class Device(Protocol):
    """A phone under control: its screen, its touch, and the state that checks read.

    Paths are absolute Android paths (`/sdcard/...`, `/data/data/<package>/...`). Any method may raise when the device
    fails; the environment turns that into a fault, never into a reward. An environment calls one method at a time, and
    all in one thread except `screenshot` and `ui`, each of which has a thread of its own so that it can be given up.
    """

    @property
    def name(self) -> str:
        """Name of the device, as `info["device"]` reports it."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen in pixels."""

    @property
    def now(self) -> datetime:
        """Time on the device's own clock, without time zone."""

    @property
    def foreground(self) -> str:
        """Package of the app in front."""

    def screenshot(self) -> np.ndarray:
        """Returns the screen as a new (height, width, 3) uint8 array."""

    def ui(self) -> Node:
        """Returns the root of the screen's accessibility tree."""

    def perform(self, action: Action) -> None:
        """Carries out an action and waits until the screen is at rest.

        Raises:
            ActionError: The device cannot carry out the action, for example because an app is not installed. The agent
                reads the message, and the episode continues.
        """

    def shell(self, command: str) -> str:
        """Runs a command line in the device's shell, as root where possible, and returns what it prints.

        Both output streams are returned together, whatever the exit code. Never pass text from a model or a task.
        """

    def read(self, path: str) -> bytes | None:
        """Returns the content of a file, or None if it does not exist."""

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        """Writes a file, creating its folders; its modification time is `modified`, by default now."""

    def remove(self, path: str) -> None:
        """Removes a file, or a folder with its contents, if it exists."""

    def listdir(self, path: str) -> list[str]:
        """Returns the sorted names in a folder; an empty list if it does not exist."""

    def database(self, path: str) -> AbstractContextManager[sqlite3.Connection]:
        """Opens an SQLite file for the length of a `with` block and commits at its end."""

    def get_setting(self, namespace: str, key: str) -> str | None:
        """Returns a value of Android's settings, or None; the namespace is system, secure or global."""

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        """Sets a value of Android's settings, as the Settings app would."""

    def get_clipboard(self) -> str:
        """Returns the text that pasting would insert."""

    def put_clipboard(self, text: str) -> None:
        """Copies a text to the clipboard."""

    def reset_state(self) -> None:
        """Returns the device to its initial state, with the home screen in front."""

    def close(self) -> None:
        """Releases the device. Closing twice is allowed."""


@runtime_checkable
class Forkable(Protocol):
    """What can be kept, brought back and doubled with its whole state, at any time and exactly.

    `isinstance` asks for these methods alone: it may read the properties that a protocol has, and those of a device
    that has failed may raise.
    """

    def snapshot(self) -> Any:
        """Returns the state, for `restore`."""

    def restore(self, snapshot: Any) -> None:
        """Returns exactly to a snapshot of this device, as often as wanted."""

    def fork(self) -> Self:
        """Returns another device in the same state. From then on neither influences the other."""

    def digest(self) -> str:
        """Returns a hash of the whole state: the same exactly for the same state."""


class ForkableDevice(Device, Forkable, Protocol):
    """A device that is `Forkable`."""


@runtime_checkable
class LentDevice(Protocol):
    """A device that goes back to an owner, who repairs it.

    Attributes:
        lent: The device itself. From Python 3.12 on, `isinstance` does not see what a loan only passes through.
    """

    lent: Device

    def blame(self, error: Exception) -> None:
        """Tells of a failure that the device did not raise itself, such as no answer or a picture that is none."""
