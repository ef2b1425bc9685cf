"""Carries out parsed scripts: expansion of words, redirections, pipes, control flow."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from contextlib import contextmanager

from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.language import arithmetic, parse, syntax
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Input, Process, Streams

NAME = "/system/bin/sh"
LAUNCHERS = ("/system/bin/", "/system/xbin/", "/bin/", "/vendor/bin/")
ENVIRONMENT = {
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:"
    "/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    "HOME": "/", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/sh", "HOSTNAME": "emu64x", "TERM": "dumb",
    "TMPDIR": "/data/local/tmp", "ANDROID_ROOT": "/system", "ANDROID_DATA": "/data", "ANDROID_STORAGE": "/storage",
    "EXTERNAL_STORAGE": "/sdcard", "IFS": " \t\n",
}  # fmt: skip
MOST_COMMANDS = 100_000  # in one run: `while true` must not stop the phone for ever
LONGEST = 1 << 24  # characters of a variable
KILLED = 137  # the code of a run that took too much
DEEPEST = 50  # functions and `eval` in each other

_GLOB = re.compile(r"[*?]|\[.+\]", re.DOTALL)
_SPECIAL = re.compile(r"^~|[*?{]|\[.+\]", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
MOST_ALTERNATIVES = 1000
_BLANKS = re.compile(r"[ \t\n]+")
Piece = tuple[str, bool]  # text, and whether it was quoted


class Exit(Exception):
    """The shell ends with a code."""

    def __init__(self, code: int) -> None:
        self.code = code


class Return(Exit):
    """A function ends with a code."""


class Leave(Exception):
    """`break` or, if `again` is set, `continue`, out of so many loops."""

    def __init__(self, loops: int, again: bool) -> None:
        self.loops, self.again = loops, again


class Fault(Exception):
    """A command cannot be run as written, e.g. for its redirection."""


class Shell:
    """One run of the shell on a phone."""

    def __init__(self, phone: Phone, commands: dict[str, Command]) -> None:
        self.phone, self.commands = phone, commands
        self.variables = dict(ENVIRONMENT)
        self.functions: dict[str, syntax.Compound] = {}
        self.arguments: list[str] = []
        self.name = NAME  # `$0`
        self.folder = "/"
        self.code = 0
        self.errors = bytearray()  # where substitutions write their messages
        self.endless = False  # a command goes on until its reader hangs up
        self._left = MOST_COMMANDS
        self._depth = 0

    def refresh(self) -> None:
        """Gives the next run of an interactive shell its own budget."""
        self._left, self._depth, self.endless = MOST_COMMANDS, 0, False

    def _inherit(self, other: Shell) -> None:
        """Takes over the budget of another shell, inside this one or around it."""
        self._left, self._depth = other._left, max(self._depth, other._depth + 1)
        self.endless = self.endless or other.endless
        self.errors = other.errors

    def source(self, text: str, streams: Streams) -> int:
        """Runs a script in this shell; what does not parse is a message and code 1."""
        try:
            script = parse.parse(text)
        except (parse.SyntaxFault, RecursionError) as fault:
            streams.stderr += f"{NAME}: {fault}\n".encode("utf-8", "surrogateescape")
            self.code = 1
            return 1
        with self._deeper():
            return self.script(script, streams)

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

    def script(self, script: syntax.Script, streams: Streams) -> int:
        """Runs commands one after the other. Returns the code of the last."""
        for and_or in script:
            for op, pipeline in and_or:
                if op and (op == "&&") == bool(self.code):
                    continue
                self.pipeline(pipeline, streams)
        return self.code

    def pipeline(self, pipeline: syntax.Pipeline, streams: Streams) -> None:
        *first, last = pipeline.commands
        stdin = streams.stdin
        for command in first:
            output = bytearray()
            self._isolated(command, Streams(stdin, output, streams.stderr))
            stdin = Input(bytes(output))
        streams = Streams(stdin, streams.stdout, streams.stderr) if first else streams
        self.command(last, streams)
        if pipeline.negated:
            self.code = int(not self.code)

    def _isolated(self, command: syntax.Command, streams: Streams) -> None:
        """Runs a command in a subshell, which keeps its variables and its folder to itself."""
        kept = self.variables, self.folder, self.arguments, self.functions
        self.variables, self.functions = dict(self.variables), dict(self.functions)
        try:
            self.command(command, streams)
        except Exit as exit:
            self.code = exit.code
        except Leave:
            pass
        finally:
            self.variables, self.folder, self.arguments, self.functions = kept

    def command(self, command: syntax.Command, streams: Streams) -> None:
        """Runs one command and keeps its code."""
        try:
            if isinstance(command, syntax.Simple):
                self.simple(command, streams)
            elif isinstance(command, syntax.Function):
                self.functions[command.name] = command.body
                self.code = 0
            else:
                with self._redirected(command.redirects, streams) as inner:
                    self.compound(command.command, inner)
        except Fault as fault:
            streams.stderr += f"{NAME}: {fault}\n".encode("utf-8", "surrogateescape")
            self.code = 1

    def compound(self, command: object, streams: Streams) -> None:
        """Runs a construct of several commands."""
        match command:
            case syntax.If():
                self.if_(command, streams)
            case syntax.For():
                self.for_(command, streams)
            case syntax.While():
                self.while_(command, streams)
            case syntax.Case():
                self.case(command, streams)
            case syntax.Group(body, False):
                self.script(body, streams)
            case syntax.Group(body, True):
                group = syntax.Compound(syntax.Group(body, False), [])
                self._isolated(group, streams)

    def if_(self, command: syntax.If, streams: Streams) -> None:
        for condition, body in command.branches:
            if self.script(condition, streams) == 0:
                self.script(body, streams)
                return
        self.code = 0
        self.script(command.otherwise, streams)

    def for_(self, command: syntax.For, streams: Streams) -> None:
        words = self.arguments if command.words is None else [f for w in command.words for f in self.fields(w)]
        self.code = 0
        for word in words:
            self.spend()
            self.variables[command.name] = word
            if self._loop(command.body, streams):
                break

    def while_(self, command: syntax.While, streams: Streams) -> None:
        code = 0
        while (self.script(command.condition, streams) == 0) != command.until:
            self.spend()
            done = self._loop(command.body, streams)
            code = self.code
            if done:
                break
        self.code = code

    def _loop(self, body: syntax.Script, streams: Streams) -> bool:
        """Goes through the body of a loop once; True if the loop is to be left."""
        try:
            self.script(body, streams)
        except Leave as leave:
            if leave.loops > 1:
                raise Leave(leave.loops - 1, leave.again) from None
            return not leave.again
        return False

    def case(self, command: syntax.Case, streams: Streams) -> None:
        text = self.text(command.word)
        self.code = 0
        for patterns, body in command.items:
            if any(fnmatch.fnmatchcase(text, self.pattern(pattern)) for pattern in patterns):
                self.script(body, streams)
                return

    # simple commands

    def simple(self, command: syntax.Simple, streams: Streams) -> None:
        """Expands the words of a command and runs it."""
        self.spend()
        self.substituted = 0  # the code of the last substitution: that of `a=$(false)`
        words = [field for word in command.words for field in self.fields(word)]
        with self._redirected(command.redirects, streams) as inner:
            kept = self.variables
            if words and command.assignments:
                self.variables = dict(kept)
            for name, word in command.assignments:
                self.assign(name, self.text(word))
            if not words:
                self.code = self.substituted
                return
            try:
                self.code = self.run(words, inner)
            finally:
                if command.assignments:
                    self.variables = kept

    def spend(self) -> None:
        """Counts a step; a run that takes too many is killed."""
        self._left -= 1
        if self._left < 0:
            raise Exit(KILLED)

    def assign(self, name: str, value: str) -> None:
        """Sets a variable."""
        if len(value) > LONGEST:
            raise Exit(KILLED)
        self.variables[name] = value

    def run(self, words: list[str], streams: Streams) -> int:
        """Runs a command given as a list of words. Returns its code."""
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
        """Runs a script in a shell of its own; the first argument, if any, is its `$0`. Returns its exit code."""
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
                self.command(function, streams)
        except Return as ended:
            return ended.code
        finally:
            self.arguments = kept
        return self.code

    # redirections

    @contextmanager
    def _redirected(self, redirects: list[syntax.Redirect], streams: Streams) -> Iterator[Streams]:
        """The streams with redirections applied; what was written to files is there at the end."""
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
        target = self.text(redirect.word)
        if redirect.op.startswith("<<"):
            table[redirect.descriptor] = Input(target.encode("utf-8", "surrogateescape"))
        elif redirect.op == "<":
            table[redirect.descriptor] = Input(self._readable(target))
        elif redirect.op in (">&", "<&"):
            if target != "-" and (not target.isdecimal() or int(target) not in table):
                raise Fault(f"{target}: bad file descriptor")
            table[redirect.descriptor] = bytearray() if target == "-" else table[int(target)]
        elif (path := real(target, self.folder)).startswith("/dev/"):
            table[redirect.descriptor] = bytearray() if path == "/dev/null" else table[1]
        else:
            content = bytearray(self._writable(target, path, redirect.op == ">>"))
            written.append((path, content))
            table[redirect.descriptor] = content

    def _readable(self, name: str) -> bytes:
        path = real(name, self.folder)
        data = b"" if path == "/dev/null" else self.phone.storage.read(path)
        if data is None:
            raise Fault(f"can't open {name}: {NO_FILE}")
        return data

    def _writable(self, name: str, path: str, append: bool) -> bytes:
        """Opens a file for writing, which empties it unless `append` is set. Returns what is in it."""
        storage = self.phone.storage
        if storage.is_dir(path):
            raise Fault(f"can't create {name}: Is a directory")
        if not name or not storage.is_dir(path.rpartition("/")[0]):
            raise Fault(f"can't create {name}: {NO_FILE}")
        data = storage.read(path) if append else None
        if data is None:
            storage.write(path, b"")
        return data or b""

    # words

    def fields(self, word: syntax.Word) -> list[str]:
        """What a word becomes: expanded, split at blanks, matched against file names."""
        if len(word) == 1 and isinstance(word[0], syntax.Literal):  # nearly all words
            literal = word[0]
            if literal.quoted or not _SPECIAL.search(literal.text):
                return [literal.text]
            if alternatives := _alternatives(literal.text):
                return [field for text in alternatives for field in self.fields((syntax.Literal(text, False),))]
        fields: list[list[Piece]] = []
        open = False  # the next part belongs to the last field
        for part in word:
            for piece in self._pieces(part):
                if piece is None:
                    open = False
                elif open:
                    fields[-1].append(piece)
                else:
                    fields.append([piece])
                    open = True
        return [name for field in fields for name in self._matched(field)]

    def _pieces(self, part: syntax.Part) -> Iterator[Piece | None]:
        """What a part of a word contributes; None ends a field."""
        if isinstance(part, syntax.Literal):
            yield part.text, part.quoted
        elif isinstance(part, syntax.Variable) and part.name == "@" and not part.op and part.quoted:
            for index, argument in enumerate(self.arguments):
                if index:
                    yield None
                yield argument, True
        elif part.quoted:
            yield self.value(part), True
        else:
            value = self.value(part)
            for index, text in enumerate(_BLANKS.split(value) if value else []):
                if index:
                    yield None
                if text:
                    yield text, False

    def _matched(self, field: list[Piece]) -> list[str]:
        """The names that match a field with unquoted `*`, `?` or `[`; else its text."""
        if not field[0][1] and field[0][0].startswith("~"):
            home = re.sub(r"^~(?=/|$)", self.variables.get("HOME", "/").rstrip("/"), field[0][0]) or "/"
            field = [(home, False), *field[1:]]
        text = "".join(text for text, _ in field)
        if any(not quoted and _GLOB.search(text) for text, quoted in field):
            return self._glob(_pattern(field)) or [text]
        return [text]

    def _glob(self, pattern: str) -> list[str]:
        names = ["/" if pattern.startswith("/") else ""]
        *folders, last = [segment for segment in re.split(r"/+", pattern) if segment]
        for segment in folders:
            names = [f"{name}/" for name in self._below(names, segment) if self._is_dir(name)]
        names = self._below(names, last)
        return sorted(f"{n}/" for n in names if self._is_dir(n)) if pattern.endswith("/") else sorted(names)

    def _below(self, folders: list[str], pattern: str) -> list[str]:
        """Paths in folders (each ends in a slash, or is empty for this one) whose last name matches."""
        if not _GLOB.search(pattern):
            return [folder + pattern for folder in folders if self._exists(folder + pattern)]
        listing = self.phone.storage.listdir
        return [
            folder + name
            for folder in folders
            for name in listing(real(folder, self.folder))
            if fnmatch.fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))
        ]

    def _exists(self, name: str) -> bool:
        return self.phone.storage.exists(real(name, self.folder))

    def _is_dir(self, name: str) -> bool:
        return self.phone.storage.is_dir(real(name, self.folder))

    def text(self, word: syntax.Word) -> str:
        """A word expanded, but neither split nor matched."""
        parts = (part.text if isinstance(part, syntax.Literal) else self.value(part) for part in word)
        return "".join(parts)

    def pattern(self, word: syntax.Word) -> str:
        """A word expanded to a pattern, in which quoted text stands for itself."""
        pieces = [
            (part.text, part.quoted) if isinstance(part, syntax.Literal) else (self.value(part), part.quoted)
            for part in word
        ]
        return _pattern(pieces)

    def value(self, part: syntax.Part) -> str:
        """What a part of a word that begins with a dollar stands for."""
        if isinstance(part, syntax.Variable):
            return self._variable(part)
        if isinstance(part, syntax.Substitution):
            return self._substitution(part.script)
        if isinstance(part, syntax.Arithmetic):
            try:
                return str(arithmetic.evaluate(self.text(part.word), self.variables))
            except arithmetic.Invalid as fault:
                raise Fault(str(fault)) from None
        return part.text

    def _substitution(self, script: syntax.Script) -> str:
        output = bytearray()
        group = syntax.Compound(syntax.Group(script, False), [])
        self._isolated(group, Streams(Input(), output, self.errors))
        self.substituted = self.code
        return bytes(output).replace(b"\0", b"").decode("utf-8", "surrogateescape").rstrip("\n")

    def _variable(self, part: syntax.Variable) -> str:
        value = self._lookup(part.name)
        op, colon = part.op.lstrip(":"), part.op.startswith(":")
        missing = value is None or (colon and not value)
        match op:
            case "#length":
                return str(len(self.arguments) if part.name in "@*" else len(value or ""))
            case "-":
                return self.text(part.word) if missing else value or ""
            case "+":
                return "" if missing else self.text(part.word)
            case "=" if missing:
                self.assign(part.name, self.text(part.word))
                return self.variables[part.name]
            case "?" if missing:
                raise Fault(f"{part.name}: {self.text(part.word) or 'parameter null or not set'}")
            case "#" | "##" | "%" | "%%":
                return _trimmed(value or "", op, self.pattern(part.word))
            case "/" | "//":
                return self._replaced(value or "", part)
            case "" if colon:
                return self._slice(value or "", self.text(part.word))
        return value or ""

    def _replaced(self, value: str, part: syntax.Variable) -> str:
        """`${name/pattern/text}`, or of all matches with two slashes."""
        pattern, _, new = self.text(part.word).partition("/")
        regex = fnmatch.translate(pattern)[4:-3]  # without what binds it to the whole text
        return re.sub(regex, lambda match: new, value, count=0 if part.op == "//" else 1) if pattern else value

    def _slice(self, value: str, place: str) -> str:
        """`${name:start:length}`."""
        start, colon, length = place.partition(":")
        try:
            first = arithmetic.evaluate(start, self.variables)
            count = arithmetic.evaluate(length, self.variables) if colon else len(value)
        except arithmetic.Invalid as fault:
            raise Fault(str(fault)) from None
        first = max(0, first + len(value)) if first < 0 else first
        return value[first : first + count] if count >= 0 else value[first:count]

    def _lookup(self, name: str) -> str | None:
        match name:
            case "?":
                return str(self.code)
            case "#":
                return str(len(self.arguments))
            case "@" | "*":
                return " ".join(self.arguments)
            case "$" | "!":
                return "4242"
            case "-":
                return ""
            case "0":
                return self.name
        if name.isdecimal():
            return self.arguments[int(name) - 1] if int(name) <= len(self.arguments) else None
        return self.variables.get(name)


def _alternatives(text: str) -> list[str]:
    """What the first innermost `{a,b}` in a text makes of it; empty if there is none."""
    match = _BRACES.search(text)
    if match is None or text.count("{") > 8 or match[1].count(",") > MOST_ALTERNATIVES:
        return []
    return [text[: match.start()] + choice + text[match.end() :] for choice in match[1].split(",")]


def _pattern(pieces: list[Piece]) -> str:
    """Pieces as one pattern for fnmatch; special characters of quoted ones stand for themselves."""
    return "".join(_MAGIC.sub(r"[\g<0>]", text) if quoted else text for text, quoted in pieces)


def _trimmed(value: str, op: str, pattern: str) -> str:
    """A value without the shortest (`#`, `%`) or longest (`##`, `%%`) prefix or suffix that matches."""
    ends = range(len(value) + 1)
    if op[0] == "#":
        cuts = (value[end:] for end in (ends if op == "#" else reversed(ends)) if _fits(value[:end], pattern))
    else:
        cuts = (value[:end] for end in (reversed(ends) if op == "%" else ends) if _fits(value[end:], pattern))
    return next(cuts, value)


def _fits(text: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(text, pattern)
