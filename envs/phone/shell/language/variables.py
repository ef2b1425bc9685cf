"""Commands on the state of the shell itself: its variables, its options, and what it does when it ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coach_gym.envs.phone.shell.language import arithmetic
from coach_gym.envs.phone.shell.language.environment import NAME, Fault
from coach_gym.envs.phone.shell.language.options import letters
from coach_gym.envs.phone.shell.language.process import Command, Process


def export(p: Process) -> int:
    """Sets variables; all of them are exported anyway. Without names it lists them, `-p` as commands."""
    flags, words = letters(p.name, p.args, "p")
    if not words:
        return _list(p, sorted(p.shell.variables.keys() - {"IFS"}), flags)
    for name, value in map(_assignment, words):
        if value is not None:
            p.shell.assign(name, value)
    return 0


def _list(p: Process, names: Iterable[str], flags: str) -> int:
    """Prints the names of variables, or with `p` the commands that would set them so."""
    for name in names:
        p.print(f"{p.name} {name}={_quoted(p.shell.variables.get(name, ''))}" if "p" in flags else name)
    return 0


def _quoted(value: str) -> str:
    """Returns a value as the shell would read it again: as it is, or in quotes."""
    if re.search(r"[\0-\x1f]", value):
        return "$'" + re.sub(r"[\0-\x1f\\']", _escape, value) + "'"
    return value if re.fullmatch(r"[\w%+,./:@^-]+", value, re.ASCII) else "'" + value.replace("'", r"'\''") + "'"


def _escape(match: re.Match[str]) -> str:
    return {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\", "'": r"\'"}.get(match[0], f"\\{ord(match[0]):03o}")


def _assignment(word: str) -> tuple[str, str | None]:
    """Returns the name and the value in `name=value`, or None for the value if there is only a name."""
    name, equals, value = word.partition("=")
    if not name.isidentifier():
        raise Fault(f"{name}: is not an identifier")
    return name, value if equals else None


def local(p: Process) -> int:
    """`local`, `typeset`: sets variables that become what they were when the function ends. `-i`, `-r` and the like
    are refused."""
    if p.args[:1] and re.fullmatch("[-+].*", p.args[0]):
        return p.complain(f"{NAME}: {p.name}: {p.args[0]}: unknown option")
    for name, value in map(_assignment, p.args):
        if p.shell.hidden:
            p.shell.hidden[-1].setdefault(name, p.shell.variables.get(name))
        if value is not None or p.shell.hidden:
            p.shell.assign(name, value or "")
    return 0


def readonly(p: Process) -> int:
    """Sets variables that then stay as they are. Without names it lists them, `-p` as commands."""
    flags, words = letters(p.name, p.args, "p")
    if not words:
        return _list(p, sorted(p.shell.fixed), flags)
    for name, value in map(_assignment, words):
        if value is not None:
            p.shell.assign(name, value)
        p.shell.fixed.add(name)
    return 0


def unset(p: Process) -> int:
    """Removes variables, or functions with `-f`."""
    flags, names = letters(p.name, p.args, "fv")
    for name in names:
        if "f" in flags:
            p.shell.functions.pop(name, None)
        elif name in p.shell.fixed:
            p.complain(f"{NAME}: {name}: is read only")
        else:
            p.shell.variables.pop(name, None)
    return int(p.failed)


_LONG = {"errexit": "e", "noglob": "f", "nounset": "u", "xtrace": "x", "pipefail": "pipefail"}


def set_(p: Process) -> int:
    """`set -efux`, `set -o pipefail`: turns options on, with `+` off. Other words replace the arguments; plain `set`
    lists the variables."""
    rest = list(p.args)
    if not rest:
        for name, value in sorted(p.shell.variables.items()):
            p.print(f"{name}={_quoted(value)}")
    while rest and len(rest[0]) > 1 and rest[0][0] in "-+" and rest[0] != "--":
        word = rest.pop(0)
        for letter in word[1:]:
            name = rest.pop(0) if letter == "o" and rest else letter
            option = _LONG.get(name, name if letter != "o" else "")
            if option not in _LONG.values():
                raise Fault(f"set: {name if letter == 'o' else f'-{name}'}: unknown option")
            (p.shell.options.add if word[0] == "-" else p.shell.options.discard)(option)
    if rest:
        p.shell.arguments = rest[1:] if rest[0] in ("-", "--") else rest
    return 0


def shift(p: Process) -> int:
    """Drops the first arguments."""
    _, words = letters(p.name, p.args, "")
    count = _value(p, words[0]) if words else 1
    if not 0 <= count <= len(p.shell.arguments):
        raise Fault("shift: nothing to shift")
    del p.shell.arguments[:count]
    return 0


def let(p: Process) -> int:
    """`let EXPRESSION …` and `(( … ))`: fails if the last value is 0."""
    value = 0
    for text in p.args:
        value = _value(p, text)
    return int(not value)


def _value(p: Process, text: str) -> int:
    try:
        return p.shell.number(text)
    except arithmetic.Invalid as fault:
        raise Fault(str(fault)) from None


_SIGNALS = {
    "0": "EXIT", "1": "HUP", "2": "INT", "3": "QUIT", "6": "ABRT", "9": "KILL", "13": "PIPE", "14": "ALRM",
    "15": "TERM", "10": "USR1", "12": "USR2",
}  # fmt: skip


def trap(p: Process) -> int:
    """`trap COMMAND SIGNAL …`: has a command run when the shell ends (`EXIT`); no other signal reaches a shell here.
    `trap - SIGNAL` takes it back, plain `trap` lists them."""
    _, args = letters(p.name, p.args, "")
    if not args:
        for signal, what in p.shell.traps.items():
            p.print(f"trap -- {_quoted(what)} {signal}")
        return 0
    what, *signals = args
    for name in signals:
        signal = _SIGNALS.get(name, name.upper().removeprefix("SIG"))
        if signal not in _SIGNALS.values():
            return p.complain(f"{NAME}: trap: bad signal '{name}'")
        if what == "-":
            p.shell.traps.pop(signal, None)
        else:
            p.shell.traps[signal] = what
    return 0


def umask(p: Process) -> int:
    """Prints the mask of new files' permissions, which is 0 for adb's shell. It cannot be changed."""
    if p.args and p.args[0].strip("0"):
        return p.complain(f"{NAME}: umask: the mask of the embedded phone is fixed")
    p.print("000" * (not p.args), "\n" * (not p.args))
    return 0


_LIMITS = {
    "t": ("time(cpu-seconds)", "unlimited"), "f": ("file(blocks)", "unlimited"), "c": ("coredump(blocks)", "0"),
    "d": ("data(KiB)", "unlimited"), "s": ("stack(KiB)", "8192"), "n": ("nofiles(descriptors)", "32768"),
    "v": ("vmemory(KiB)", "unlimited"), "u": ("processes", "7855"),
}  # fmt: skip


def ulimit(p: Process) -> int:
    """Prints the limits of processes: `-a` all, or one of them. None can be set."""
    words = [word for word in p.args if word not in ("-H", "-S")]
    if words == ["-a"]:
        for name, value in _LIMITS.values():
            p.print(f"{name:<20} {value}")
        return 0
    letter = words[0][1:] if words else "f"
    if letter not in _LIMITS or len(words) > 1:
        return p.complain(f"{NAME}: ulimit: {' '.join(words)}: bad limit")
    p.print(_LIMITS[letter][1])
    return 0


COMMANDS: dict[str, Command] = {
    "export": export, "local": local, "typeset": local, "readonly": readonly, "unset": unset, "set": set_,
    "shift": shift, "let": let, "trap": trap, "umask": umask, "ulimit": ulimit,
}  # fmt: skip
