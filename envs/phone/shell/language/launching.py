"""Commands that run other commands: with other variables, in a session of their own, with the words of their input."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coach_gym.envs.phone.shell.language.options import BadOption, options
from coach_gym.envs.phone.shell.language.process import MOST_PARTS, Command, Input, Process, Streams, few


def env(p: Process) -> int:
    """Runs a command with other variables, or lists the variables: `-i` forgets all, `-u` one of them, `-0` ends each
    by a zero byte."""
    given, kept = options(p.args, "i0", "u", first=True), p.shell.variables
    words = given.words
    bare = "i" in given or words[:1] == ["-"]
    p.shell.variables = {"PATH": kept["PATH"], "IFS": kept["IFS"]} if bare else dict(kept)
    words = words[words[:1] == ["-"] :]
    try:
        for name in given.all.get("u", ()):
            p.shell.variables.pop(name, None)
        while words and "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            p.shell.assign(name, value)
        if words:
            return p.shell.run(words, p.streams)
        for name, value in p.shell.variables.items():
            if name != "IFS":
                p.print(f"{name}={value}", "\0" if "0" in given else "\n")
        return 0
    finally:
        p.shell.variables = kept


def printenv(p: Process) -> int:
    """Prints the values of variables, or all variables; fails if one is not set."""
    given = options(p.args, "0", long={"null": "0"})
    if not given.words:
        return env(p)
    values = [p.shell.variables.get(name) for name in given.words]
    for value in values:
        if value is not None:
            p.print(value, "\0" if "0" in given else "\n")
    return int(None in values)


def setsid(p: Process) -> int:
    """Runs its arguments as a command; there are no sessions here."""
    words = options(p.args, "cdw", first=True).words
    return p.shell.run(words, p.streams) if words else p.need(1)


_ROOM = (2 << 20) - 4096  # bytes of a command line
_POINTER = 9  # bytes that a word takes besides its letters and the zero after them


def xargs(p: Process) -> int:
    """Runs a command with the words of standard input, or with `-0` the texts between zero bytes, as further arguments:
    as many at a time as a command line holds, or `-n`, or `-s` bytes. `-E` ends the words, `-r` runs nothing without
    any, `-t` prints the commands."""
    long = {"null": "0", "no-run-if-empty": "r", "max-args": "n"}
    given = options(p.args, "0optr", "EPns", long, first=True)
    if {"o", "p"} & set(given.flags):
        return p.fail("/dev/tty: No such device or address")
    most, room, extra = given.count("n", MOST_PARTS), given.count("s", _ROOM), 1 + _POINTER * ("s" not in given)
    if given.count("P", 1) < 0 or most < 1:
        raise BadOption("-n < 1" if most < 1 else "-P < 0")
    command = given.words or ["echo"]
    room -= sum(len(_bytes(word)) + extra for word in command)
    if room < 0:
        return p.fail("command too long")
    text = p.streams.stdin.read().decode("utf-8", "surrogateescape")
    words = _words(text, "0" in given, given.values.get("E"))
    if not words and "r" in given:
        return 0
    code = 0
    for some in _portions(words, most, room, extra):
        if some is None:
            return p.fail("argument too long")
        if "t" in given:
            p.streams.stderr += _bytes(" ".join([*command, *some, "\n"]))
        ended = p.shell.run([*command, *some], Streams(Input(), p.streams.stdout, p.streams.stderr))
        if ended == 255:
            return p.fail(f"{command[0]}: exited with status 255; aborting", 124)
        code = ended if ended in (126, 127) else 123 if 0 < ended < 126 else code
    return code


def _words(text: str, zeros: bool, end: str | None) -> list[str]:
    if zeros:
        return few(text.removesuffix("\0").split("\0", MOST_PARTS)) if text else []
    words = [word for word in few(re.split(r"[ \t-\r]+", text, maxsplit=MOST_PARTS)) if word]
    return words[: words.index(end)] if end in words else words


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def _portions(words: list[str], most: int, room: int, extra: int) -> Iterator[list[str] | None]:
    """Yields words, at most so many at a time, and in so many bytes of which each takes some extra ones; None and no
    more if one is too long."""
    some: list[str] = []
    left = room
    for word in words:
        size = len(_bytes(word)) + extra
        if some and (len(some) == most or size > left):
            yield some
            some, left = [], room
        if size > left:
            yield None
            return
        some.append(word)
        left -= size
    yield some


COMMANDS: dict[str, Command] = {"env": env, "printenv": printenv, "setsid": setsid, "xargs": xargs}
