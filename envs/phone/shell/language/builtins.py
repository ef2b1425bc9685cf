"""Commands that belong to the shell: variables, control flow, tests, and running other commands."""

from __future__ import annotations

import fnmatch
import re
import stat
from collections import deque

from coach_gym.envs.phone.paths import BIN, absolute, is_writable, link
from coach_gym.envs.phone.shell.commands import kernel
from coach_gym.envs.phone.shell.language import launching, variables
from coach_gym.envs.phone.shell.language.environment import NAME, OWN_PID, Exit, Fault, Leave, Return
from coach_gym.envs.phone.shell.language.options import letters, options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process
from coach_gym.envs.phone.shell.language.words import unescape
from coach_gym.envs.phone.shell.toybox.attributes import attributes


def true(p: Process) -> int:
    """Does nothing, successfully."""
    return 0


def false(p: Process) -> int:
    """Does nothing, unsuccessfully."""
    return 1


def cd(p: Process) -> int:
    """Changes the working directory: `-P` goes where links lead, `cd -` back, and `cd A B` to where the path has B for
    A; these two print it."""
    try:
        flags, words = letters(p.name, p.args, "LP")
    except Fault as fault:
        return p.complain(f"{NAME}: {fault}", 2)
    back = words == ["-"]
    name = words[0] if words and not back else p.shell.variables.get("OLDPWD" if back else "HOME", "/")
    if len(words) == 2 and words[0] in p.shell.folder:
        name = p.shell.folder.replace(words[0], words[1], 1)
    elif len(words) > 1:
        return p.complain(f"{NAME}: cd: {'bad substitution' if len(words) == 2 else 'too many arguments'}", 2)
    path = p.path(name)
    if not p.is_dir(path):
        why = "Not a directory" if p.exists(path) else NO_FILE
        return p.complain(f"{NAME}: cd: {name}: {why}", 2)
    p.shell.assign("OLDPWD", p.shell.folder)
    p.shell.folder = path if flags.endswith("P") else absolute(name, p.shell.folder)
    if back or len(words) == 2:
        p.print(p.shell.folder)
    return 0


def pwd(p: Process) -> int:
    """Prints the working directory; `-P` follows links."""
    flags, words = letters(p.name, p.args, "LP")
    if words:
        return p.complain(f"{NAME}: pwd: too many arguments")
    p.print(p.path(".") if flags.endswith("P") else p.shell.folder)
    return 0


def exit_(p: Process) -> int:
    """Ends the shell."""
    raise Exit(_status(p))


def return_(p: Process) -> int:
    """Ends a function."""
    raise Return(_status(p))


def _status(p: Process) -> int:
    """Returns the exit code that is asked for, else that of the last command."""
    word = p.args[0] if p.args else str(p.shell.code)
    if not re.fullmatch(r"[-+]?\d{1,9}", word, re.ASCII):
        return p.complain(f"{NAME}: {p.name}: {word}: bad number")
    return int(word) & 255


def break_(p: Process) -> int:
    """Leaves loops."""
    return _leave(p, again=False)


def continue_(p: Process) -> int:
    """Goes on with the next round of a loop."""
    return _leave(p, again=True)


def _leave(p: Process, again: bool) -> int:
    wanted, around = _loops(p), p.shell.loops
    if not around:
        return p.complain(f"{NAME}: {p.name}: can't {p.name}", 0)
    if wanted > around:
        p.complain(f"{NAME}: {p.name}: can only {p.name} {around} level(s)")
    p.shell.code = 0
    raise Leave(min(wanted, around), again)


def _loops(p: Process) -> int:
    _, words = letters(p.name, p.args, "")
    word = words[0] if words else "1"
    if not re.fullmatch(r"\d{1,9}", word, re.ASCII) or not int(word):
        raise Fault(f"{p.name}: {word}: bad {'value' if word == '0' else 'number'}")
    return int(word)


def wait(p: Process) -> int:
    """Waits for what runs in the background: it has ended already."""
    _, words = letters(p.name, p.args, "")
    for word in words:
        if not word.removeprefix("%").isdecimal():
            return p.complain(f"{NAME}: wait: {word}: argument must be %job or process id", 127)
    if not words:
        return 0
    return 127 if words[-1] != OWN_PID or p.shell.job is None else p.shell.job


