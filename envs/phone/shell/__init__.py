"""The phone's shell: what `adb shell` runs, on the phone's own files and in Python alone.

    run(phone, "ls /sdcard && echo $?").stdout

It never touches the host: no process, no file, no environment variable of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coach_gym.envs.phone.shell import (
    activities,
    builtins,
    content,
    database,
    dumps,
    files,
    listing,
    packages,
    screen,
    system,
    text,
)
from coach_gym.envs.phone.shell.interpreter import Exit, Leave, Shell
from coach_gym.envs.phone.shell.process import Command, Input, Streams

if TYPE_CHECKING:
    from coach_gym.envs.phone.phone import Phone

COMMANDS: dict[str, Command] = {}
for _module in (
    builtins, files, listing, text, system, activities, packages, dumps, content, database, screen,
):  # fmt: skip
    COMMANDS |= _module.COMMANDS
"""All commands by name."""


@dataclass(frozen=True)
class Output:
    """What a command wrote, and its exit code (0 to 255).

    `endless` is set if a command such as `logcat` goes on until its reader hangs up; it writes nothing more.
    """

    stdout: bytes
    stderr: bytes
    code: int
    endless: bool = False


def run(phone: Phone, command: str, stdin: bytes = b"") -> Output:
    """Runs a command line as root, as `adb shell` does.

    Args:
        command: a script in the language of Android's shell. Bytes that are no UTF-8 are given and
            returned as Python's surrogate escapes.
    """
    shell = Shell(phone, COMMANDS)
    streams = Streams(Input(stdin), bytearray(), shell.errors)
    try:
        code = shell.source(command, streams)
    except Exit as exit:
        code = exit.code
        if code == 137:
            streams.stderr += b"Killed\n"
    except Leave:
        code = 0
    return Output(bytes(streams.stdout), bytes(streams.stderr), code & 255, shell.endless)
