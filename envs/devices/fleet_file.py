"""Fleets described by a file, shared by training and evaluation and by all their processes.

    [[emulators]]                       # started on every machine that trains
    avd = "AndroidWorldAvd"
    count = 8
    snapshot = "coach_gym"              # optional, as are all further arguments of `emulators`

    [[attached]]                        # phones and emulators that run already
    serials = ["R58N12ABCDE", "emulator-5554"]

    [[attached]]                        # emulators on another host
    host = "10.0.0.7"
    ports = [5555, 5557]

    [fleet]                             # optional arguments of `Fleet`
    patience = 300

Under torchrun, each process takes its own part: of the emulators, its share of those of its machine; of the attached
devices, its share of all.
"""

from __future__ import annotations

import atexit
import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.emulator import emulators
from coach_gym.envs.devices.fleet import Attached, Fleet, Member
from coach_gym.envs.devices.locks import hold
from coach_gym.envs.devices.names import adb_serial
from coach_gym.envs.errors import DeviceError

_TABLES = {"emulators", "attached", "fleet"}


@dataclass(frozen=True)
class Part:
    """Which of several processes one is.

    Attributes:
        rank: Number of the process among all, from 0.
        size: Number of processes.
        local_rank: Number of the process among those of its machine, from 0.
        local_size: Number of processes of its machine.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1

    @classmethod
    def own(cls) -> Part:
        """Returns the part of this process, as torchrun tells it."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
        return cls(*(int(os.environ.get(name, default)) for name, default in zip(names, "0101", strict=True)))


def read_fleet(path: str | Path, part: Part | None = None) -> Fleet:
    """Returns the fleet of a process.

    Args:
        path: A TOML file as above.
        part: The process; None for what torchrun says.

    Raises:
        ValueError: The file describes no fleet, lists a device twice, or has none for this process.
    """
    return _fleet(*_members(path, part or Part.own()))


class OneOfFleet:
    """Lends one device of a fleet's file to an environment in a process of its own.

    It is the first device of the file that no other process of this machine holds. The file is read where the
    environment lives; on a cluster, each machine's file lists the devices of that machine.

    Args:
        path: A TOML file as above.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._own: Fleet | None = None

    def __call__(self) -> Device:
        """Lends the device, which the first call chooses.

        Raises:
            DeviceError: Other processes hold all devices, or this one does not start.
        """
        if self._own is None:
            self._own = self._claimed()
        return self._own()

    def _claimed(self) -> Fleet:
        members, arguments = _members(self._path, Part.own())
        for member in members:
            with suppress(DeviceError):
                hold(member.name)  # until this process ends
                return _fleet([member], arguments)
        raise DeviceError(
            f"other processes use all {len(members)} devices of {self._path}; add devices, or make fewer environments"
        )


def attached_serials(path: str | Path) -> tuple[list[str], bool]:
    """Returns the serial numbers of a file's attached devices, and whether it has emulators to start, too.

    Raises:
        ValueError: The file describes no fleet.
    """
    described = _read(path)
    return _attached(path, described), bool(described.get("emulators"))


def _read(path: str | Path) -> dict[str, Any]:
    """Reads the file of a fleet."""
    try:
        described = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"the fleet in {path} cannot be read ({error}); pass a TOML file of devices") from error
    if unknown := sorted(described.keys() - _TABLES):
        raise ValueError(f"{path} has the tables {unknown}; a fleet has {sorted(_TABLES)}")
    return described


def _attached(path: str | Path, described: dict[str, Any]) -> list[str]:
    """Returns the serial numbers of the attached devices."""
    serials = [serial for table in described.get("attached", []) for serial in _serials(path, table)]
    if twice := sorted({serial for serial in serials if serials.count(serial) > 1}):
        raise ValueError(f"{path} lists {twice} twice; every device can be driven by one process only")
    return serials


def _members(path: str | Path, part: Part) -> tuple[list[Member], dict[str, Any]]:
    """Returns the devices of a process and the arguments of their fleet."""
    described = _read(path)
    serials = _attached(path, described)
    started = [member for table in described.get("emulators", []) for member in emulators(**table)]
    members: list[Member] = [*started[part.local_rank :: part.local_size]]
    members += [Attached(serial) for serial in serials[part.rank :: part.size]]
    if not members:
        raise ValueError(
            f"{path} has {len(started)} emulators a machine and {len(serials)} attached devices, so none is left for "
            f"process {part.rank} of {part.size}; add devices, or start fewer processes"
        )
    return members, described.get("fleet", {})


def _fleet(members: list[Member], arguments: dict[str, Any]) -> Fleet:
    fleet = Fleet(members, **arguments)
    atexit.register(fleet.close)  # emulators outlive a program that does not stop them
    return fleet


def _serials(path: str | Path, table: dict[str, Any]) -> list[str]:
    if table.keys() == {"serials"} and isinstance(table["serials"], list):
        serials = table["serials"]
    elif table.keys() == {"host", "ports"} and isinstance(table["ports"], list):
        serials = [f"{table['host']}:{port}" for port in table["ports"]]
    else:
        raise ValueError(
            f"{path}: [[attached]] needs either a list of serials, or a host and a list of ports; it has {table}"
        )
    try:
        return [adb_serial(serial) for serial in serials]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