def read(p: Process) -> int:
    """Reads a line into variables; the last one gets the rest. `-d` ends lines by another character, `-n` reads as many
    characters, `-r` leaves backslashes."""
    given = options(p.args, "rs", "dnNt")
    end = given.values.get("d", "\n")[:1].encode() or b"\0"
    size = given.count("N", given.count("n", 0))
    read = p.streams.stdin.exactly(size) if size else p.streams.stdin.line(end)
    text = read.removesuffix(end).decode("utf-8", "surrogateescape")
    text = text if "r" in given else re.sub(r"\\(.)", r"\1", text)
    names, blanks = given.words or ["REPLY"], p.shell.variables.get("IFS", " \t\n")
    text = text.strip(blanks) if blanks.isspace() else text
    words = re.split(_one_of(blanks), text, maxsplit=len(names) - 1) if len(names) > 1 and blanks else [text]
    for name, value in zip(names, words + [""] * len(names), strict=False):
        p.shell.assign(name, value)
    return 0 if read.endswith(end) or (size and len(read) == size) else 1


def _one_of(blanks: str) -> str:
    """Returns a pattern of what separates words: blanks run together, other characters do not."""
    return rf"[{re.escape(blanks)}]" + "+" * blanks.isspace()


def echo(p: Process) -> int:
    """Prints its arguments, and interprets escapes in them, as mksh does; `-E` does not, `-n` omits the line break."""
    args, newline, escapes = list(p.args), "\n", True
    while args and re.fullmatch("-[neE]+", args[0]):
        flags = args.pop(0)
        newline = "" if "n" in flags else newline
        escapes = "E" not in flags
    text = " ".join(args)
    if escapes and (cut := re.match(r"((?:[^\\]++|\\[^c])*+)\\c", text, re.DOTALL)):  # `\c` ends the output
        text, newline = cut[1], ""
    p.print(unescape(text, echo=True) if escapes else text, newline)
    return 0


_WIDEST = 9999  # characters of a padded number, as many as four digits say
_FORMAT = re.compile(r"%%|%([-+ 0#]*)(\*|\d{0,4})(?:\.(\d{1,4}))?([a-zA-Z])")


def printf(p: Process) -> int:
    """Prints its arguments by a format, which is repeated until they are used up."""
    if not p.args:
        return p.complain(f"{NAME}: printf: usage: printf format [arg ...]")
    text, arguments = unescape(p.args[0]), deque(p.args[1:])
    while True:
        left = len(arguments)
        p.print(_FORMAT.sub(lambda match: _formatted(match, arguments), text), "")
        if not arguments or len(arguments) == left:
            return 0


def _formatted(match: re.Match[str], arguments: deque[str]) -> str:
    if match[0] == "%%":
        return "%"
    flags, width, precision, kind = match.groups()
    value = arguments.popleft() if arguments else ""
    width = str(max(-_WIDEST, min(_integer(value), _WIDEST))) if width == "*" else width
    spec = f"%{flags}{width}" + (f".{precision}" if precision else "")
    if kind in "di":
        return (spec + "d") % _integer(value)
    if kind in "uxXo":
        return (spec + kind) % (_integer(value) % (1 << 64))
    if kind in "feEgG":
        return (spec + kind) % _float(value)
    return (spec + "s") % (unescape(value) if kind == "b" else value[:1] if kind == "c" else value)


def _integer(text: str) -> int:
    if text[:1] in ("'", '"'):
        return ord(text[1:2] or "\0")
    match = re.match(r"\s*([-+]?)(0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,21}|\d{1,19})", text)
    if not match:
        return 0
    return int(match[1] + match[2], 16 if "x" in match[2].lower() else 8 if match[2][0] == "0" else 10)


def _float(text: str) -> float:
    match = re.match(r"\s*[-+]?\d{0,300}\.?\d{0,300}(?:[eE][-+]?\d{1,3})?", text)
    try:
        return float(match[0]) if match else 0.0
    except ValueError:
        return 0.0


# running other commands


def eval_(p: Process) -> int:
    """Runs its arguments as a script."""
    _, words = letters(p.name, p.args, "")
    return p.shell.source(" ".join(words), p.streams)


def dot(p: Process) -> int:
    """Runs a file in this shell. `.` looks for a name without a folder in PATH, `source` then in the working folder."""
    _, words = letters(p.name, p.args, "")
    if not words:
        raise Fault(f"{p.name}: missing argument")
    name, folders = words[0], p.shell.variables.get("PATH", "").split(":")
    found = [name] if "/" in name else [f"{folder}/{name}" for folder in folders] + [name] * (p.name == "source")
    scripts = (p.storage.read(p.path(each)) for each in found)
    script = next((script for script in scripts if script is not None), None)
    if script is None:
        raise Fault(f"{p.name}: {name}: {NO_FILE}")
    return p.shell.include(script.decode("utf-8", "surrogateescape"), words[1:], p.streams)


