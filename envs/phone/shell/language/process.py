"""A running command: its arguments, its input and its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import kernel, state
from coach_gym.envs.phone.shell.language.environment import Killed
from coach_gym.envs.phone.shell.language.filesystem import FileSystem
from coach_gym.envs.phone.shell.language.syntax import Compound
from coach_gym.envs.phone.storage import Storage

MOST_OUTPUT = 1 << 26  # bytes that a command writes
MOST_PARTS = 1_000_000  # lines or words that a command takes a text apart into
P = TypeVar("P", bound=Sized)


class Input:
    """Bytes that are read once, from start to end, by any number of commands.

    Args:
        data: The bytes.
        more: Returns further bytes when those are used up; empty bytes end the input.
    """

    def __init__(self, data: bytes = b"", more: Callable[[], bytes] | None = None) -> None:
        self._data, self._more = data, more

    def _fetch(self) -> bool:
        """Waits for more bytes. Returns False at the end."""
        data = self._more() if self._more is not None else b""
        self._data += data
        if not data:
            self._more = None
        return bool(data)

    def read(self) -> bytes:
        """Returns the rest."""
        chunks = [self._data]
        while self._more is not None and (data := self._more()):
            chunks.append(data)
        self._data, self._more = b"", None
        return b"".join(chunks)

    def exactly(self, size: int) -> bytes:
        """Returns the next `size` bytes, or fewer at the end."""
        chunks, missing = [self._data[:size]], size - len(self._data)
        self._data = self._data[size:]
        while missing > 0 and self._fetch():
            chunks.append(self._data[:missing])
            self._data, missing = self._data[missing:], missing - len(chunks[-1])
        return b"".join(chunks)

    def line(self, mark: bytes = b"\n") -> bytes:
        """Returns the next line with the mark that ends it; empty at the end."""
        while mark not in self._data and self._fetch():
            pass
        end = self._data.find(mark) + 1 or len(self._data)
        data, self._data = self._data[:end], self._data[end:]
        return data


class Sink(bytearray):
    """Output that is collected in memory. A command that writes far too much is killed."""

    def extend(self, data: Any, /) -> None:
        if len(self) + len(data) > MOST_OUTPUT:
            raise Killed
        super().extend(data)

    def __iadd__(self, data: Any, /) -> Self:  # type: ignore[misc]
        self.extend(data)
        return self


def few(parts: P) -> P:
    """Returns the parts of a text. The command that takes it apart into too many is killed, as without memory.

    To learn that there are too many it is enough to make `MOST_PARTS` and one more.
    """
    if len(parts) > MOST_PARTS:
        raise Killed
    return parts


@dataclass
class Streams:
    """Standard input, output and error. After `2>&1` the last two are one."""

    stdin: Input
    stdout: bytearray
    stderr: bytearray


class Shell(Protocol):
    """What a command needs of the shell that runs it.

    Attributes:
        phone: The phone that the shell runs on.
        commands: All commands by name.
        files: The phone's files.
        options: What `set` has turned on: `e`, `u`, `x` or `pipefail`.
        traps: The commands that `trap` has set, by signal.
        fixed: The names of variables that are read-only.
        hidden: For each function that runs, what the variables were that are local to it.
        variables: Shell variables by name.
        functions: Functions by name.
        arguments: The positional parameters, from `$1` on.
        folder: The working directory, with links left in it.
        code: The exit code of the last command.
        endless: Whether a command goes on until its reader hangs up.
        follow: Returns what such a command has written since it was last called; None if it writes nothing.
        deadline: When the phone's clock ends the command that runs, because of `timeout`.
    """

    phone: Phone
    commands: dict[str, Command]
    files: FileSystem[Command]
    options: set[str]
    traps: dict[str, str]
    fixed: set[str]
    job: int | None
    loops: int
    hidden: list[dict[str, str | None]]
    variables: dict[str, str]
    functions: dict[str, Compound]
    arguments: list[str]
    folder: str
    code: int
    endless: bool
    follow: Callable[[], bytes | None] | None
    deadline: datetime | None

    def run(self, words: list[str], streams: Streams) -> int:
        """Runs a command given as a list of words. Returns its exit code."""

    def source(self, text: str, streams: Streams) -> int:
        """Runs a script in this shell. Returns its exit code."""

    def include(self, text: str, arguments: list[str], streams: Streams) -> int:
        """Runs the script of a file in this shell. Returns its exit code."""

    def subshell(self, text: str, arguments: list[str], streams: Streams) -> int:
        """Runs a script in a shell of its own. Returns its exit code."""

    def number(self, text: str) -> int:
        """Returns the value of an arithmetic expression."""

    def assign(self, name: str, value: str) -> None:
        """Sets a variable."""

    def spend(self) -> None:
        """Counts a step; a run that takes too many is killed."""

    def look_at_clock(self) -> None:
        """Ends a run that takes too long."""

    def end_program(self) -> None:
        """Ends the endless command that runs in the background."""


@dataclass
class Process:
    """One running command.

    Attributes:
        shell: The shell that runs it.
        name: The name it was called by, for its messages.
        args: Its arguments, without the name.
        streams: Where it reads and writes.
        failed: Whether it has written a message.
        quiet: Whether to drop its messages.
    """

    shell: Shell
    name: str
    args: list[str]
    streams: Streams
    failed: bool = False
    quiet: bool = False

    @property
    def phone(self) -> Phone:
        """The phone that it runs on."""
        return self.shell.phone

    @property
    def storage(self) -> Storage:
        """The phone's storage."""
        return self.shell.phone.storage

    @property
    def files(self) -> FileSystem[Command]:
        """All files, not only those in storage."""
        return self.shell.files

    @cached_property
    def zone(self) -> tzinfo:
        """The time zone of its variable `TZ`, or else the phone's."""
        name = self.shell.variables.get("TZ")
        return state.zone(self.phone) if name is None else zones.named(name)

    def local(self, clock: datetime) -> datetime:
        """Returns a time on the phone's clock as it is in the process's zone, which it carries."""
        return zones.read(self.phone.services, clock, self.zone)

    def on_clock(self, local: datetime) -> datetime:
        """Returns what the phone's clock shows at a time in the process's zone."""
        return zones.on_clock(self.phone.services, local.replace(tzinfo=self.zone))

    def path(self, name: str) -> str:
        """Returns the place in storage that an argument names."""
        return real(name, self.shell.folder)

    def exists(self, path: str) -> bool:
        """Returns whether there is a file or folder."""
        return self.files.exists(path)

    def is_dir(self, path: str) -> bool:
        """Returns whether there is a folder."""
        return self.files.is_dir(path)

    def read(self, name: str, most: int = kernel.PIECE) -> bytes | None:
        """Returns the contents of a file, or of standard input for `-`; None, after a message, if it cannot.

        Args:
            name: The file.
            most: How many bytes to read of a device without an end.
        """
        if name == "-":
            return self.streams.stdin.read()
        path = self.path(name)
        data = self.files.read(path, most)
        if data is None:
            self.fail(f"{name}: {'Is a directory' if self.exists(path) else NO_FILE}")
        return data

    def print(self, text: str = "", end: str = "\n") -> None:
        """Writes text to standard output."""
        self.shell.look_at_clock()
        self.streams.stdout += (text + end).encode("utf-8", "surrogateescape")

    def fail(self, message: str, code: int = 1) -> int:
        """Writes `name: message` to standard error. Returns the exit code."""
        return self.complain(f"{self.name}: {message}", code)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Lets the command go on with its next file where the storage refuses one, as a read-only place does."""
        try:
            yield
        except OSError as error:
            self.fail(f"{error.strerror}")

    def need(self, arguments: int) -> int:
        """Complains that there are too few arguments. Returns the exit code."""
        return self.fail(f'Needs {arguments} argument{"s" * (arguments > 1)} (see "{self.name} --help")')

    def complain(self, message: str, code: int = 1) -> int:
        """Writes a message without the name to standard error. Returns the exit code."""
        self.failed = True
        if not self.quiet:
            self.streams.stderr += f"{message}\n".encode("utf-8", "surrogateescape")
        return code


Command = Callable[[Process], int]
"""A command: reads and writes the process's streams, returns the exit code."""

NO_FILE = "No such file or directory"
