"""Android's links between folders: several names for one place in the phone's storage."""

from __future__ import annotations

import posixpath

from coach_gym.envs.phone.caching import cached

LINKS = {
    "/sdcard": "/storage/emulated/0",
    "/storage/self/primary": "/storage/emulated/0",
    "/mnt/sdcard": "/storage/emulated/0",
    "/mnt/user/0/primary": "/storage/emulated/0",
    "/data/media/0": "/storage/emulated/0",
    "/data/user/0": "/data/data",
    "/etc": "/system/etc",
    "/bin": "/system/bin",
}
"""Where links point, by their paths."""

BUILD = "/system/build.prop"
"""The file with the properties of the system image."""
BATTERY_LEVEL = "/sys/class/power_supply/battery/capacity"
"""The file with the battery's charge in per cent."""

BIN = "/system/bin"
"""The folder of the commands that are programs; the shell knows them, so that it is empty in storage."""
PROGRAM = b"\x7fELF"
"""What each of them contains."""
SYSTEM = (BIN, "/dev", "/proc", "/sys/devices/system/cpu")
"""Folders whose files are made when somebody asks for them."""

_WRITABLE = ("/data/", "/storage/", "/mnt/")
_SET = (BUILD, BATTERY_LEVEL)  # files elsewhere that tasks set before they begin


def is_writable(path: str) -> bool:
    """Returns whether clients and apps can write to a place in storage: not to the system's image, nor the kernel's."""
    return path.startswith(_WRITABLE) or path in _SET


@cached(2)
def real(path: str, folder: str = "/") -> str:
    """Returns the place in storage that a path names: absolute, without `.`, `..`, double slashes and links.

    Args:
        path: Any path.
        folder: Where relative paths start.
    """
    path = absolute(path, folder)
    for name, target in LINKS.items():
        if path.startswith(name) and path[len(name) : len(name) + 1] in ("", "/"):
            return target + path[len(name) :]
    return path


def link(path: str, folder: str = "/") -> str | None:
    """Returns the target of a link. Returns None for anything else, and for a path that ends in a slash."""
    return None if path.endswith("/") else LINKS.get(absolute(path, folder))


def absolute(path: str, folder: str = "/") -> str:
    """Returns a path from the root, without `.`, `..` and double slashes; links stay."""
    return "/" + posixpath.normpath(posixpath.join(folder, path)).lstrip("/")