def sh(p: Process) -> int:
    """Runs `sh -c script`, `sh file`, or a script on standard input; `-e`, `-u` and `-x` are those of `set`."""
    args, letters = list(p.args), ""
    while args and re.fullmatch("-[a-z]+", args[0]):
        letters += args.pop(0)[1:]
    if bad := set(letters) - set("celsux"):
        return p.complain(f"{NAME}: -{min(bad)}: unknown option")
    if "c" in letters:
        if not args:
            return p.complain(f"{NAME}: -c: argument not given")
        text, arguments = args[0], args[1:]
    else:
        data = p.read(args[0] if args else "-")
        if data is None:
            return 127
        text, arguments = data.decode("utf-8", "surrogateescape"), args
    if flags := "".join(sorted(set(letters) & set("eux"))):
        text = f"set -{flags}\n{text}"
    return p.shell.subshell(text, arguments, p.streams)


def su(p: Process) -> int:
    """Runs `su [0|root] [command …]` or `su -c command`; everybody is root already."""
    args = list(p.args)
    if args and args[0] not in ("-c", "-") and not args[0].startswith("-"):
        if args.pop(0) not in ("0", "root", "shell", "2000"):
            return p.fail("invalid uid/gid")
    args = args[1:] if args[:1] in (["-"], ["-l"]) else args
    if args[:1] == ["-c"]:
        return p.shell.subshell(" ".join(args[1:]), [], p.streams)
    if args:
        return p.shell.run(args, p.streams)
    return p.shell.subshell(p.streams.stdin.read().decode("utf-8", "surrogateescape"), [], p.streams)


def command(p: Process) -> int:
    """`command -v name` tells what would run, `-V` in words; otherwise runs it."""
    flags, words = letters(p.name, p.args, "pvV")
    if {"v", "V"} & set(flags):
        return (type_ if "V" in flags else which)(Process(p.shell, p.name, ["--", *words], p.streams))
    return p.shell.run(words, p.streams) if words else 0


def run_rest(p: Process) -> int:
    """Runs its arguments as a command."""
    return p.shell.run(p.args, p.streams) if p.args else 0


def nohup(p: Process) -> int:
    """Runs a command; none is hung up here."""
    rest = options(p.args, "", first=True).words
    if not rest:
        p.need(1)
        return 125
    return p.shell.run(rest, p.streams)


def toybox(p: Process) -> int:
    """Runs a command that is not the shell's own; alone it lists them."""
    known = sorted(p.shell.commands.keys() - BUILTINS)
    if not p.args:
        p.print(" ".join(known))
        return 0
    if p.args[0] not in p.shell.commands:
        return p.fail(f"Unknown command {p.args[0]}", 127)
    return p.shell.run(p.args, p.streams)


def time(p: Process) -> int:
    """Runs a command and says how long it took by the phone's clock, with `-p` as POSIX wants it."""
    flags, words = letters(p.name, p.args, "p")
    start = p.phone.now
    code = p.shell.run(words, p.streams) if words else 0
    passed = (p.phone.now - start).total_seconds()
    minutes, seconds = divmod(passed, 60)
    portable = f"real {passed:.2f}\nuser 0.00\nsys 0.00"
    p.complain(portable if flags else f"    {minutes:.0f}m{seconds:05.2f}s real     0m00.00s user     0m00.00s system")
    return code


def exec_(p: Process) -> int:
    """Runs a command in place of the shell."""
    if not p.args:
        return 0
    raise Exit(p.shell.run(p.args, p.streams))


def which(p: Process) -> int:
    """Prints where commands are; fails if one is missing."""
    code = 0
    for name in options(p.args, "a").words:
        own = p.name != "which" and (name in BUILTINS or name in p.shell.functions)
        place = name if own or "/" in name else f"{BIN}/{name}"
        if own or p.files.program(p.path(place)):
            p.print(place)
        else:
            code = 1
    return code


def type_(p: Process) -> int:
    """Tells what names stand for; fails if one is unknown."""
    code = 0
    _, names = letters("whence", p.args, "")
    for name in names:
        known = name in p.shell.commands or name in p.shell.functions
        how = "a shell builtin" if name in BUILTINS else f"{BIN}/{name}"
        how = "a function" if name in p.shell.functions else how
        p.print(f"{name} is {how}" if known else f"{name} not found")
        code = code if known else 1
    return code


# tests


