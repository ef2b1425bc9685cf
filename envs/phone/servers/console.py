"""The emulator's console: commands by the line, as `adb emu` and telnet send them.

    $ adb -s emulator-5554 emu sms send 5551234 'see you at 8'

Like the real emulator it asks for the token in the user's `~/.emulator_console_auth_token`, and creates the file if
it is missing, so that nobody else on the machine can work the phone.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from coach_gym.envs.phone.servers.console_commands import Bye, Commands, Refused
from coach_gym.envs.phone.servers.hardware import Hardware
from coach_gym.envs.phone.servers.http import Stream

TOKEN_FILE = ".emulator_console_auth_token"  # in the user's home
LONGEST_LINE = 64 * 1024

_READY = "Android Console: type 'help' for a list of commands\r\n"
_OPEN = f"Android Console: Authentication not required\r\nOK\r\n{_READY}OK\r\n"
"""Adb prints what follows the second OK; the first answers its token."""


def auth_token(path: Path | None = None) -> str:
    """Returns the token of this user's emulators, created if it is missing. If it cannot be stored, it is secret."""
    path = path or Path.home() / TOKEN_FILE
    try:
        if not path.exists():
            _make_token(path)
        return path.read_text().strip()
    except OSError as error:
        logging.warning("the emulator's console stays shut: %s", error)
        return secrets.token_urlsafe(12)


def _make_token(path: Path) -> None:
    """Creates the file whole or not at all, readable by its user only: several phones may start at once."""
    descriptor, made = tempfile.mkstemp(prefix=TOKEN_FILE, dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(12))
    with suppress(FileExistsError):
        os.link(made, path)
    os.unlink(made)


class Console:
    """The console of one emulator.

    Args:
        hardware: The emulator.
        token: What clients authenticate with; an empty one lets everybody in.
    """

    def __init__(self, hardware: Hardware, token: str) -> None:
        self._hardware, self._token = hardware, token

    def serve(self, stream: Stream) -> None:
        """Talks to one client until it leaves, or sends a line that does not end."""
        session = _Session(self._hardware, self._token)
        stream.sendall((_greeting() if self._token else _OPEN).encode())
        buffer = b""
        while (data := stream.recv(4096)) and len(buffer) <= LONGEST_LINE:
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                try:
                    stream.sendall(session.answer(line.decode("utf-8", "replace").rstrip("\r")).encode())
                except Bye as bye:
                    stream.sendall(str(bye).encode())
                    return


def _greeting() -> str:
    return (
        "Android Console: Authentication required\r\n"
        "Android Console: type 'auth <auth_token>' to authenticate\r\n"
        "Android Console: you can find your <auth_token> in \r\n"
        f"'{Path.home() / TOKEN_FILE}'\r\nOK\r\n"
    )


class _Session:
    """One client, which may have to authenticate first."""

    def __init__(self, hardware: Hardware, token: str) -> None:
        self._token, self._trusted = token, not token
        self._commands = Commands(hardware)

    def answer(self, line: str) -> str:
        """Returns the console's answer to a line."""
        name, _, rest = line.strip().partition(" ")
        if not name:
            return ""
        try:
            if name == "auth":
                return f"{self._auth(rest)}OK\r\n" if self._token else ""
            if not self._trusted and name not in ("help", "h", "?", "quit", "exit"):
                raise Refused("unknown command, try 'help'")
            return f"{self._commands.run(name, rest.strip())}OK\r\n"
        except Refused as error:
            return f"KO: {error}\r\n"

    def _auth(self, given: str) -> str:
        if not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            raise Refused(f"authentication token does not match ~/{TOKEN_FILE}")
        self._trusted = True
        return _READY
