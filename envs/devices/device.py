"""What an environment needs of a device, whichever kind it is."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

import numpy as np

from coach_gym.actions import Action
from coach_gym.ui import Node


class Device(Protocol):
    """A phone under control: its screen, its touch, and the state that checks read.

    Paths are absolute Android paths (``/sdcard/...``, ``/data/data/<package>/...``). Any method may raise
    when the device fails; the environment turns that into a fault and never into a reward.
    """

    @property
    def name(self) -> str:
        """Which device this is, as it appears in ``info["device"]``."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen in pixels."""

    @property
    def now(self) -> datetime:
        """The device's own clock, without time zone."""

    @property
    def foreground(self) -> str:
        """Package of the app in front."""

    def screenshot(self) -> np.ndarray:
        """The screen as a new (height, width, 3) uint8 array."""

    def ui(self) -> Node:
        """Root of the accessibility tree of what the screen shows."""

    def perform(self, action: Action) -> None:
        """Carry out one action and let the screen come to rest.

        Raises:
            ActionError: The action cannot be carried out here, e.g. an app that is not installed. The
                agent reads the message; the episode goes on.
        """

    def read(self, path: str) -> bytes | None:
        """Content of a file, or None if there is none."""

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        """Write a file, with the folders above it; last changed at ``modified``, or now."""

    def remove(self, path: str) -> None:
        """Remove a file or a folder with all it holds; nothing happens if there is none."""

    def listdir(self, path: str) -> list[str]:
        """Sorted names in a folder; empty if there is no such folder."""

    def database(self, path: str) -> AbstractContextManager[sqlite3.Connection]:
        """An SQLite file, open for the length of a ``with`` block and committed at its end."""

    def get_setting(self, namespace: str, key: str) -> str | None:
        """A value of Android's settings; namespace is system, secure or global."""

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        """Set a value of Android's settings, as its Settings app would."""

    def get_clipboard(self) -> str:
        """The text that a paste would insert."""

    def put_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard."""

    def reset_state(self) -> None:
        """Put the device back into its initial state, with the home screen in front."""

    def close(self) -> None:
        """Release the device. Closing twice is allowed."""
