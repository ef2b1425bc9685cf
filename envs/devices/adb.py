"""One Android device behind an adb server: shell, files, sockets.

What adbutils leaves open is closed here: every call ends within a time limit, every failure is a
:class:`~coach_gym.envs.errors.DeviceError`, no word of a command is ever read by the device's shell.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException
from typing import Any, NamedTuple

import adbutils
from uiautomator2.exceptions import BaseException as UiautomatorError

from coach_gym.envs.errors import DeviceError

DEFAULT_SERVER_PORT = 5037
TIMEOUT = 30.0  # of every answer; a healthy device is a hundred times faster
CONNECT_TIMEOUT = 20.0
_CHUNK = 64 * 1024  # the most that adb's sync protocol takes at once
_EMULATOR = re.compile(r"emulator-([0-9]{4,5})")
_FAILURES = (
    adbutils.AdbError, UiautomatorError, OSError, EOFError, HTTPException, subprocess.SubprocessError, struct.error,
    ValueError, AssertionError,
)  # fmt: skip


class Stat(NamedTuple):
    """Mode, size in bytes and seconds since 1970 of a file. Mode 0 means that there is none."""

    mode: int
    size: int
    modified: int

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)


class Output(NamedTuple):
    """What a command printed, on both streams together, and its exit code."""

    text: str
    code: int


@contextmanager
def failures(serial: str, doing: str) -> Iterator[None]:
    """Whatever goes wrong between here and the device becomes a DeviceError."""
    try:
        yield
    except _FAILURES as error:
        kind = "no answer in time" if isinstance(error, TimeoutError | adbutils.AdbTimeout) else type(error).__name__
        raise DeviceError(f"{serial}: {doing}: {kind}: {error}") from error


class _Connection(adbutils.AdbConnection):
    """A connection to the adb server, without adbutils' remedy for a server that does not answer.

    That is to start one on adb's own port, whichever port was asked, where it takes emulators from other servers.
    """

    def _safe_connect(self) -> socket.socket:
        return self._create_socket()

    def close(self) -> None:
        """Closes without adbutils' pause of 10 ms: whatever was asked has been answered by then."""
        if not self.closed:
            with suppress(OSError):
                self.conn.shutdown(socket.SHUT_WR)
            self.conn.close()
            self._AdbConnection__conn = None  # what `closed` looks at


class Client(adbutils.AdbClient):
    """An adb server of this computer, whose every answer has a time limit."""

    def __init__(self, port: int) -> None:
        super().__init__("127.0.0.1", port)

    def make_connection(self, timeout: float | None = None) -> adbutils.AdbConnection:
        connection = _Connection(self.host, self.port)
        connection.conn.settimeout(timeout or TIMEOUT)
        return connection


