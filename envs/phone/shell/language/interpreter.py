"""Runs parsed scripts: control flow, pipes, redirections."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import kernel
from coach_gym.envs.phone.shell.language import parse, syntax
from coach_gym.envs.phone.shell.language.environment import KILLED, NAME, Environment, Exit, Fault, Leave, Return
from coach_gym.envs.phone.shell.language.expansion import Expander
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Input, Process, Sink, Streams
from coach_gym.envs.phone.shell.language.words import SyntaxFault

LAUNCHERS = ("/system/bin/", "/system/xbin/", "/bin/", "/vendor/bin/")
MOST_COMMANDS = 100_000  # commands per run, so that `while true` ends
DEEPEST = 50  # nested functions and evals


class Shell(Environment):
    """One run of the shell on a phone.

    Args:
        phone: The phone.
        commands: All commands by name.

    Attributes:
        errors: Where substitutions write their messages.
        endless: Whether a command goes on until its reader hangs up.
        follow: Returns what such a command has written since it was last called.
        deadline: When the phone's clock ends the command that runs, because of `timeout`.
    """

    def __init__(self, phone: Phone, commands: dict[str, Command]) -> None:
        super().__init__()
        self.phone, self.commands = phone, commands
        self.errors: bytearray = Sink()
        self.endless = False
        self.follow: Callable[[], bytes | None] | None = None
        self.deadline: datetime | None = None
        self._left = MOST_COMMANDS
        self._depth = 0
        self._expander = Expander(self, phone.storage, self._substitution)

    def refresh(self) -> None:
        """Gives the next run of an interactive shell a budget of its own."""
        self._left, self._depth, self.endless, self.follow = MOST_COMMANDS, 0, False, None

    def end_program(self) -> None:
        """Ends the endless command that runs in the background, after a last look at what it follows."""
        if self.follow is not None:
            self.follow()
        self.endless, self.follow = False, None

    def _inherit(self, other: Shell) -> None:
        """Takes over the budget of another shell, inside or around this one."""
        self._left, self._depth = other._left, max(self._depth, other._depth + 1)
        self.endless, self.follow = self.endless or other.endless, self.follow or other.follow
        self.errors, self.deadline = other.errors, other.deadline

    def source(self, text: str, streams: Streams) -> int:
        """Runs a script in this shell. Returns its exit code; a syntax error is a message and code 1."""
        try:
            script = parse.parse(text)
        except (SyntaxFault, RecursionError) as fault:
            streams.stderr += f"{NAME}: {fault}\n".encode("utf-8", "surrogateescape")
            self.code = 1
            return 1
        with self._deeper():
            return self._script(script, streams)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Exit(1)
        try:
            yield
        finally:
            self._depth -= 1

    # control flow

    def _script(self, script: syntax.Script, streams: Streams) -> int:
        """Runs commands one after the other. Returns the exit code of the last."""
        for and_or in script:
            for op, pipeline in and_or:
                if op and (op == "&&") == bool(self.code):
                    continue
                self._pipeline(pipeline, streams)
        return self.code

    def _pipeline(self, pipeline: syntax.Pipeline, streams: Streams) -> None:
        *first, last = pipeline.commands
        stdin = streams.stdin
        for command in first:
            output = Sink()
            self._isolated(command, Streams(stdin, output, streams.stderr))
            stdin = Input(bytes(output))
        streams = Streams(stdin, streams.stdout, streams.stderr) if first else streams
        self._command(last, streams)
        if pipeline.negated:
            self.code = int(not self.code)

    def _isolated(self, command: syntax.Command, streams: Streams) -> None:
        """Runs a command in a subshell, which keeps its variables and its folder to itself."""
        kept = self.variables, self.folder, self.arguments, self.functions
        self.variables, self.functions = dict(self.variables), dict(self.functions)
        try:
            self._command(command, streams)
        except Exit as exit:
            self.code = exit.code
        except Leave:
            pass
        finally:
            self.variables, self.folder, self.arguments, self.functions = kept

    def _command(self, command: syntax.Command, streams: Streams) -> None:
        """Runs a command and keeps its exit code."""
        try:
            if isinstance(command, syntax.Simple):
                self._simple(command, streams)
            elif isinstance(command, syntax.Function):
                self.functions[command.name] = command.body
                self.code = 0
            else:
                with self._redirected(command.redirects, streams) as inner:
                    self._compound(command.command, inner)
        except Fault as fault:
            streams.stderr += f"{NAME}: {fault}\n".encode("utf-8", "surrogateescape")
            self.code = 1

    def _compound(self, command: object, streams: Streams) -> None:
        """Runs a construct of several commands."""
        match command:
            case syntax.If():
                self._if(command, streams)
            case syntax.For():
                self._for(command, streams)
            case syntax.While():
                self._while(command, streams)
            case syntax.Case():
                self._case(command, streams)
            case syntax.Group(body, False):
                self._script(body, streams)
            case syntax.Group(body, True):
                group = syntax.Compound(syntax.Group(body, False), [])
                self._isolated(group, streams)

    def _if(self, command: syntax.If, streams: Streams) -> None:
        for condition, body in command.branches:
            if self._script(condition, streams) == 0:
                self._script(body, streams)
                return
        self.code = 0
        self._script(command.otherwise, streams)

    def _for(self, command: syntax.For, streams: Streams) -> None:
        words = self.arguments if command.words is None else self._fields(command.words)
        self.code = 0
        for word in words:
            self.spend()
            self.variables[command.name] = word
            if self._loop(command.body, streams):
                break

    def _while(self, command: syntax.While, streams: Streams) -> None:
        code = 0
        while (self._script(command.condition, streams) == 0) != command.until:
            self.spend()
            done = self._loop(command.body, streams)
            code = self.code
            if done:
                break
        self.code = code

    def _loop(self, body: syntax.Script, streams: Streams) -> bool:
        """Runs the body of a loop once. Returns whether the loop ends."""
        try:
            self._script(body, streams)
        except Leave as leave:
            if leave.loops > 1:
                raise Leave(leave.loops - 1, leave.again) from None
            return not leave.again
        return False

    def _case(self, command: syntax.Case, streams: Streams) -> None:
        text = self._expander.text(command.word)
        self.code = 0
        for patterns, body in command.items:
            if any(fnmatch.fnmatchcase(text, self._expander.pattern(pattern)) for pattern in patterns):
                self._script(body, streams)
                return

    # simple commands

    def _simple(self, command: syntax.Simple, streams: Streams) -> None:
        """Expands the words of a command and runs it."""
        self.spend()
        self.substituted = 0  # the exit code of the last substitution, which is that of `a=$(false)`
        words = self._fields(command.words)
        with self._redirected(command.redirects, streams) as inner:
            kept = self.variables
            if words and command.assignments:
                self.variables = dict(kept)
            for name, word in command.assignments:
                self.assign(name, self._expander.text(word))
            if not words:
                self.code = self.substituted
                return
            try:
                self.code = self.run(words, inner)
            finally:
                if command.assignments:
                    self.variables = kept

    def _fields(self, words: list[syntax.Word]) -> list[str]:
        return [field for word in words for field in self._expander.fields(word)]

    def spend(self) -> None:
        """Counts a step; a run that takes too many is killed."""
        self._left -= 1
        if self._left < 0:
            raise Exit(KILLED)

    def run(self, words: list[str], streams: Streams) -> int:
        """Runs a command given as a list of words. Returns its exit code."""
        name = words[0]
        if function := self.functions.get(name):
            return self._call(function, words[1:], streams)
        command = self.commands.get(name) or self._by_path(name)
        if command is None:
            path = real(name, self.folder)
            known = "/" in name and self.phone.storage.exists(path)
            why, code = ("can't execute: Permission denied", 126) if known else ("inaccessible or not found", 127)
            streams.stderr += f"{NAME}: {name}: {why}\n".encode("utf-8", "surrogateescape")
            return code
        return command(Process(self, name.rpartition("/")[2], words[1:], streams))

    def _by_path(self, name: str) -> Command | None:
        launcher, _, tool = name.rpartition("/")
        return self.commands.get(tool) if f"{launcher}/" in LAUNCHERS else None

    def subshell(self, text: str, arguments: list[str], streams: Streams) -> int:
        """Runs a script in a new shell; the first argument, if any, is its `$0`. Returns its exit code."""
        shell = Shell(self.phone, self.commands)
        shell.variables, shell.folder, shell.arguments = dict(self.variables), self.folder, arguments[1:]
        shell.name = arguments[0] if arguments else NAME
        shell._inherit(self)
        try:
            return shell.source(text, streams)
        except Leave:
            return 0
        except Exit as exit:
            if exit.code == KILLED:
                raise
            return exit.code
        finally:
            self._inherit(shell)

    def _call(self, function: syntax.Compound, arguments: list[str], streams: Streams) -> int:
        kept, self.arguments = self.arguments, arguments
        try:
            with self._deeper():
                self._command(function, streams)
        except Return as ended:
            return ended.code
        finally:
            self.arguments = kept
        return self.code

    # redirections

    @contextmanager
    def _redirected(self, redirects: list[syntax.Redirect], streams: Streams) -> Iterator[Streams]:
        """Applies redirections; files receive what was written to them at the end."""
        if not redirects:
            yield streams
            return
        table: dict[int, Input | bytearray] = {0: streams.stdin, 1: streams.stdout, 2: streams.stderr}
        written: list[tuple[str, bytearray]] = []
        for redirect in redirects:
            self._redirect(redirect, table, written)
        try:
            yield Streams(table[0], table[1], table[2])  # type: ignore[arg-type]
        finally:
            for path, content in written:
                self.phone.storage.write(path, bytes(content))
            if written:
                self.phone.changed()

    def _redirect(
        self, redirect: syntax.Redirect, table: dict[int, Input | bytearray], written: list[tuple[str, bytearray]]
    ) -> None:
        target = self._expander.text(redirect.word)
        if redirect.op.startswith("<<"):
            table[redirect.descriptor] = Input(target.encode("utf-8", "surrogateescape"))
        elif redirect.op == "<":
            table[redirect.descriptor] = Input(self._readable(target))
        elif redirect.op in (">&", "<&"):
            if target != "-" and (not target.isdecimal() or int(target) not in table):
                raise Fault(f"{target}: bad file descriptor")
            table[redirect.descriptor] = Sink() if target == "-" else table[int(target)]
        elif (path := real(target, self.folder)).startswith("/dev/"):
            table[redirect.descriptor] = Sink() if path == "/dev/null" else table[1]
        else:
            content = Sink(self._writable(target, path, redirect.op == ">>"))
            written.append((path, content))
            table[redirect.descriptor] = content

    def _readable(self, name: str) -> bytes:
        path = real(name, self.folder)
        data = b"" if path == "/dev/null" else kernel.read(self.phone, path) or self.phone.storage.read(path)
        if data is None:
            raise Fault(f"can't open {name}: {NO_FILE}")
        return data

    def _writable(self, name: str, path: str, append: bool) -> bytes:
        """Opens a file for writing, and empties it unless `append` is set. Returns its contents."""
        storage = self.phone.storage
        if storage.is_dir(path):
            raise Fault(f"can't create {name}: Is a directory")
        if not name or not storage.is_dir(path.rpartition("/")[0]):
            raise Fault(f"can't create {name}: {NO_FILE}")
        data = storage.read(path) if append else None
        if data is None:
            storage.write(path, b"")
        return data or b""

    def _substitution(self, script: syntax.Script) -> str:
        output = Sink()
        group = syntax.Compound(syntax.Group(script, False), [])
        self._isolated(group, Streams(Input(), output, self.errors))
        self.substituted = self.code
        return bytes(output).replace(b"\0", b"").decode("utf-8", "surrogateescape").rstrip("\n")

