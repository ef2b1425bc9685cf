"""Owners and permissions of files. On Android they follow from the place; `chmod` and `chown` change them.

The shared storage is a FUSE mount: everything in it belongs to the media provider, and `chmod` has no effect.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from datetime import datetime

from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.paths import BIN, LINKS, PROGRAM
from coach_gym.envs.phone.phone import Phone

BLOCK = 4096  # bytes in a block: the least that a file takes
FIRST_APP = 10100  # uid of the first installed app; those of Android 13's own apps are lower
USERS = {
    0: "root", 1000: "system", 1001: "radio", 1023: "media_rw", 2000: "shell", 9997: "everybody", 10158: "u0_a158",
}  # fmt: skip
_PROVIDERS = {"com.android.providers.telephony": 1001, "com.android.providers.contacts": 10058}
_FOLDERS = re.compile(r"/proc/([0-9]+|self)|/sys/devices/system/cpu/cpu[0-9]+")  # of the kernel, not in storage
_BUILT = datetime(2009, 1, 1)  # the date of files in the system image


@dataclass(frozen=True)
class Attributes:
    """What `stat` tells of a file. The mode includes the kind of file; ids are numbers."""

    mode: int
    user: int
    group: int
    size: int
    modified: datetime
    links: int
    inode: int

    @property
    def kind(self) -> str:
        """What `stat` calls the kind of file."""
        if stat.S_ISDIR(self.mode):
            return "directory"
        if stat.S_ISCHR(self.mode):
            return "character device"
        return "symbolic link" if stat.S_ISLNK(self.mode) else "regular file"

    @property
    def blocks(self) -> int:
        """How many blocks of 512 bytes it takes."""
        return -(-self.size // BLOCK) * (BLOCK // 512)


def attributes(phone: Phone, path: str) -> Attributes:
    """Returns the attributes of an existing file or folder."""
    storage = phone.storage
    if not storage.exists(path):
        return _of_system(path)
    folder = storage.is_dir(path)
    mode, user, group = _defaults(phone, path, folder)
    changed = storage.attributes
    kind = stat.S_IFDIR if folder else stat.S_IFREG
    size = BLOCK if folder else storage.size(path)
    links = 2 + sum(storage.is_dir(f"{path.rstrip('/')}/{name}") for name in storage.listdir(path)) if folder else 1
    return Attributes(
        kind | changed.get((path, "mode"), mode), changed.get((path, "user"), user),
        changed.get((path, "group"), group), size,
        storage.modified(path), links, _inode(path),
    )  # fmt: skip


def of_link(target: str) -> Attributes:
    """Returns the attributes of one of Android's links."""
    return Attributes(stat.S_IFLNK | 0o644, 0, 0, len(target), _BUILT, 1, _inode(target))


def _of_system(path: str) -> Attributes:
    """Returns the attributes of a program, a device or a file of the kernel, none of which are in storage."""
    if path.startswith(f"{BIN}/"):
        return Attributes(stat.S_IFREG | 0o755, 0, 2000, len(PROGRAM), _BUILT, 1, _inode(path))
    file = stat.S_IFCHR | 0o666 if path.startswith("/dev/") else stat.S_IFREG | 0o444
    mode = stat.S_IFDIR | 0o555 if _FOLDERS.fullmatch(path) else file
    return Attributes(mode, 0, 0, 0, _BUILT, 1, _inode(path))


def _defaults(phone: Phone, path: str, folder: bool) -> tuple[int, int, int]:
    """Returns permissions, user and group by the place of a file."""
    if path == SHARED or path.startswith(SHARED + "/"):
        return 0o770 if folder else 0o660, 10158, 1023
    if path.startswith("/data/data/"):
        uid = uid_of(phone, path.split("/")[3])
        return (0o771 if folder else 0o660), uid, uid
    if path.startswith("/data/local/tmp"):
        return (0o771 if folder else 0o644), 2000, 2000
    return (0o755 if folder else 0o644), 0, 0


def uid_of(phone: Phone, package: str) -> int:
    """Returns the user id of an app. Android numbers apps in the order of their installation."""
    if package in _PROVIDERS:
        return _PROVIDERS[package]
    packages = list(phone.apps)
    return FIRST_APP + packages.index(package) if package in packages else 10099


def user_name(id: int) -> str:
    """Returns the name of a user or group id."""
    return USERS.get(id) or (f"u0_a{id - 10000}" if id >= 10000 else str(id))


def user_id(name: str) -> int | None:
    """Returns the id of a user or group, or None if the name is unknown."""
    if name.isdecimal():
        return int(name)
    if name.startswith("u0_a") and name[4:].isdecimal():
        return 10000 + int(name[4:])
    return next((id for id, known in USERS.items() if known == name), None)


def _inode(path: str) -> int:
    number = 0
    for byte in path.encode("utf-8", "surrogateescape"):
        number = (number * 31 + byte) % 999_983
    return number + 16


def names_in(phone: Phone, path: str) -> list[str]:
    """Returns the names in a folder, Android's links included, sorted."""
    below = path.rstrip("/") + "/"
    links = [name[len(below) :] for name in LINKS if name.startswith(below) and "/" not in name[len(below) :]]
    return sorted({*phone.storage.listdir(path), *links})