def test(p: Process) -> int:
    """`[ … ]` and `test …`: 0 if it is true, 1 if it is false, 2 if it is malformed."""
    args = list(p.args)
    if p.name in ("[", "[["):
        if not args or args.pop() != p.name.replace("[", "]"):
            return p.complain(f"{NAME}: {p.name}: missing {p.name.replace('[', ']')}", 2)
    try:
        return int(not _Test(p, args).result())
    except ValueError as fault:
        return p.complain(f"{NAME}: {p.name}: {fault}", 2)


class _Test:
    """A conditional expression, read from left to right."""

    UNARY = ("-e", "-f", "-d", "-s", "-r", "-w", "-x", "-n", "-z", "-L", "-h", "-b", "-c", "-p", "-S", "-t")
    BINARY = ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")

    def __init__(self, p: Process, args: list[str]) -> None:
        self.p, self.args = p, args

    def result(self) -> bool:
        if not self.args:
            return False
        value = self.either()
        if self.args:
            raise ValueError(f"{self.args[0]}: unexpected operator/operand")
        return value

    def either(self) -> bool:
        value = self.both()
        while self.args[:1] in (["-o"], ["||"]):
            self.args.pop(0)
            value = self.both() or value
        return value

    def both(self) -> bool:
        value = self.primary()
        while self.args[:1] in (["-a"], ["&&"]):
            self.args.pop(0)
            value = self.primary() and value
        return value

    def primary(self) -> bool:
        if not self.args:
            raise ValueError("expression expected")
        if len(self.args) >= 3 and self.args[1] in self.BINARY:
            left, op, right = self.args[:3]
            del self.args[:3]
            return self.compare(left, op, right)
        word = self.args.pop(0)
        if word == "!" and self.args:
            return not self.primary()
        if word == "(" and ")" in self.args:
            value = self.either()
            if self.args[:1] != [")"]:
                raise ValueError("missing )")
            self.args.pop(0)
            return value
        if word in self.UNARY and self.args:
            return self.unary(word, self.args.pop(0))
        return bool(word)

    def unary(self, op: str, name: str) -> bool:
        if op in ("-n", "-z"):
            return bool(name) == (op == "-n")
        path = self.p.path(name)
        if not name or op in ("-b", "-c", "-p", "-S", "-t"):
            return op == "-c" and path in kernel.DEVICES
        if op in ("-L", "-h"):
            return link(name, self.p.shell.folder) is not None
        if not self.p.exists(path):
            return False
        if op == "-w":
            return path in kernel.DEVICES or is_writable(path + "/" * self.p.is_dir(path))
        a = attributes(self.p.phone, path)
        wanted = {"-d": stat.S_ISDIR(a.mode), "-f": stat.S_ISREG(a.mode), "-s": a.size > 0, "-x": a.mode & 0o111}
        return bool(wanted.get(op, True))

    def compare(self, left: str, op: str, right: str) -> bool:
        if op in ("=", "==", "!="):
            same = fnmatch.fnmatchcase(left, right) if self.p.name == "[[" else left == right
            return same == (op != "!=")
        if op in ("<", ">"):
            return left < right if op == "<" else left > right
        if op in ("-nt", "-ot", "-ef"):
            return self.compare_files(self.p.path(left), op, self.p.path(right))
        for text in (left, right):
            if not re.fullmatch(r"\s*[-+]?\d{1,19}\s*", text):
                raise ValueError(f"{text}: unexpected operator/operand" if not text else f"{text}: bad number")
        a, b = int(left), int(right)
        return {"-eq": a == b, "-ne": a != b, "-lt": a < b, "-le": a <= b, "-gt": a > b, "-ge": a >= b}[op]

    def compare_files(self, left: str, op: str, right: str) -> bool:
        files = self.p.files
        if op == "-ef" or not (files.exists(left) and files.exists(right)):
            return left == right if op == "-ef" else files.exists(left if op == "-nt" else right)
        older, newer = (right, left) if op == "-nt" else (left, right)
        return files.attributes(older).modified < files.attributes(newer).modified


COMMANDS: dict[str, Command] = {
    ":": true, "true": true, "false": false, "cd": cd, "pwd": pwd, "exit": exit_, "return": return_, "break": break_,
    "continue": continue_, "read": read, "echo": echo, "printf": printf, "eval": eval_, ".": dot, "source": dot,
    "sh": sh, "su": su, "command": command, "exec": exec_, "nohup": nohup, "toybox": toybox, "time": time,
    "builtin": run_rest, "which": which, "type": type_, "test": test, "[": test, "[[": test, "wait": wait, "sync": true,
} | variables.COMMANDS | launching.COMMANDS  # fmt: skip
BUILTINS = frozenset(COMMANDS) - launching.COMMANDS.keys() - {"sh", "su", "nohup", "toybox", "which", "sync"}
