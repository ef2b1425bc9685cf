"""The phone's files as clients see them: in storage, links, programs, devices, and what the kernel tells.

Paths are absolute, without links: `paths.real` makes them so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from coach_gym.envs.phone.paths import BIN, LINKS, PROGRAM
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import kernel
from coach_gym.envs.phone.shell.toybox.attributes import Attributes, attributes, names_in, of_link

Program = TypeVar("Program")

_WITHOUT_FILE = frozenset("""
: . [[ break builtin cd command continue eval exec exit export let local read readonly return set shift source trap type
typeset ulimit umask unset wait
""".split())  # only a shell can carry them out itself


@dataclass(frozen=True)
class FileSystem(Generic[Program]):
    """All files of a phone.

    Attributes:
        phone: The phone.
        commands: All commands by name; most of them are files in `BIN`.
    """

    phone: Phone
    commands: Mapping[str, Program]

    def program(self, path: str) -> Program | None:
        """Returns the command whose file has a path, or None."""
        folder, _, name = path.rpartition("/")
        return self.commands.get(name) if folder == BIN and name not in _WITHOUT_FILE else None

    def exists(self, path: str) -> bool:
        """Returns whether there is a file or folder."""
        return self.phone.storage.exists(path) or self.program(path) is not None or kernel.exists(self.phone, path)

    def is_dir(self, path: str) -> bool:
        """Returns whether there is a folder."""
        return self.phone.storage.is_dir(path) or kernel.names(self.phone, path) is not None

    def names(self, path: str) -> list[str]:
        """Returns the names directly in a folder, those of links included, sorted; none if it is missing."""
        made = self.commands.keys() - _WITHOUT_FILE if path == BIN else kernel.names(self.phone, path) or ()
        return sorted({*names_in(self.phone, path), *made})

    def below(self, path: str) -> Iterator[str]:
        """Yields all paths below a folder, folders before their contents, but no links."""
        for name in self.names(path):
            child = f"{path.rstrip('/')}/{name}"
            if child not in LINKS:
                yield child
                if self.is_dir(child):
                    yield from self.below(child)

    def attributes(self, path: str) -> Attributes:
        """Returns the attributes of what exists; of a link, its own."""
        return of_link(LINKS[path]) if path in LINKS else attributes(self.phone, path)

    def read(self, path: str, most: int = kernel.PIECE) -> bytes | None:
        """Returns the contents of a file, or None if there is none.

        Args:
            path: The file.
            most: How many bytes to read of a device without an end.
        """
        if path == "/dev/null":
            return b""
        if self.program(path) is not None:
            return PROGRAM
        return kernel.device(self.phone, path, most) or kernel.read(self.phone, path) or self.phone.storage.read(path)
