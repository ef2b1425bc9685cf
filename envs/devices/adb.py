"""An Android device behind an adb server: shell, files, sockets.

This closes adbutils' gaps: every call has a time limit, every failure is a `DeviceError`, and the device's shell never
interprets the words of a command.
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

from coach_gym.checks import require_port
from coach_gym.envs.errors import DeviceError

DEFAULT_SERVER_PORT = 5037
TIMEOUT = 30.0  # seconds for any answer; a healthy device is a hundred times faster
CONNECT_TIMEOUT = 20.0
_CHUNK = 64 * 1024  # the largest part of adb's sync protocol
_EMULATOR = re.compile(r"emulator-([0-9]{4,5})")
_FAILURES = (
    adbutils.AdbError, UiautomatorError, OSError, EOFError, HTTPException, subprocess.SubprocessError, struct.error,
    ValueError, AssertionError,
)  # fmt: skip


class Stat(NamedTuple):
    """Mode, size in bytes, and modification time in seconds since 1970. Mode 0 means that the file does not exist."""

    mode: int
    size: int
    modified: int

    @property
    def is_file(self) -> bool:
        """Whether this is a regular file."""
        return stat.S_ISREG(self.mode)


class Output(NamedTuple):
    """What a command printed on both streams, and its exit code."""

    text: str
    code: int


@contextmanager
def failures(serial: str, doing: str) -> Iterator[None]:
    """Turns whatever goes wrong between here and the device into a `DeviceError`."""
    try:
        yield
    except _FAILURES as error:
        kind = "no answer in time" if isinstance(error, TimeoutError | adbutils.AdbTimeout) else type(error).__name__
        raise DeviceError(f"{serial}: {doing}: {kind}: {error}") from error


class _Connection(adbutils.AdbConnection):
    """A connection to the adb server that never starts a server.

    adbutils would start one on adb's own port, whichever port was asked for, where it takes emulators from other
    servers.
    """

    def _safe_connect(self) -> socket.socket:
        return self._create_socket()

    def close(self) -> None:
        """Closes without adbutils' pause of 10 ms, because everything has been answered by then."""
        if not self.closed:
            with suppress(OSError):
                self.conn.shutdown(socket.SHUT_WR)
            self.conn.close()
            self._AdbConnection__conn = None  # `closed` reads this


class Client(adbutils.AdbClient):
    """A client of a local adb server, with a time limit for every answer."""

    def __init__(self, port: int) -> None:
        super().__init__("127.0.0.1", port)

    def make_connection(self, timeout: float | None = None) -> adbutils.AdbConnection:
        """Connects to the server."""
        connection = _Connection(self.host, self.port)
        connection.conn.settimeout(timeout or TIMEOUT)
        return connection


