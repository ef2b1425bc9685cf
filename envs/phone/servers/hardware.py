"""An emulator around a phone: messages and calls arrive, the battery drains, the machine is saved and restored.

The emulator's console and its gRPC service are two ways to control it.
"""

from __future__ import annotations

import re
import threading
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from coach_gym.envs.phone.input.fingers import Fingers
from coach_gym.envs.phone.paths import BATTERY_LEVEL
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.phone.services import CallState
from coach_gym.envs.phone.system.bars import battery_level

NUMBER = re.compile(r"[0-9#+*]{1,40}")
"""A telephone number as emulators accept it."""

MOST_SNAPSHOTS = 100


class Hardware:
    """An emulator around a phone. Every method takes the lock.

    Args:
        phone: The phone.
        lock: Held by whoever works the phone; one thread may take it twice.
        name: Name of the virtual device.

    Attributes:
        position: Longitude and latitude in degrees, altitude in metres.
        charging: Whether the battery is charging.
        killed: Set when a client asks for the emulator's end.
        snapshots: Snapshots of the phone, with the phone's time, by name.
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
        """Delivers a text message.

        Raises:
            ValueError: The number is malformed.
        """
        with self.lock:
            telephony.deliver(self.phone, _number(number), text)

    def call(self, number: str) -> None:
        """Lets somebody call the phone.

        Raises:
            ValueError: The number is malformed.
        """
        self._set(_number(number), "incoming")

    def answer(self, number: str) -> None:
        """Answers a call, or takes it off hold.

        Raises:
            KeyError: There is no such call.
        """
        self._set(self._current(number), "active")

    def hold(self, number: str) -> None:
        """Puts a call on hold.

        Raises:
            KeyError: There is no such call.
        """
        self._set(self._current(number), "held")

    def hang_up(self, number: str) -> None:
        """Ends a call.

        Raises:
            KeyError: There is no such call.
        """
        with self.lock:
            del self.phone.services.calls[self._current(number)]

    @property
    def calls(self) -> dict[str, CallState]:
        """The current calls by number: "incoming", "active" or "held"."""
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
        """The charge of the battery in per cent."""
        with self.lock:
            return battery_level(self.phone)

    @battery.setter
    def battery(self, percent: int) -> None:
        with self.lock:
            self.phone.storage.write(BATTERY_LEVEL, b"%d\n" % min(max(0, percent), 100))
            self.phone.changed()

    # the machine

    def save(self, name: str) -> None:
        """Saves the whole phone under a name.

        Raises:
            ValueError: The name is malformed, or there are too many snapshots.
        """
        if not re.fullmatch(r"[\w.-]{1,100}", name):
            raise ValueError("a snapshot's name is of letters, digits, dots and dashes")
        if name not in self.snapshots and len(self.snapshots) >= MOST_SNAPSHOTS:
            raise ValueError(f"there are {MOST_SNAPSHOTS} snapshots already")
        with self.lock:
            self.snapshots[name] = self.phone.snapshot(), self.phone.now

    def load(self, name: str) -> None:
        """Brings the phone back to a snapshot.

        Raises:
            KeyError: There is no such snapshot.
        """
        with self.lock:
            self.phone.restore(self.snapshots[name][0])
            self.fingers = Fingers(self.phone)

    def reboot(self) -> None:
        """Restarts the phone: screens, clipboard, notifications and calls are lost."""
        with self.lock:
            self.phone.restart()
            self.fingers = Fingers(self.phone)

    def delete(self, name: str) -> None:
        """Deletes a snapshot.

        Raises:
            KeyError: There is no such snapshot.
        """
        del self.snapshots[name]


def _number(text: str) -> str:
    if not NUMBER.fullmatch(text):
        raise ValueError("bad phone number format, use digits, # and + only")
    return text
