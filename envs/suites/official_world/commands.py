"""Carries out the adb command lines that android_env makes of upstream's requests.

Both ways raise android_env's error for a command that fails, as android_env itself does. Unlike android_env they do not
restart the adb server then, since that would cut off its other users.
"""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import adbutils
from android_env.components.adb_call_parser import AdbCallParser
from android_env.components.adb_controller import AdbController
from android_env.components.errors import AdbControllerError
from android_env.proto import adb_pb2

from coach_gym.envs.devices.adb import Adb, failures
from coach_gym.envs.phone import shell
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.providers.telephony import deliver

if TYPE_CHECKING:
    from coach_gym.envs.phone.phone import Phone

TIMEOUT = 120.0  # seconds, android_env's own default


class PhoneAdb(AdbController):
    """Carries out adb's command lines on an embedded phone: no adb, no sockets."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
        """Carries out a command line. See `AdbController.execute_command`.

        Raises:
            AdbControllerError: The command exits with another code than 0.
        """
        match args:
            case ["shell", *words]:
                return self._shell(" ".join(words))
            case ["emu", "sms", "send", number, *words]:
                deliver(self._phone, number, " ".join(words))
            case ["root"]:
                return b"adbd is already running as root\n"
            case _:
                raise AdbControllerError(f"adb: an embedded phone has no {' '.join(args[:3])!r}")
        return b""

    def push(self, path: str, data: bytes) -> None:
        """Copies a file to the phone, as `adb push` does."""
        self._phone.storage.write(real(path), data)
        self._phone.changed()

    def pull(self, path: str) -> bytes:
        """Copies a file from the phone, as `adb pull` does.

        Raises:
            AdbControllerError: There is no such file.
        """
        data = self._phone.storage.read(real(path))
        if data is None:
            raise AdbControllerError(f"adb: error: failed to stat remote object '{path}'")
        return data

    def _shell(self, command: str) -> bytes:
        output = shell.run(self._phone, command)
        if output.code:
            raise AdbControllerError(f"exit code {output.code} of {command!r}: {output.stderr!r}")
        return output.stdout + output.stderr


class HostAdb(AdbController):
    """Carries out adb's command lines on a device that adb reaches: shell and files straight through the adb server,
    the rest by the adb program of this computer.

    Args:
        adb: The device's connection.
    """

    def __init__(self, adb: Adb) -> None:
        self._adb = adb
        self._program = [adbutils.adb_path(), "-P", str(adb.server_port), "-s", adb.serial]

    def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
        """Carries out a command line. See `AdbController.execute_command`.

        Raises:
            AdbControllerError: The command exits with another code than 0, or does not end in time.
            DeviceError: The device does not answer.
        """
        limit = timeout or TIMEOUT
        return self._shell(" ".join(args[1:]), limit) if args[0] == "shell" else self._run(args, limit)

    def push(self, path: str, data: bytes) -> None:
        """Copies a file to the device, as `adb push` does."""
        self._adb.push(path, data, int(time.time()))

    def pull(self, path: str) -> bytes:
        """Copies a file from the device, as `adb pull` does.

        Raises:
            AdbControllerError: There is no such file.
        """
        if self._adb.stat(path).mode == 0:
            raise AdbControllerError(f"adb: error: failed to stat remote object '{path}'")
        return self._adb.pull(path)

    def _shell(self, command: str, timeout: float) -> bytes:
        with failures(self._adb.serial, command[:80]):
            result = self._adb.device.shell2(command, timeout=timeout, encoding=None, v2=True)
        if result.returncode:
            raise AdbControllerError(f"exit code {result.returncode} of {command!r}: {result.output!r}")
        return result.output

    def _run(self, args: list[str], timeout: float) -> bytes:
        try:
            return subprocess.run(
                [*self._program, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                stdin=subprocess.DEVNULL, timeout=timeout,
            ).stdout  # fmt: skip
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise AdbControllerError(f"{error}: {(error.output or b'')[:300]!r}") from error


class Calls(AdbCallParser):
    """android_env's parser of requests, whose files come and go without a copy on the disk."""

    def __init__(self, adb: PhoneAdb | HostAdb) -> None:
        super().__init__(adb)
        self._adb = adb

    def _push(self, request: adb_pb2.AdbRequest, timeout: float | None = None) -> adb_pb2.AdbResponse:
        self._adb.push(request.push.path, request.push.content)
        return adb_pb2.AdbResponse(status=adb_pb2.AdbResponse.Status.OK)

    def _pull(self, request: adb_pb2.AdbRequest, timeout: float | None = None) -> adb_pb2.AdbResponse:
        pulled = adb_pb2.AdbResponse.PullResponse(content=self._adb.pull(request.pull.path))
        return adb_pb2.AdbResponse(status=adb_pb2.AdbResponse.Status.OK, pull=pulled)
