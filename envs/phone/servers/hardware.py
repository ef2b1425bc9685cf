"""What an emulator does to its phone from outside: messages and calls come in, the battery drains, the machine is
saved and restored. The emulator's console and its gRPC service are two ways to ask for it.
"""

from __future__ import annotations

import re
import threading
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from coach_gym.envs.phone.input.fingers import Fingers
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.phone.services import CallState
from coach_gym.envs.phone.system.bars import BATTERY_LEVEL, battery_level

NUMBER = re.compile(r"[0-9#+*]{1,40}")
"""A telephone number as the emulator takes it."""

MOST_SNAPSHOTS = 100


class Hardware:
    """An emulator around a phone. Every method takes the lock.

    Args:
        phone: the phone.
        lock: held by whoever works the phone; may be taken twice by one thread.
        name: what the virtual device is called.
    """

    def __init__(self, phone: Phone, lock: AbstractContextManager, name: str = "embedded_phone") -> None:
        self.phone, self.lock, self.name = phone, lock, name
        self.fingers = Fingers(phone)
        self.position = (-122.084, 37.422, 5.0)  # longitude, latitude, altitude in metres: where emulators start
        self.charging = True
        self.killed = threading.Event()  # somebody asked for the emulator's end
        self.snapshots: dict[str, tuple[Any, datetime]] = {}

    # telephone

    def receive_message(self, number: str, text: str) -> None:
        """A text message arrives.

        Raises:
            ValueError: The number is none.
        """
        with self.lock:
            telephony.deliver(self.phone, _number(number), text)

    def call(self, number: str) -> None:
        """Somebody calls."""
        self._set(_number(number), "incoming")

    def answer(self, number: str) -> None:
        """A call is answered, or taken back from hold.

        Raises:
            KeyError: There is no such call.
        """
        self._set(self._current(number), "active")

    def hold(self, number: str) -> None:
        self._set(self._current(number), "held")

    def hang_up(self, number: str) -> None:
        with self.lock:
            del self.phone.services.calls[self._current(number)]

    @property
    def calls(self) -> dict[str, CallState]:
        """What the calls of the moment do, by number: "incoming", "active" or "held"."""
        with self.lock:
            return dict(self.phone.services.calls)

    def _current(self, number: str) -> str:
        if number not in self.calls:
            raise KeyError(number)
        return number

    def _set(self, number: str, state: CallState) -> None:
        with self.lock:
            self.phone.services.calls[number] = state

    # battery and place

    @property
    def battery(self) -> int:
        """Charge in per cent."""
        with self.lock:
            return battery_level(self.phone)

    @battery.setter
    def battery(self, percent: int) -> None:
        with self.lock:
            self.phone.storage.write(BATTERY_LEVEL, b"%d\n" % min(max(0, percent), 100))
            self.phone.changed()

    # the machine

    def save(self, name: str) -> None:
        """Keeps the whole phone under a name.

        Raises:
            ValueError: There are too many, or that is no name.
        """
        if not re.fullmatch(r"[\w.-]{1,100}", name):
            raise ValueError("a snapshot's name is of letters, digits, dots and dashes")
        if name not in self.snapshots and len(self.snapshots) >= MOST_SNAPSHOTS:
            raise ValueError(f"there are {MOST_SNAPSHOTS} snapshots already")
        with self.lock:
            self.snapshots[name] = self.phone.snapshot(), self.phone.now

    def load(self, name: str) -> None:
        """Brings the phone back to what was saved.

        Raises:
            KeyError: There is no such snapshot.
        """
        with self.lock:
            self.phone.restore(self.snapshots[name][0])
            self.fingers = Fingers(self.phone)

    def reboot(self) -> None:
        """Starts the phone anew: what was on the screens and in the clipboard is gone."""
        with self.lock:
            phone = self.phone
            for package in list(phone.stacks):
                phone.stop(package)
            phone.notifications.clear()
            phone.clipboard, phone.message, phone.shade = "", None, 0
            phone.go_home()
            self.fingers = Fingers(phone)
            phone.services.calls.clear()

    def delete(self, name: str) -> None:
        """Forgets a snapshot; KeyError if there is none."""
        del self.snapshots[name]


def _number(text: str) -> str:
    if not NUMBER.fullmatch(text):
        raise ValueError("bad phone number format, use digits, # and + only")
    return text
