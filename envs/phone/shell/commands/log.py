"""`log` and `logcat`: Android's log, which holds what `log` has written, and what apps have failed of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.services import Line
from coach_gym.envs.phone.shell.language.options import BadOption, Options, options
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.shell.toybox.matching import TooComplex, compiled
from coach_gym.envs.phone.system.bars import battery_level

PRIORITIES = "VDIWEFS"  # verbose to fatal, and silent
_PID = 1999  # of whoever calls `log`
_FORMATS: dict[str, Callable[[Line], str]] = {
    "brief": lambda line: f"{line.priority}/{line.tag:8}({_PID:5}): ",
    "long": lambda line: f"[ {line.at:%m-%d %H:%M:%S}.000 {_PID:5}:{_PID:5} {line.priority}/{line.tag} ]\n",
    "process": lambda line: f"{line.priority}({_PID:5}) ",
    "raw": lambda line: "",
    "tag": lambda line: f"{line.priority}/{line.tag:8}: ",
    "thread": lambda line: f"{line.priority}({_PID:5}:{_PID:5}) ",
    "threadtime": lambda line: f"{line.at:%m-%d %H:%M:%S}.000 {_PID:5} {_PID:5} {line.priority} {line.tag:8}: ",
    "time": lambda line: f"{line.at:%m-%d %H:%M:%S}.000 {line.priority}/{line.tag:8}({_PID:5}): ",
}
_LONG = {
    "clear": "c", "dump": "d", "format": "v", "regex": "e", "buffer": "b", "buffer-size": "g", "tail": "t",
}  # fmt: skip
_BUFFERS = ("main", "radio", "events", "system", "crash", "stats", "security", "kernel")
_SEVERAL = {"all": _BUFFERS, "default": ("main", "system", "crash")}
_MODIFIERS = ("epoch", "year", "usec", "nsec", "UTC", "color", "uid", "descriptive", "monotonic", "printable", "zone")


def log(p: Process) -> int:
    """`log [-p PRIORITY] [-t TAG] [TEXT …]`: writes a line; without a text, the lines of standard input."""
    given = options(p.args, "", "pt")
    priority = given.values.get("p", "i")[:1].upper()
    if priority not in PRIORITIES:
        return p.fail(f"bad -p '{given.values['p']}'")
    text = " ".join(given.words) or p.streams.stdin.read().decode("utf-8", "surrogateescape")
    p.phone.services.write_log(p.phone.now, priority, given.values.get("t", "log"), text)
    return 0


def logcat(p: Process) -> int:
    """`logcat [-dcg] [-b BUFFER] [-v FORMAT] [-t COUNT|TIME] [-e REGEX] [-s] [TAG:PRIORITY …]`: prints the log, then
    waits for more."""
    given = options(p.args, "cdgs", "bvtTe", _LONG)
    formats = given.values.get("v", "threadtime").split(",")
    unknown = next((name for name in formats if name not in _FORMATS and name not in _MODIFIERS), None)
    try:
        wanted = _wanted(given)
    except (re.error, TooComplex) as fault:
        return p.complain(f"logcat: bad regex '{given.values['e']}': {fault}")
    if unknown:
        return p.complain(f'logcat: Invalid parameter "{unknown}" to -v')
    names = [name for each in given.all.get("b", ["default"]) for name in each.split(",")]
    if other := set(names) - {*_BUFFERS, *_SEVERAL}:
        return p.complain(f"logcat: Unknown -b buffer '{min(other)}'")
    buffers = {name for each in names for name in _SEVERAL.get(each, (each,))}
    log = p.phone.services.log
    if "c" in given:
        log[:] = [line for line in log if line.buffer not in buffers]
        return 0
    if "g" in given:
        size = "ring buffer is 256 KiB (0 B consumed), max entry is 5120 B, max payload is 4068 B"
        p.print("".join(f"{name}: {size}\n" for name in _BUFFERS if name in buffers), "")
        return 0
    form = _FORMATS[next((name for name in formats if name in _FORMATS), "threadtime")]
    at = lambda line: p.local(line.at).astimezone(UTC if "UTC" in formats else p.zone)  # noqa: E731
    told = lambda line: form(replace(line, at=at(line)))  # noqa: E731
    show = _shower(told, lambda line: line.buffer in buffers and wanted(line))
    p.print(show(_last(p, given, [line for line in log if line.buffer in buffers])), "")
    if not {"d", "t"} & set(given.flags):
        p.shell.endless = True
        p.shell.follow = _follower(p.phone, show)
    return 0


_TIME = re.compile(r"(?:([0-9]{4})-)?([0-9-]{5} [0-9:]{8}\.[0-9]{1,6})")


def _last(p: Process, given: Options, lines: list[Line]) -> list[Line]:
    """Returns the lines that `-t` or `-T` asks for: so many at the end, or those from a time on, perhaps of a year."""
    letter = next((letter for letter in "tT" if letter in given), "")
    if match := _TIME.fullmatch(given.values.get(letter, "")):
        try:
            start = datetime.strptime(f"{match[1] or p.phone.now.year}-{match[2]}", "%Y-%m-%d %H:%M:%S.%f")
        except ValueError:
            raise BadOption(f"bad time '{match[0]}'") from None
        return [line for line in lines if line.at >= p.on_clock(start)]
    count = given.count(letter, len(lines))
    return lines[-count:] if count else []


def _shower(form: Callable[[Line], str], wanted: Callable[[Line], bool]) -> Callable[[list[Line]], str]:
    """Returns what returns lines as they are printed, with a heading where the first one of a buffer is."""
    begun: set[str] = set()

    def show(lines: list[Line]) -> str:
        shown = [line for line in lines if wanted(line)]
        first = {line.buffer: line for line in reversed(shown) if line.buffer not in begun}
        begun.update(first)
        heading = {id(line): f"--------- beginning of {name}\n" for name, line in first.items()}
        return "".join(f"{heading.get(id(line), '')}{form(line)}{line.text}\n" for line in shown)

    return show


def _follower(phone: Phone, show: Callable[[list[Line]], str]) -> Callable[[], bytes]:
    """Returns what returns the lines that have been written since it was last called.

    As on Android, the battery's state is logged every minute, so that whoever waits for the next line gets one.
    """
    last, told = phone.services.log[-1:], phone.now

    def follow() -> bytes:
        nonlocal told
        lines = phone.services.log
        if phone.now - told >= timedelta(minutes=1):
            told = phone.now
            state = f"battery l={battery_level(phone)} v=5000 t=25.0 h=2 st=3"
            phone.services.write_log(told, "I", "healthd", state)
        seen = next((i for i in range(len(lines), 0, -1) if lines[i - 1] is last[0]), 0) if last else 0
        last[:] = lines[-1:]
        return show(lines[seen:]).encode("utf-8", "surrogateescape")

    return follow


def _wanted(given: Options) -> Callable[[Line], bool]:
    """Returns whether to show a line: by the filters `TAG:PRIORITY`, and by the text."""
    least = {"*": "S" if "s" in given else "V"}
    for word in given.words:
        tag, _, priority = word.partition(":")
        least[tag] = (priority or "V")[:1].upper()
    text = compiled(given.values.get("e", ""))

    def wanted(line: Line) -> bool:
        lowest = PRIORITIES.find(least.get(line.tag, least["*"]))
        return PRIORITIES.index(line.priority) >= lowest and bool(text.search(line.text))

    return wanted


COMMANDS: dict[str, Command] = {"log": log, "logcat": logcat}
