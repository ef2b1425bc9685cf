"""Runs parsed scripts: control flow, pipes, redirections."""

from __future__ import annotations

import fnmatch
import inspect
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime

from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.language import parse, syntax
from coach_gym.envs.phone.shell.language.environment import (
    HUNG_UP,
    NAME,
    Abort,
    Endless,
    Environment,
    Exit,
    Fatal,
    Fault,
    Killed,
    Leave,
    Return,
)
from coach_gym.envs.phone.shell.language.expansion import Expander
from coach_gym.envs.phone.shell.language.filesystem import FileSystem
from coach_gym.envs.phone.shell.language.options import SPECIAL, BadOption, Help
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Input, Process, Sink, Streams, few
from coach_gym.envs.phone.shell.language.words import SyntaxFault
from coach_gym.envs.phone.shell.toybox.attributes import attributes

MOST_COMMANDS = 100_000  # commands per run, so that `while true` ends
MOST_SECONDS = 20.0  # seconds of processor time per run, so that it ends soon where each command takes long
DEEPEST = 50  # nested functions and evals
_RUNNERS = frozenset({"env", "nohup", "timeout"})  # their own errors are told from those of what they run
_INTERPRETER = re.compile(rb"#![ \t]*([^\s][^\n]*)")
_DECLARING = [[(syntax.Literal(name, False),)] for name in ("export", "local", "readonly", "typeset")]
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_CAT: syntax.Word = (syntax.Literal("cat", True),)
Table = dict[int, Input | bytearray]
"""What a command's descriptors stand for."""