class PromptDevice(adbutils.AdbDevice):
    """adbutils' device, whose sockets send small writes at once and give up waiting.

    uiautomator2 sends an HTTP request's header and body in two writes. Without TCP_NODELAY the second waits for
    the acknowledgement of the first: 60 ms a call instead of 19.
    """

    def open_transport(self, command: str | None = None, timeout: float | None = None) -> adbutils.AdbConnection:
        """A connection to the device, or the answer to a command about it. It does not ask for the server's version
        every time: all since 2019 understand this."""
        connection = self._client.make_connection(min(timeout or TIMEOUT, TIMEOUT))
        try:
            service = f"host-serial:{self.serial}:{command}" if command else f"host:tport:serial:{self.serial}"
            connection.send_command(service)
            connection.check_okay()
            if not command:
                connection.read_exact(8)  # the transport's number
        except BaseException:
            connection.close()
            raise
        return connection

    def create_connection(self, network: adbutils.Network, address: int | str) -> socket.socket:
        connection = super().create_connection(network, address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def shell(self, cmdargs: Any, stream: bool = False, timeout: float | None = None, **kwargs: Any) -> Any:  # type: ignore[override]
        if not stream:
            return super().shell(cmdargs, timeout=min(timeout or TIMEOUT, TIMEOUT), **kwargs)
        connection = super().shell(cmdargs, stream=True)
        connection.conn.settimeout(None)  # it lives as long as the command, which may have nothing to say
        return connection


class Adb:
    """A device by its serial number, ``emulator-5554`` or ``host:port``.

    Args:
        serial: As ``adb devices`` shows it.
        server_port: Of the adb server, which is started if need be; by default that of
            ``ANDROID_ADB_SERVER_PORT``, or adb's own, 5037.
    """

    def __init__(self, serial: str, server_port: int | None = None) -> None:
        self.serial = serial
        self.server_port = server_port or int(os.environ.get("ANDROID_ADB_SERVER_PORT", DEFAULT_SERVER_PORT))
        self.client = Client(self.server_port)
        self.device = PromptDevice(self.client, serial)

    def connect(self, timeout: float | None = None) -> None:
        """Starts the adb server if it does not run, and waits until the device is there.

        Raises:
            DeviceError: It is not within ``timeout`` seconds, by default 20.
        """
        timeout = CONNECT_TIMEOUT if timeout is None else timeout
        start_server(self.server_port, usb=":" not in self.serial and not _EMULATOR.fullmatch(self.serial))
        deadline = time.monotonic() + timeout
        while not self.is_there():
            if time.monotonic() > deadline:
                raise DeviceError(f"{self.serial} did not appear within {timeout:g} s; adb says: {self.state()}")
            time.sleep(0.2)

    def is_there(self) -> bool:
        """Whether the device can be used. If not, the server is told to look for it.

        Raises:
            DeviceError: The device does not know this computer yet, or the server does not answer.
        """
        state = self.state()
        if state == "unauthorized":
            raise DeviceError(f"{self.serial} is unauthorized: unlock it and accept this computer's key")
        if state != "device":
            self._invite(state)
        return state == "device"

    def state(self) -> str:
        """``"device"`` if it can be used, ``"absent"``, or what else adb calls it: offline, unauthorized."""
        with failures(self.serial, "adb devices"):
            return next((info.state for info in self.client.list() if info.serial == self.serial), "absent")

    def _invite(self, state: str) -> None:
        """Has the server look for the device: it never does by itself for addresses and for high ports."""
        with failures(self.serial, "adb connect"):
            if ":" in self.serial:
                if state != "absent":
                    self.client.disconnect(self.serial)
                self.client.connect(self.serial, timeout=5.0)
            elif found := _EMULATOR.fullmatch(self.serial):
                with self.client.make_connection() as connection:
                    connection.send_command(f"host:emulator:{int(found[1]) + 1}")

    def shell(self, *words: str, timeout: float = TIMEOUT) -> Output:
        """Runs a command. Every word reaches it as it is: the device's shell finds nothing in it to expand.

        Raises:
            DeviceError: No answer. An exit code other than 0 is an answer.
        """
        with failures(self.serial, words[0]):
            result = self.device.shell2(list(words), timeout=timeout, encoding="utf-8", v2=True)
        return Output(result.output, result.returncode)

    def run(self, *words: str) -> str:
        """Output of a command that must succeed.

        Raises:
            DeviceError: It did not.
        """
        text, code = self.shell(*words)
        if code != 0:
            raise DeviceError(f"{self.serial}: {' '.join(words)[:80]}: exit code {code}: {text.strip()[:200]}")
        return text

    def become_root(self) -> None:
        """Restarts the device's adb as root where that is allowed, as on most emulators; else nothing happens."""
        if self.is_root():
            return
        with failures(self.serial, "adb root"):
            reply = self.device.root()
        deadline = time.monotonic() + CONNECT_TIMEOUT
        while "cannot" not in str(reply) and time.monotonic() < deadline:
            time.sleep(0.5)
            with suppress(DeviceError):  # it goes away and comes back
                self.connect()
                if self.is_root():
                    return

    def is_root(self) -> bool:
        """Whether commands run as root."""
        return self.shell("id", "-u").text.strip() == "0"

    # files, by adb's sync protocol: paths and contents pass through no shell

    def stat(self, path: str) -> Stat:
        """What is at a path. A link is followed."""
        with self._sync(f"stat {path}") as connection:
            _request(connection, b"STAT", path.encode())
            if _exactly(connection, 4) != b"STAT":
                raise ValueError("the answer to STAT is not one")
            found = Stat(*struct.unpack("<III", _exactly(connection, 12)))
        if not stat.S_ISLNK(found.mode):
            return found
        target = self.run("readlink", "-f", path).rstrip("\n")
        return self.stat(target) if target and target != path else Stat(0, 0, 0)

    def pull(self, path: str) -> bytes:
        """Contents of a file."""
        data = bytearray()
        with self._sync(f"pull {path}") as connection:
            _request(connection, b"RECV", path.encode())
            while (part := _answer(connection))[0] == b"DATA":
                data += part[1]
        return bytes(data)

    def push(self, path: str, data: bytes, modified: int, mode: int = 0o644) -> None:
        """Writes a file; the device creates the folders above it."""
        with self._sync(f"push {path}") as connection:
            _request(connection, b"SEND", f"{path},{stat.S_IFREG | mode}".encode())
            for start in range(0, len(data), _CHUNK):
                _request(connection, b"DATA", data[start : start + _CHUNK])
            connection.sendall(b"DONE" + struct.pack("<I", modified))
            _answer(connection)

    def listdir(self, path: str) -> list[str]:
        """Sorted names in a folder; empty if there is no such folder."""
        names = []
        with self._sync(f"list {path}") as connection:
            _request(connection, b"LIST", path.rstrip("/").encode() + b"/")
            while _exactly(connection, 4) == b"DENT":
                *_, length = struct.unpack("<IIII", _exactly(connection, 16))
                names.append(_exactly(connection, length).decode(errors="surrogateescape"))
        return sorted(set(names) - {".", ".."})

    @contextmanager
    def _sync(self, doing: str) -> Iterator[socket.socket]:
        with failures(self.serial, doing), self.device.open_transport() as connection:
            connection.send_command("sync:")
            connection.check_okay()
            connection.conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield connection.conn


def start_server(port: int, usb: bool = False) -> None:
    """Starts an adb server on a port of this computer, unless one runs there.

    A server on another port than adb's own looks for no devices by itself, but for those on a cable with ``usb``: two
    servers that both find a device take it from each other.
    """
    apart = {} if port == DEFAULT_SERVER_PORT else {"ADB_LOCAL_TRANSPORT_MAX_PORT": "0", "ADB_MDNS": "0"}
    if apart and not usb:
        apart["ADB_USB"] = "0"  # besides, looking at all cables takes three seconds
    command = [adbutils.adb_path(), "-P", str(port), "start-server"]
    with failures(f"adb server on port {port}", "start"):
        start = partial(
            subprocess.run, command, check=True, timeout=CONNECT_TIMEOUT, env={**os.environ, **apart},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            start()
        except subprocess.CalledProcessError:  # on a busy machine adb may give its own server up too early
            start()


def stop_server(port: int) -> None:
    """Ends the adb server on a port, if one runs there."""
    with failures(f"adb server on port {port}", "stop"):
        Client(port).server_kill()


def _request(connection: socket.socket, name: bytes, body: bytes) -> None:
    connection.sendall(name + struct.pack("<I", len(body)) + body)


def _answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """The next part of an answer: DATA with what it holds, DONE, or OKAY."""
    name, size = struct.unpack("<4sI", _exactly(connection, 8))
    if name == b"FAIL":
        raise adbutils.AdbError(_exactly(connection, size).decode(errors="replace"))
    if name not in (b"DATA", b"DONE", b"OKAY"):
        raise ValueError(f"unknown answer {name!r}")
    return name, _exactly(connection, size) if name == b"DATA" else b""


def _exactly(connection: socket.socket, size: int) -> bytes:
    if size > _CHUNK:
        raise ValueError(f"a part of {size} bytes is announced, more than the protocol allows")
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError("the connection was closed")
        data += part
    return bytes(data)
