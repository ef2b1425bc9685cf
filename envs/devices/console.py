"""The console of an Android emulator on this computer: it takes a line and answers with lines up to OK or KO."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from coach_gym.envs.devices.adb import failures
from coach_gym.envs.errors import DeviceError

TIMEOUT = 60.0  # loading a snapshot takes seconds
TOKEN_FILE = ".emulator_console_auth_token"  # in the home folder, written by the emulator


class Console:
    """A connection to an emulator's console.

    Args:
        port: The console's port, such as 5554 for `emulator-5554`.

    Raises:
        DeviceError: Nothing answers on the port, or the console refuses the token in the home folder.
    """

    def __init__(self, port: int) -> None:
        self.name = f"console of emulator-{port}"
        with failures(self.name, "connect"):
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        self._lines = self._socket.makefile("r", encoding="utf-8", errors="replace", newline="\n")
        if "authenticat" in self._answer("connect"):
            token = Path.home() / TOKEN_FILE
            self.command(f"auth {token.read_text().strip() if token.exists() else ''}")

    @classmethod
    def of(cls, serial: str) -> Console:
        """Connects to the console of the emulator with a serial number.

        Raises:
            DeviceError: The serial number is not that of a local emulator.
        """
        found = re.fullmatch(r"emulator-([0-9]+)", serial)
        if found is None:
            raise DeviceError(f"{serial} has no console: only emulators on this computer (emulator-PORT) have one")
        return cls(int(found[1]))

    def command(self, line: str) -> str:
        """Sends a command and returns the answer.

        Raises:
            DeviceError: The console refuses the command or does not answer.
        """
        with failures(self.name, line.split()[0]):
            self._socket.sendall(f"{line}\n".encode())
        return self._answer(line)

    def _answer(self, asked: str) -> str:
        text = ""
        with failures(self.name, asked):
            for line in self._lines:
                if line.startswith("OK"):
                    return text
                if line.startswith("KO"):
                    raise DeviceError(f"{self.name}: {asked.split()[0]}: {line.strip()}")
                text += line
            raise EOFError("the console hung up")

    def close(self) -> None:
        """Closes the connection."""
        self._lines.close()
        self._socket.close()
