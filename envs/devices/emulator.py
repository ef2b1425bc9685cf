"""An Android emulator on this computer, as a member of a fleet."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coach_gym.checks import require_seconds
from coach_gym.envs.devices.adb import Adb, start_server, stop_server
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.sdk import avd_home, clone_avd, emulator_binary
from coach_gym.envs.errors import DeviceError

FIRST_PORT = 5554
FIRST_SERVER_PORT = 5038  # adb's own is 5037
GRPC_OFFSET = 3000  # the emulator's own convention: 8554 for emulator-5554
BOOT_TIMEOUT = 300.0
_STOP_TIMEOUT = 20.0
_HEALTH_TIMEOUT = 10.0
_POLL = 0.5
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ports:
    """The ports of an emulator, all on 127.0.0.1.

    Attributes:
        console: Port of the console, even.
        adb: Port of the device's adb, one above the console's.
        grpc: Port of the gRPC service.
        server: Port of the emulator's own adb server.
    """

    console: int
    adb: int
    grpc: int
    server: int

    @classmethod
    def numbered(cls, index: int, first: int = FIRST_PORT, first_server: int = FIRST_SERVER_PORT) -> Ports:
        """Returns the ports of the member of a fleet with that index."""
        console = first + 2 * index
        return cls(console, console + 1, console + GRPC_OFFSET, first_server + index)

    def require_free(self) -> None:
        """Checks that nothing listens on the ports the emulator needs.

        Raises:
            DeviceError: A port is taken.
        """
        for port in (self.console, self.adb, self.grpc):
            with closing(socket.socket()) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    raise DeviceError(f"port {port} is taken: pass other ports, or stop what listens there") from error


class Emulator:
    """An emulator on its own clone of a virtual device, with its own ports and its own adb server.

    Args:
        avd: Name of the virtual device to clone, with its apps installed and set up.
        ports: Ports of the emulator and of its adb server.
        snapshot: Snapshot to boot from and to start every episode from; None boots as the virtual device is configured.
        grpc: Whether to take screenshots and touch the screen through the gRPC port, which is faster than adb.
        binary: The emulator program; by default the SDK's.
        options: Further command-line options, such as `("-gpu", "host")`.
        boot_timeout: Seconds the emulator may take to boot.
    """

    def __init__(
        self,
        avd: str,
        ports: Ports,
        *,
        snapshot: str | None = None,
        grpc: bool = False,
        binary: Path | None = None,
        options: Sequence[str] = (),
        boot_timeout: float = BOOT_TIMEOUT,
    ) -> None:
        require_seconds(boot_timeout=boot_timeout)
        self.avd, self.ports, self.snapshot, self.grpc = avd, ports, snapshot, grpc
        self.binary, self.options, self.boot_timeout = binary, tuple(options), boot_timeout
        self.name = f"emulator-{ports.console}"
        self.adb = Adb(self.name, ports.server)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Launches the emulator and waits until Android has booted.

        Raises:
            DeviceError: The emulator cannot be launched, ends, or does not boot in time.
        """
        deadline = time.monotonic() + self.boot_timeout
        self.ports.require_free()
        start_server(self.ports.server)
        self._process = self._launch()
        while not self._booted():
            if (code := self._process.poll()) is not None:
                raise DeviceError(f"{self.name} ended with code {code} while booting: {self._last_words()}")
            if time.monotonic() > deadline:
                raise DeviceError(f"{self.name} did not boot within {self.boot_timeout:g} s")
            time.sleep(_POLL)

    def check(self) -> None:
        """Checks that the emulator is running and Android answers.

        Raises:
            DeviceError: One of them is not so.
        """
        if self._process is None or self._process.poll() is not None:
            raise DeviceError(f"{self.name} has ended")
        if (state := self.adb.state()) != "device":
            raise DeviceError(f"{self.name} is {state}")
        if not self._completed():
            raise DeviceError(f"{self.name} is rebooting")

    def device(self) -> Device:
        """Connects to the running emulator."""
        if self.grpc:
            from coach_gym.envs.devices.android_env_device import AndroidEnvDevice

            return AndroidEnvDevice(
                self.ports.console, self.ports.grpc, server_port=self.ports.server, snapshot=self.snapshot
            )
        return AdbDevice(self.name, server_port=self.ports.server, snapshot=self.snapshot)

    def stop(self) -> None:
        """Stops the emulator and its adb server, whatever their state."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)
        with suppress(DeviceError):
            stop_server(self.ports.server)

    @property
    def log(self) -> Path:
        """File with what the emulator has printed since its last start."""
        return avd_home() / f"{self._clone}.log"

    @property
    def _clone(self) -> str:
        return f"{self.avd}_{self.ports.console}"

    def _launch(self) -> subprocess.Popen[bytes]:
        binary = self.binary or emulator_binary()
        if binary is None:
            raise DeviceError("no Android emulator is installed: see `coach-gym doctor --for emulator`")
        ports = self.ports
        command = [
            str(binary), "-avd", self._clone, "-ports", f"{ports.console},{ports.adb}", "-grpc", str(ports.grpc),
            "-no-window", "-no-audio", "-no-boot-anim", "-no-snapshot-save", *self.options,
        ]  # fmt: skip
        if self.snapshot is not None:
            command += ["-snapshot", self.snapshot]
        try:
            clone_avd(self.avd, self._clone, avd_home())
            with self.log.open("wb") as log:
                return subprocess.Popen(
                    command, env={**os.environ, "ANDROID_ADB_SERVER_PORT": str(ports.server)},
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise DeviceError(f"{self.name} cannot be launched: {error}") from error

    def _booted(self) -> bool:
        try:
            return self.adb.is_there() and self._completed()
        except DeviceError:
            return False

    def _completed(self) -> bool:
        return self.adb.shell("getprop", "sys.boot_completed", timeout=_HEALTH_TIMEOUT).text.strip() == "1"

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace").strip().rpartition("\n")[2][:200]


def emulators(
    avd: str, count: int, *, first_port: int = FIRST_PORT, first_server_port: int = FIRST_SERVER_PORT, **settings: Any
) -> list[Emulator]:
    """Returns emulators with consecutive ports, for a `Fleet`.

    Args:
        avd: The virtual device to clone.
        count: Number of emulators; those beyond the number of environments are spares.
        first_port: Console port of the first one, even, from 5554 to 5682; the others follow in steps of two.
        first_server_port: Port of the first one's adb server; the others follow.
        settings: Further arguments of `Emulator`.
    """
    ports = [Ports.numbered(index, first_port, first_server_port) for index in range(count)]
    return [Emulator(avd, each, **settings) for each in ports]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Terminates a process and its children, and kills them if that does not help."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_TIMEOUT)
            return
    _log.error("process %d cannot be killed", process.pid)