class PromptDevice(adbutils.AdbDevice):
    """adbutils' device, but its sockets send small writes at once and have time limits.

    uiautomator2 sends header and body of an HTTP request in two writes. Without TCP_NODELAY the second waits for the
    acknowledgement of the first: a call takes 60 ms instead of 19.
    """

    def open_transport(self, command: str | None = None, timeout: float | None = None) -> adbutils.AdbConnection:
        """Connects to the device, or asks a command about it.

        Unlike adbutils, it does not ask for the server's version first: all servers since 2019 understand this.
        """
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
        """Connects to a port or socket on the device."""
        connection = super().create_connection(network, address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def shell(self, cmdargs: Any, stream: bool = False, timeout: float | None = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Runs a command; a streamed one has no time limit."""
        if not stream:
            return super().shell(cmdargs, timeout=min(timeout or TIMEOUT, TIMEOUT), **kwargs)
        connection = super().shell(cmdargs, stream=True)
        connection.conn.settimeout(None)  # lives as long as the command, which may be silent
        return connection


class Adb:
    """A device, identified by its serial number.

    Args:
        serial: Serial number as `adb devices` shows it, such as `emulator-5554` or `host:port`.
        server_port: Port of the adb server, which is started if necessary; by default `ANDROID_ADB_SERVER_PORT` of the
            environment, or adb's own, 5037.
    """

    def __init__(self, serial: str, server_port: int | None = None) -> None:
        if server_port is not None:
            require_port(server_port=server_port)
        self.serial = serial
        self.server_port = server_port or int(os.environ.get("ANDROID_ADB_SERVER_PORT", DEFAULT_SERVER_PORT))
        self.client = Client(self.server_port)
        self.device = PromptDevice(self.client, serial)

    def connect(self, timeout: float | None = None) -> None:
        """Starts the adb server if necessary, and waits for the device.

        Raises:
            DeviceError: The device does not appear within `timeout` seconds, by default 20.
        """
        timeout = CONNECT_TIMEOUT if timeout is None else timeout
        start_server(self.server_port, usb=":" not in self.serial and not _EMULATOR.fullmatch(self.serial))
        deadline = time.monotonic() + timeout
        while not self.is_there():
            if time.monotonic() > deadline:
                raise DeviceError(f"{self.serial} did not appear within {timeout:g} s; adb lists {self._listed()}")
            time.sleep(0.2)

    def is_there(self) -> bool:
        """Returns whether the device can be used; if not, tells the server to look for it.

        Raises:
            DeviceError: The device does not trust this computer yet, or the server does not answer.
        """
        state = self.state()
        if state == "unauthorized":
            raise DeviceError(f"{self.serial} is unauthorized: unlock it and accept this computer's key")
        if state != "device":
            self._invite(state)
        return state == "device"

    def state(self) -> str:
        """Returns `"device"` if it can be used, `"absent"`, or adb's word for its state, such as `"offline"`."""
        with failures(self.serial, "adb devices"):
            return next((info.state for info in self.client.list() if info.serial == self.serial), "absent")

    def _listed(self) -> str:
        """Says which devices the server knows, and in which state."""
        with failures(self.serial, "adb devices"):
            return ", ".join(f"{info.serial} ({info.state})" for info in self.client.list()) or "no device"

    def _invite(self, state: str) -> None:
        """Tells the server to look for the device, which it never does by itself for addresses and high ports."""
        with failures(self.serial, "adb connect"):
            if ":" in self.serial:
                if state != "absent":
                    self.client.disconnect(self.serial)
                self.client.connect(self.serial, timeout=5.0)
            elif found := _EMULATOR.fullmatch(self.serial):
                with self.client.make_connection() as connection:
                    connection.send_command(f"host:emulator:{int(found[1]) + 1}")

    def shell(self, *words: str, timeout: float = TIMEOUT) -> Output:
        """Runs a command. The device's shell expands nothing in its words.

        Raises:
            DeviceError: There is no answer. A non-zero exit code is an answer.
        """
        with failures(self.serial, words[0]):
            result = self.device.shell2(list(words), timeout=timeout, encoding="utf-8", v2=True)
        return Output(result.output, result.returncode)

    def run(self, *words: str) -> str:
        """Runs a command that must succeed, and returns its output.

        Raises:
            DeviceError: There is no answer, or a non-zero exit code.
        """
        text, code = self.shell(*words)
        if code != 0:
            raise DeviceError(f"{self.serial}: {' '.join(words)[:80]}: exit code {code}: {text.strip()[:200]}")
        return text

    def become_root(self) -> None:
        """Restarts the device's adb as root, where that is allowed."""
        if self.is_root():
            return
        with failures(self.serial, "adb root"):
            reply = self.device.root()
        deadline = time.monotonic() + CONNECT_TIMEOUT
        while "cannot" not in str(reply) and time.monotonic() < deadline:
            time.sleep(0.5)
            with suppress(DeviceError):  # the device goes away and comes back
                self.connect()
                if self.is_root():
                    return

    def is_root(self) -> bool:
        """Returns whether commands run as root."""
        return self.shell("id", "-u").text.strip() == "0"

    # files, by adb's sync protocol: no shell sees paths and contents

    def stat(self, path: str) -> Stat:
        """Returns what is at a path, following links."""
        with self._sync(f"stat {path}") as connection:
            _request(connection, b"STAT", path.encode())
            if _exactly(connection, 4) != b"STAT":
                raise ValueError("invalid answer to STAT")
            found = Stat(*struct.unpack("<III", _exactly(connection, 12)))
        if not stat.S_ISLNK(found.mode):
            return found
        target = self.run("readlink", "-f", path).rstrip("\n")
        return self.stat(target) if target and target != path else Stat(0, 0, 0)

    def pull(self, path: str) -> bytes:
        """Returns the content of a file."""
        data = bytearray()
        with self._sync(f"pull {path}") as connection:
            _request(connection, b"RECV", path.encode())
            while (part := _answer(connection))[0] == b"DATA":
                data += part[1]
        return bytes(data)

    def push(self, path: str, data: bytes, modified: int, mode: int = 0o644) -> None:
        """Writes a file, modified at `modified` seconds since 1970; the device creates its folders."""
        with self._sync(f"push {path}") as connection:
            _request(connection, b"SEND", f"{path},{stat.S_IFREG | mode}".encode())
            for start in range(0, len(data), _CHUNK):
                _request(connection, b"DATA", data[start : start + _CHUNK])
            connection.sendall(b"DONE" + struct.pack("<I", modified))
            _answer(connection)

    def listdir(self, path: str) -> list[str]:
        """Returns the sorted names in a folder; an empty list if it does not exist."""
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
    """Starts an adb server on a local port, unless one is running there.

    A server on a port other than adb's own looks for no devices by itself, except on cables with `usb`, because servers
    that find the same device take it from each other.

    Raises:
        DeviceError: The server does not start.
    """
    apart = {} if port == DEFAULT_SERVER_PORT else {"ADB_LOCAL_TRANSPORT_MAX_PORT": "0", "ADB_MDNS": "0"}
    if apart and not usb:
        apart["ADB_USB"] = "0"  # also, scanning cables takes three seconds
    command = [adbutils.adb_path(), "-P", str(port), "start-server"]
    with failures(f"adb server on port {port}", "start"):
        start = partial(
            subprocess.run, command, check=True, timeout=CONNECT_TIMEOUT, env={**os.environ, **apart},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            start()
        except subprocess.CalledProcessError:  # on a busy machine, adb may give up on its own server too early
            start()


def stop_server(port: int) -> None:
    """Stops the adb server on a port and waits until the port is closed.

    Raises:
        DeviceError: Nothing answers, or the port is still open after `CONNECT_TIMEOUT` seconds.
    """
    with failures(f"adb server on port {port}", "stop"):
        Client(port).server_kill()
        deadline = time.monotonic() + CONNECT_TIMEOUT
        while _is_open(port):  # the server confirms before it exits
            if time.monotonic() > deadline:
                raise TimeoutError(f"the port is still open after {CONNECT_TIMEOUT:g} s")
            time.sleep(0.01)


def _is_open(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
        return True
    return False


def _request(connection: socket.socket, name: bytes, body: bytes) -> None:
    connection.sendall(name + struct.pack("<I", len(body)) + body)


def _answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """Reads the next part of an answer: DATA with its content, DONE, or OKAY."""
    name, size = struct.unpack("<4sI", _exactly(connection, 8))
    if name == b"FAIL":
        raise adbutils.AdbError(_exactly(connection, size).decode(errors="replace"))
    if name not in (b"DATA", b"DONE", b"OKAY"):
        raise ValueError(f"unknown answer {name!r}")
    return name, _exactly(connection, size) if name == b"DATA" else b""


def _exactly(connection: socket.socket, size: int) -> bytes:
    if size > _CHUNK:
        raise ValueError(f"announced a part of {size} bytes, more than the protocol allows")
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError("the connection was closed")
        data += part
    return bytes(data)
