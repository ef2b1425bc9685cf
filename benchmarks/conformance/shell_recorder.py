"""Records what programs ask of the phone's shell: commands with their options, and the syntax of their scripts."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

from coach_gym.envs.phone.shell.language import parse, syntax
from coach_gym.envs.phone.shell.language.interpreter import Shell
from coach_gym.envs.phone.shell.language.process import Streams
from coach_gym.envs.phone.shell.language.words import SyntaxFault

WITH_SUBCOMMANDS = frozenset(
    "am appops cmd content device_config dumpsys ime input monkey pm service settings svc uiautomator wm".split()
)
NOT_FOUND = 127
_WORD = re.compile(r"[a-zA-Z][\w.-]*")


class Record:
    """What was asked, and by whom.

    Attributes:
        commands: By command, with its subcommand if it has any: how often each source ran it.
        options: By command: the options it was given.
        syntax: By construct: how often each source wrote it.
        missing: Commands that the shell did not find.
    """

    def __init__(self) -> None:
        self.commands: dict[str, Counter[str]] = defaultdict(Counter)
        self.options: dict[str, set[str]] = defaultdict(set)
        self.syntax: dict[str, Counter[str]] = defaultdict(Counter)
        self.missing: set[str] = set()
        self._lock = threading.Lock()  # phones are served by threads

    @contextmanager
    def listening(self, source: str) -> Iterator[None]:
        """Records whatever the shells of all phones of this process run within the `with` block."""
        run, read = Shell.run, Shell.source

        def recorded_run(shell: Shell, words: list[str], streams: Streams) -> int:
            code = run(shell, words, streams)
            self.note_command(source, words, missing=code == NOT_FOUND and words[0] not in shell.functions)
            return code

        def recorded_source(shell: Shell, text: str, streams: Streams) -> int:
            self.note_script(source, text)
            return read(shell, text, streams)

        Shell.run, Shell.source = recorded_run, recorded_source  # type: ignore[method-assign]
        try:
            yield
        finally:
            Shell.run, Shell.source = run, read  # type: ignore[method-assign]

    def note_command(self, source: str, words: list[str], missing: bool = False) -> None:
        """Notes a command that ran, given as the shell expanded it."""
        tool, *arguments = words[0].rpartition("/")[2], *words[1:]
        name = tool
        if tool in WITH_SUBCOMMANDS and arguments and _WORD.fullmatch(arguments[0]):
            name = f"{tool} {arguments[0]}"
        with self._lock:
            self.commands[name][source] += 1
            self.options[name] |= {word for word in arguments if re.fullmatch(r"-[a-zA-Z0]\w{0,3}|--[a-z][\w-]+", word)}
            if missing:
                self.missing.add(name)

    def note_script(self, source: str, text: str) -> None:
        """Notes the constructs of a script; each counts once a script."""
        try:
            found = set(_constructs(parse.parse(text)))
        except (SyntaxFault, RecursionError):
            found = {"not parsed"}
        with self._lock:
            for construct in found:
                self.syntax[construct][source] += 1


def _constructs(node: Any) -> Iterator[str]:
    """Yields a name for each construct in a part of a syntax tree."""
    match node:
        case syntax.Pipeline(commands, negated):
            yield from (["|"] if len(commands) > 1 else []) + (["!"] if negated else [])
        case syntax.If() | syntax.For() | syntax.Case():
            yield type(node).__name__.lower()
        case syntax.While(until=until):
            yield "until" if until else "while"
        case syntax.Group(subshell=subshell):
            yield "( )" if subshell else "{ }"
        case syntax.Function():
            yield "function"
        case syntax.Redirect(descriptor, op):
            yield f"{descriptor if descriptor == 2 or op == '>&' else ''}{op}"
        case syntax.Simple(assignments):
            yield from ["name=value"] if assignments else []
        case syntax.Literal(text, quoted):
            yield from ["quotes or backslash"] if quoted else ["* ? ["] if set(text) & set("*?[") else []
        case syntax.Variable(name, op=op):
            yield f"${{name{op}…}}" if op else "$name" if name.isidentifier() else f"${name}"
        case syntax.Substitution():
            yield "$( )"
        case syntax.Arithmetic():
            yield "$(( ))"
            return
        case ("&&" | "||" as op, syntax.Pipeline()):
            yield op
        case [list(), _, *_]:
            yield "; or newline"
    children = [getattr(node, each.name) for each in fields(node)] if is_dataclass(node) else node
    if isinstance(children, list | tuple):
        for child in children:
            yield from _constructs(child)
