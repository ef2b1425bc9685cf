"""What a check looks at and what it finds."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from coach_gym.envs.devices.adb import DEFAULT_SERVER_PORT

COMMAND_TIME = 20.0
"""Seconds a program may take to answer."""

State = Literal["ok", "missing", "not checked"]


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        name: What was checked, as `PURPOSES` of `coach_gym.cli.doctor` names it.
        state: `"missing"` also covers what is present but unusable.
        found: What the check saw.
        mend: The command or step that puts it in order.
    """

    name: str
    state: State
    found: str
    mend: str = ""


@dataclass(frozen=True)
class Host:
    """The computer to check.

    Attributes:
        environ: Environment variables; `PATH` says where programs are.
        serial: Serial number of the device to check; None for the first that adb lists.
        server_port: Port of the adb server.
        kvm: Device file of the kernel's virtual machines.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    serial: str | None = None
    server_port: int = DEFAULT_SERVER_PORT
    kvm: Path = Path("/dev/kvm")

    def program(self, name: str) -> str | None:
        """Returns the path of a program, or None if there is none."""
        return shutil.which(name, path=self.environ.get("PATH", ""))


def run(*words: str) -> tuple[int, str]:
    """Runs a program and returns its exit code and output; the code is -1 if it cannot run or does not end."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_TIME,
            text=True, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return -1, str(error)
    return done.returncode, done.stdout.strip()
