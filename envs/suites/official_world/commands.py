"""Where the adb command lines go that android_env makes of upstream's requests.

Both ways raise android_env's error for a command that fails, as android_env itself does; but neither restarts the
adb server then, which would tear down what others have open on it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import adbutils
from android_env.components.adb_controller import AdbController
from android_env.components.errors import AdbControllerError

from coach_gym.envs.phone import shell
from coach_gym.envs.phone.apps.messages import receive
from coach_gym.envs.phone.paths import real

if TYPE_CHECKING:
    from coach_gym.envs.phone.phone import Phone

TIMEOUT = 120.0  # seconds, android_env's own default


class PhoneAdb(AdbController):
    """Carries out adb's command lines on an embedded phone: no adb, no sockets."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
        """See `AdbController.execute_command`.

        Raises:
            AdbControllerError: The command exits with another code than 0.
        """
        match args:
            case ["shell", *words]:
                return self._shell(" ".join(words))
            case ["push", local, remote]:
                self._phone.storage.write(real(remote), Path(local).read_bytes())
                self._phone.changed()
            case ["pull", remote, local]:
                data = self._phone.storage.read(real(remote))
                if data is None:
                    raise AdbControllerError(f"adb: error: failed to stat remote object '{remote}'")
                Path(local).write_bytes(data)
            case ["emu", "sms", "send", number, *words]:
                receive(self._phone, number, " ".join(words))
            case ["root"]:
                return b"adbd is already running as root\n"
            case _:
                raise AdbControllerError(f"adb: an embedded phone has no {' '.join(args[:3])!r}")
        return b""

    def _shell(self, command: str) -> bytes:
        output = shell.run(self._phone, command)
        if output.code:
            raise AdbControllerError(f"exit code {output.code} of {command!r}: {output.stderr!r}")
        return output.stdout + output.stderr


class HostAdb(AdbController):
    """Carries out adb's command lines by the adb program of this computer.

    Args:
        serial: Which device.
        server_port: Port of the adb server that knows it.
    """

    def __init__(self, serial: str, server_port: int) -> None:
        self._prefix = [adbutils.adb_path(), "-P", str(server_port), "-s", serial]

    def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
        """See `AdbController.execute_command`.

        Raises:
            AdbControllerError: The command fails or does not end in time.
        """
        try:
            return subprocess.run(
                [*self._prefix, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                stdin=subprocess.DEVNULL, timeout=timeout or TIMEOUT, env=dict(os.environ),
            ).stdout  # fmt: skip
        except subprocess.SubprocessError as error:
            raise AdbControllerError(f"{error}: {(error.output or b'')[:300]!r}") from error  # type: ignore[attr-defined]
