"""Locks that keep two programs of a user from driving one device.

A lock is a file in the folder of temporary files, and belongs to a process: the operating system releases it when the
process ends, however it ends. Within a process, a device may be held several times.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from coach_gym.envs.errors import DeviceError

_EMULATOR = re.compile(r"emulator-([0-9]+)")
_held: dict[str, tuple[IO[str], int]] = {}  # by device: the open file and how often it is held
_guard = threading.Lock()


def hold(serial: str) -> Callable[[], None]:
    """Takes the lock of a device for this process.

    Args:
        serial: Serial number, or `host:port`. An emulator and its address on this computer are one device.

    Returns:
        A function that gives the lock back; calling it again has no effect.

    Raises:
        DeviceError: Another process holds the lock.
    """
    name = _device(serial)
    with _guard:
        file, times = _held.get(name) or (_locked(name, serial), 0)
        _held[name] = file, times + 1
    pending = [name]

    def release() -> None:
        with _guard:
            while pending:
                _release(pending.pop())

    return release


def _release(name: str) -> None:
    file, times = _held.pop(name)
    if times > 1:
        _held[name] = file, times - 1
    else:
        file.close()


def _locked(name: str, serial: str) -> IO[str]:
    folder = Path(tempfile.gettempdir()) / f"coach_gym_devices_{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = (folder / re.sub(r"[^\w.-]", "_", name)).open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        other = file.read().strip() or "unknown"
        file.close()
        raise DeviceError(
            f"{serial} is in use by process {other}: stop that program, or give each its own devices"
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _device(serial: str) -> str:
    if found := _EMULATOR.fullmatch(serial):
        return f"127.0.0.1:{int(found[1]) + 1}"
    return serial.replace("localhost:", "127.0.0.1:")