class Shell(Environment):
    """One run of the shell on a phone.

    Args:
        phone: The phone.
        commands: All commands by name.
        files: The phone's files.

    Attributes:
        errors: Where substitutions write their messages.
        endless: Whether a command goes on until its reader hangs up.
        follow: Returns what such a command has written since it was last called.
        deadline: When the phone's clock ends the command that runs, because of `timeout`.
    """

    def __init__(self, phone: Phone, commands: dict[str, Command]) -> None:
        super().__init__()
        self.phone, self.commands, self.files = phone, commands, FileSystem(phone, commands)
        self.errors: bytearray = Sink()
        self.endless = False
        self.follow: Callable[[], bytes | None] | None = None
        self.deadline: datetime | None = None
        self._left, self._until = MOST_COMMANDS, math.inf
        self._depth = 0
        self._testing = 0  # greater than zero where a failure is no error under `set -e`, such as after `if`
        self._kept: list[tuple[str, bytearray]] = []  # files that `exec` has opened for writing
        self._expander = Expander(self, self.files, self._substitution)

    def refresh(self) -> None:
        """Gives the next run of an interactive shell a budget of its own."""
        self._left, self._until = MOST_COMMANDS, time.thread_time() + MOST_SECONDS
        self._depth, self.endless, self.follow = 0, False, None

    def end_program(self) -> None:
        """Ends the endless command that runs in the background, after a last look at what it follows."""
        if self.follow is not None:
            self.follow()
        self.endless, self.follow = False, None

    def _inherit(self, other: Shell) -> None:
        """Takes over the budget of another shell, inside or around this one."""
        self._left, self._until = other._left, other._until
        self._depth = max(self._depth, other._depth + 1)
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
            return self._script(script, streams) if script else 0

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Killed
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
                last = pipeline is and_or[-1][1]
                with nullcontext() if last and not pipeline.negated else self._tested():
                    self._pipeline(pipeline, streams)
                if self.code and last and "e" in self.options and not self._testing and not pipeline.negated:
                    raise Abort(self.code)
        return self.code

    @contextmanager
    def _tested(self) -> Iterator[None]:
        self._testing += 1
        try:
            yield
        finally:
            self._testing -= 1

    def _condition(self, script: syntax.Script, streams: Streams) -> bool:
        with self._tested():
            return self._script(script, streams) == 0

    def _pipeline(self, pipeline: syntax.Pipeline, streams: Streams) -> None:
        *first, last = pipeline.commands
        stdin, failed = streams.stdin, 0
        for command in first:
            output = Sink()
            try:
                self._isolated(command, Streams(stdin, output, streams.stderr))
            except Endless:
                self.code = HUNG_UP
            stdin, failed = Input(bytes(output)), self.code or failed
        if first:
            self._isolated(last, Streams(stdin, streams.stdout, streams.stderr))
        else:
            self._command(last, streams)
        if failed and "pipefail" in self.options:
            self.code = self.code or failed
        if pipeline.negated:
            self.code = int(not self.code)

    def _isolated(self, command: syntax.Command, streams: Streams) -> None:
        """Runs a command in a subshell, which keeps its variables and its folder to itself."""
        kept = self.variables, self.folder, self.arguments, self.functions, self.traps
        self.variables, self.functions, self.traps = dict(self.variables), dict(self.functions), {}
        try:
            with self._until_exit(), self._outside_loops():
                self._command(command, streams)
            with self._until_exit():
                self._end(streams)
        finally:
            self.variables, self.folder, self.arguments, self.functions, self.traps = kept

    @contextmanager
    def _until_exit(self) -> Iterator[None]:
        try:
            yield
        except Killed:
            raise
        except Exit as exit:
            self.code = exit.code

    def _end(self, streams: Streams) -> None:
        """Runs the command that a shell trapped its end with; the exit code stays, unless that command exits."""
        code = self.code
        if at_end := self.traps.pop("EXIT", ""):
            self.source(at_end, streams)
        self.code = code

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
            self._report(fault, streams, isinstance(fault, Fatal))

    def _report(self, fault: Fault, streams: Streams, fatal: bool) -> None:
        streams.stderr += f"{NAME}: {fault}\n".encode("utf-8", "surrogateescape")
        self.code = 1
        if fatal:
            raise Abort(1) from None

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
            case syntax.Group(body, True, background):
                group = syntax.Compound(syntax.Group(body, False), [])
                self._isolated(group, streams)
                if background:  # it has ended before the next command begins
                    self.job, self.code = self.code, 0

    def _if(self, command: syntax.If, streams: Streams) -> None:
        for condition, body in command.branches:
            if self._condition(condition, streams):
                self._script(body, streams)
                return
        self.code = 0
        self._script(command.otherwise, streams)

    def _for(self, command: syntax.For, streams: Streams) -> None:
        words = iter(self.arguments if command.words is None else self._fields(command.words))
        self.code = 0

        def once() -> bool:
            for word in words:
                self.assign(command.name, word)
                self._script(command.body, streams)
                return True
            return False

        self._loop(once)

    def _while(self, command: syntax.While, streams: Streams) -> None:
        code = 0

        def once() -> bool:
            nonlocal code
            if self._condition(command.condition, streams) == command.until:
                return False
            code = 0  # that of `break`
            code = self._script(command.body, streams)
            return True

        self._loop(once)
        self.code = code

    def _loop(self, once: Callable[[], bool]) -> None:
        """Runs the rounds of a loop, until one returns False or leaves it."""
        self.loops += 1
        try:
            while self._round(once):
                self.spend()
        finally:
            self.loops -= 1

    def _round(self, once: Callable[[], bool]) -> bool:
        try:
            return once()
        except Leave as leave:
            if leave.loops > 1:
                raise Leave(leave.loops - 1, leave.again) from None
            return leave.again

    @contextmanager
    def _outside_loops(self) -> Iterator[None]:
        """Runs what cannot leave the loops around it, such as a function."""
        kept, self.loops = self.loops, 0
        try:
            yield
        finally:
            self.loops = kept

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
        words = self._fields(command.words, declaring=command.words[:1] in _DECLARING)
        if "x" in self.options and words:
            streams.stderr += f"+ {' '.join(words)}\n".encode("utf-8", "surrogateescape")
        try:
            if words == ["exec"]:
                self._redirect_rest(command.redirects, streams)
            else:
                self._execute(command, words, streams)
        except Fault as fault:
            if words and words[0] in SPECIAL:
                raise Fatal(str(fault)) from None
            raise

    def _execute(self, command: syntax.Simple, words: list[str], streams: Streams) -> None:
        with self._redirected(command.redirects, streams) as inner:
            kept = {name: self.variables.get(name) for name, _ in command.assignments} if words else {}
            for name, word in command.assignments:
                self.assign(name, self._expander.text(word))
            if not words:
                self.code = self.substituted
                return
            try:
                self.code = self.run(words, inner)
            except Fault as fault:
                self._report(fault, inner, fatal=words[0] in SPECIAL)
            finally:
                if words[0] not in SPECIAL:
                    self._put_back(kept)
                self._write(self._kept)

    def number(self, text: str) -> int:
        """Returns the value of an arithmetic expression, which may assign to variables."""
        return self._expander.number(text)

    def _fields(self, words: list[syntax.Word], declaring: bool = False) -> list[str]:
        fields: list[str] = []
        for word in words:
            if declaring and isinstance(word[0], syntax.Literal) and _ASSIGNMENT.match(word[0].text):
                name, _, value = word[0].text.partition("=")
                fields.append(f"{name}={self._expander.text((syntax.Literal(value, word[0].quoted), *word[1:]))}")
            else:
                fields += self._expander.fields(word)
            few(fields)
        return fields

    def spend(self) -> None:
        """Counts a step; a run that takes too many, or too long, is killed."""
        self._left -= 1
        if self._left < 0:
            raise Killed
        self.look_at_clock()

    def look_at_clock(self) -> None:
        """Kills a run that takes too long; commands call it in loops over what they read."""
        if time.thread_time() > self._until:
            raise Killed

    def run(self, words: list[str], streams: Streams) -> int:
        """Runs a command given as a list of words. Returns its exit code."""
        name = words[0]
        if function := self.functions.get(name):
            return self._call(function, words[1:], streams)
        command = self.commands.get(name) or self._by_path(name)
        if command is None:
            return self._run_file(words, streams)
        process = Process(self, name.rpartition("/")[2], words[1:], streams)
        try:
            return command(process)
        except BadOption as fault:
            return process.fail(f'{fault} (see "{process.name} --help")', 125 if process.name in _RUNNERS else 1)
        except Help:
            process.print(f"usage: {process.name} …\n\n{inspect.getdoc(command)}")
            return 0
        except OSError as error:  # the disk is full, the path too long, or the place read-only
            self.phone.changed()
            return process.fail(f"{error.strerror}")

    def _run_file(self, words: list[str], streams: Streams) -> int:
        """Runs a script that is a file with the program that its first line names after `#!`, or with this shell."""
        name, path = words[0], real(words[0], self.folder)
        script = self.phone.storage.read(path)
        interpreter = _INTERPRETER.match(script or b"")
        named = interpreter[1].split() if interpreter else [b"/system/bin/sh"]
        runner = [word.decode("utf-8", "surrogateescape") for word in named]
        if "/" not in name or not self.phone.storage.exists(path):
            why, code = "inaccessible or not found", 127
        elif script is None or not attributes(self.phone, path).mode & 0o111:
            why, code = "can't execute: Permission denied", 126
        elif self._by_path(runner[0]) is None:
            why, code = "No such file or directory", 126
        else:
            return self.run([*runner, *words], streams)
        streams.stderr += f"{NAME}: {name}: {why}\n".encode("utf-8", "surrogateescape")
        return code

    def _by_path(self, name: str) -> Command | None:
        return self.files.program(real(name, self.folder)) if "/" in name else None

    def subshell(self, text: str, arguments: list[str], streams: Streams) -> int:
        """Runs a script in a new shell; the first argument, if any, is its `$0`. Returns its exit code."""
        shell = Shell(self.phone, self.commands)
        shell.variables, shell.folder, shell.arguments = dict(self.variables), self.folder, arguments[1:]
        shell.name = arguments[0] if arguments else NAME
        shell._inherit(self)
        try:
            return shell.program(text, streams)
        except Killed:
            raise
        except Exit as exit:
            return exit.code
        finally:
            self._inherit(shell)

    def program(self, text: str, streams: Streams) -> int:
        """Runs a script, and the command that it trapped the shell's end with. Returns its exit code."""
        with self._until_exit():
            self.code = self.source(text, streams)
        self._end(streams)
        return self.code

    def _call(self, function: syntax.Compound, arguments: list[str], streams: Streams) -> int:
        kept, self.arguments = self.arguments, arguments
        self.hidden.append({})
        try:
            with self._deeper(), self._outside_loops():
                self._command(function, streams)
        except Return as ended:
            return ended.code
        finally:
            self.arguments = kept
            self._put_back(self.hidden.pop())
        return self.code

    def include(self, text: str, arguments: list[str], streams: Streams) -> int:
        """Runs the script of a file in this shell, with arguments of its own if there are any."""
        kept, self.arguments = self.arguments, arguments or self.arguments
        try:
            with self._outside_loops():
                return self.source(text, streams)
        except Return as ended:
            return ended.code
        finally:
            if arguments:
                self.arguments = kept

    def _put_back(self, values: dict[str, str | None]) -> None:
        """Gives variables the values they had; None for those that were not set."""
        for name, value in values.items():
            if value is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = value

    # redirections

    @contextmanager
    def _redirected(self, redirects: list[syntax.Redirect], streams: Streams) -> Iterator[Streams]:
        """Applies redirections; files receive what was written to them at the end."""
        if not redirects:
            yield streams
            return
        table: Table = {0: streams.stdin, 1: streams.stdout, 2: streams.stderr}
        written: list[tuple[str, bytearray]] = []
        for redirect in redirects:
            self._redirect(redirect, table, written)
        try:
            yield _streams(table)
        finally:
            self._write(written)

    def _redirect_rest(self, redirects: list[syntax.Redirect], streams: Streams) -> None:
        """Redirects all that follows, as `exec > file` does."""
        table: Table = {0: streams.stdin, 1: streams.stdout, 2: streams.stderr}
        for redirect in redirects:
            if redirect.descriptor not in table:
                raise Fault(f"{redirect.descriptor}: bad file descriptor")
            self._redirect(redirect, table, self._kept)
        rest = _streams(table)
        streams.stdin, streams.stdout, streams.stderr = rest.stdin, rest.stdout, rest.stderr
        self.code = 0

    def _write(self, written: list[tuple[str, bytearray]]) -> None:
        for path, content in written:
            self.phone.storage.write(path, bytes(content))
        if written:
            self.phone.changed()

    def _redirect(self, redirect: syntax.Redirect, table: Table, written: list[tuple[str, bytearray]]) -> None:
        target = self._expander.text(redirect.word)
        if redirect.op.startswith("<<"):
            target += "\n" * (redirect.op == "<<<")
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
        data = self.files.read(real(name, self.folder))
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
        try:
            storage.write(path, data or b"")
        except OSError as error:
            raise Fault(f"can't create {name}: {f'{error.strerror}'.rpartition(': ')[2]}") from None
        return data or b""

    def _substitution(self, script: syntax.Script) -> str:
        match script:
            case [[("", syntax.Pipeline([syntax.Simple([], [], [syntax.Redirect(0, "<", word)])]))]]:
                script = [[("", syntax.Pipeline([syntax.Simple([], [_CAT, word], [])], False))]]  # $(< file)
        output = Sink()
        group = syntax.Compound(syntax.Group(script, False), [])
        self._isolated(group, Streams(Input(), output, self.errors))
        self.substituted = self.code
        return bytes(output).replace(b"\0", b"").decode("utf-8", "surrogateescape").rstrip("\n")


def _streams(table: Table) -> Streams:
    """Returns where a command reads and writes; a descriptor that is open for the other is empty, or loses all."""
    stdin, stdout, stderr = table[0], table[1], table[2]
    return Streams(
        stdin if isinstance(stdin, Input) else Input(),
        Sink() if isinstance(stdout, Input) else stdout,
        Sink() if isinstance(stderr, Input) else stderr,
    )
