"""The phone's shell: runs what `adb shell` runs, on the phone's own files and in Python alone.

    run(phone, "ls /sdcard && echo $?").stdout

It never touches the host: no process, no file, no environment variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coach_gym.envs.phone.patterns import TooSlow
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import (
    content,
    database,
    network,
    packages,
    properties,
    recording,
    screen,
    services,
)
from coach_gym.envs.phone.shell.commands.activities import am, monkey
from coach_gym.envs.phone.shell.commands.dumps import dumpsys
from coach_gym.envs.phone.shell.commands.logs import log, logcat
from coach_gym.envs.phone.shell.commands.system import clock, control, machine, settings
from coach_gym.envs.phone.shell.language import builtins, parse
from coach_gym.envs.phone.shell.language.environment import KILLED, Abort, Exit, Killed
from coach_gym.envs.phone.shell.language.interpreter import Shell
from coach_gym.envs.phone.shell.language.process import Command, Input, Sink, Streams
from coach_gym.envs.phone.shell.language.words import SyntaxFault, Unfinished
from coach_gym.envs.phone.shell.toybox import archives, contents, expression, files, listing, processes, sed, text

COMMANDS: dict[str, Command] = {}
for _module in (
    builtins, files, listing, text, sed, machine, clock, settings, control, am, monkey, packages, dumpsys, content,
    database, screen, services, properties, processes, log, logcat, network, recording, archives, contents, expression,
):  # fmt: skip
    COMMANDS |= _module.COMMANDS
"""All commands by name."""


@dataclass(frozen=True)
class Output:
    """The result of a command line.

    Attributes:
        stdout: What it wrote to standard output.
        stderr: What it wrote to standard error.
        code: Its exit code, 0 to 255.
        endless: Whether a command such as `logcat` goes on until its reader hangs up.
        follow: Returns what such a command has written since it was last called, and None once it has ended by
            itself; None if it writes nothing and never ends.
    """

    stdout: bytes
    stderr: bytes
    code: int
    endless: bool = False
    follow: Callable[[], bytes | None] | None = None


def run(phone: Phone, command: str, stdin: bytes | Input = b"", merged: bool = False) -> Output:
    """Runs a command line as root, as `adb shell` does.

    Args:
        phone: The phone.
        command: A script in the language of Android's shell. Bytes that are not UTF-8 are given and returned as
            Python's surrogate escapes.
        stdin: The standard input.
        merged: Whether messages go to standard output, among the rest.
    """
    return Session(phone).run(command, stdin, merged, alone=True)


class Session:
    """An interactive shell: variables and working directory stay from one line to the next.

    Args:
        phone: The phone.

    Attributes:
        ended: Whether `exit` was called.
    """

    def __init__(self, phone: Phone) -> None:
        self.shell = Shell(phone, COMMANDS)
        self.ended = False  # `exit` was called

    def run(self, command: str, stdin: bytes | Input = b"", merged: bool = False, alone: bool = False) -> Output:
        """Runs the next lines; if they are `alone`, the shell ends after them. See `run`."""
        shell, output = self.shell, Sink()
        shell.refresh()
        shell.errors = output if merged else Sink()
        streams = Streams(stdin if isinstance(stdin, Input) else Input(stdin), output, shell.errors)
        try:
            code = shell.program(command, streams) if alone else shell.source(command, streams)
        except Exit as exit:
            code, self.ended = exit.code, not isinstance(exit, Abort)
            if isinstance(exit, Killed):
                streams.stderr += b"Killed\n"
        except (TooSlow, RecursionError):  # such as that of a walk through thousands of folders in one another
            code = KILLED
            streams.stderr += b"Killed\n"
        except OSError as error:  # the disk is full
            code = 1
            streams.stderr += f"{error.strerror}\n".encode()
        return Output(bytes(output), b"" if merged else bytes(shell.errors), code & 255, shell.endless, shell.follow)


def is_complete(text: str) -> bool:
    """Returns whether a text can be run; if not, an interactive shell asks for another line."""
    try:
        return parse.is_complete(text)
    except Unfinished:
        return False
    except (SyntaxFault, RecursionError):
        return True
