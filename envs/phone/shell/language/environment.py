"""The state of a shell, and the ways in which a script can end early."""

from __future__ import annotations

from coach_gym.envs.phone.shell.language import syntax

NAME = "/system/bin/sh"
ENVIRONMENT = {
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:"
    "/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    "HOME": "/", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/sh", "HOSTNAME": "emu64x", "TERM": "dumb",
    "TMPDIR": "/data/local/tmp", "ANDROID_ROOT": "/system", "ANDROID_DATA": "/data", "ANDROID_STORAGE": "/storage",
    "EXTERNAL_STORAGE": "/sdcard", "IFS": " \t\n",
}  # fmt: skip
LONGEST = 1 << 24  # characters of a variable
OWN_PID = "4242"
"""The id of every shell, and of what it runs in the background."""
KILLED = 137  # exit code of a run that exceeds its budget
HUNG_UP = 141  # exit code of a command whose reader has ended before


class Exit(Exception):
    """The shell ends with a code."""

    def __init__(self, code: int) -> None:
        self.code = code


class Killed(Exit):
    """A run exceeds its budget: none of it goes on, not even the shell around a pipe or a substitution."""

    def __init__(self) -> None:
        super().__init__(KILLED)


class Endless(Killed):
    """A command that never ends by itself has written all it may; in a pipe, its reader has had enough."""


class Abort(Exit):
    """A script cannot go on. An interactive shell takes its next line."""


class Return(Exit):
    """A function ends with a code."""


class Leave(Exception):
    """`break` or `continue`.

    Args:
        loops: How many loops to leave.
        again: Whether the outermost of them goes on with its next round.
    """

    def __init__(self, loops: int, again: bool) -> None:
        self.loops, self.again = loops, again


class TimedOut(Exception):
    """The time of `timeout` is up."""


class Fault(Exception):
    """A command cannot run as written, for instance because of its redirection."""


class Fatal(Fault):
    """What ends the whole script, for instance a variable that is not set under `set -u`."""


class Environment:
    """The state of a shell.

    Attributes:
        variables: Shell variables by name.
        functions: Functions by name.
        arguments: The positional parameters, from `$1` on.
        name: What `$0` stands for.
        folder: The working directory, with links left in it.
        code: The exit code of the last command.
        options: What `set` has turned on: `e`, `f`, `u`, `x` or `pipefail`.
        traps: The commands that `trap` has set, by signal.
        fixed: The names of variables that are read-only.
        job: The exit code of what was last run in the background; None if nothing was.
        loops: How many loops `break` can leave.
        hidden: For each function that runs, what the variables were that are local to it.
    """

    def __init__(self) -> None:
        self.variables = dict(ENVIRONMENT)
        self.functions: dict[str, syntax.Compound] = {}
        self.arguments: list[str] = []
        self.name = NAME
        self.folder = "/"
        self.code = 0
        self.options: set[str] = set()
        self.traps: dict[str, str] = {}
        self.fixed: set[str] = set()
        self.job: int | None = None
        self.loops = 0
        self.hidden: list[dict[str, str | None]] = []

    def assign(self, name: str, value: str) -> None:
        """Sets a variable. A value that is far too long ends the shell.

        Raises:
            Fatal: The variable is read-only.
        """
        if name in self.fixed:
            raise Fatal(f"{name}: is read only")
        if len(value) > LONGEST:
            raise Killed
        self.variables[name] = value
