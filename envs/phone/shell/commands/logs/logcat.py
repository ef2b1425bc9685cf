"""`logcat`: prints Android's log."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.services import PRIORITIES, Line
from coach_gym.envs.phone.shell.commands.logs.layout import Layout, uid
from coach_gym.envs.phone.shell.language.options import Options, options
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.shell.toybox.matching import Pattern, TooComplex, compiled
from coach_gym.envs.phone.system.bars import battery_level

_PID, _UID, _PRINT = "\1\2\3"  # stand for options without a letter
_LONG = {
    "clear": "c", "format": "v", "regex": "e", "grep": "e", "buffer": "b", "buffer-size": "g", "tail": "t",
    "max-count": "m", "head": "m", "dividers": "D", "last": "L", "statistics": "S", "prune": "p", "pid": _PID,
    "uid": _UID, "print": _PRINT,
}  # fmt: skip
_BUFFERS = ("main", "radio", "events", "system", "crash", "stats", "security", "kernel")
_SEVERAL = {"all": _BUFFERS, "default": ("main", "system", "crash")}
_BY_DEFAULT = ("main", "system", "crash", "kernel")
_BETWEEN = re.compile(r"[,:; \t\n\r\f]")
_DATE = re.compile(r"(?:([0-9]{4})-)?([0-9]{1,2}-[0-9]{1,2} [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})\.([0-9]+)")
_SECONDS = re.compile(r"([0-9]{1,12})\.([0-9]+)")


class Refused(Exception):
    """What was asked for cannot be; the message says why."""


def logcat(p: Process) -> int:
    """`logcat [-cdDgs] [-b BUFFER] [-v FORMAT] [-t|-T COUNT|TIME] [-e REGEX] [-m COUNT] [--pid=PID] [--uid=UID]
    [TAG:PRIORITY …]`: prints the log, then waits for more."""
    given = options(p.args, f"cdDgsLSp{_PRINT}", f"bvtTemGP{_PID}{_UID}", _LONG)
    try:
        return _obey(p, given)
    except Refused as fault:
        return p.complain(f"logcat: {fault}")


def _obey(p: Process, given: Options) -> int:
    _refuse_what_is_missing(given)
    printer = _Printer(_layout(p, given), _filter(p, given), _regex(given), "D" in given)
    printer.most = _number(given, "m", "-m '{}' isn't an integer greater than zero.")
    if printer.most and "t" in given:
        raise Refused("Cannot use -m (--max-count) and -t together.")
    if _PRINT in given:
        printer.all = "e" in given and printer.most > 0
        if not printer.all:
            p.complain("WARNING: --print ignored, to be used in combination with\n"
                       "         --regex <expr> and --max-count <N>")  # fmt: skip
    buffers, pid = _buffers(given), _number(given, _PID, "pid {} out of range.")
    log = p.phone.services.log
    known = lambda: [line for line in log if line.buffer in buffers and pid in (0, line.pid)]  # noqa: E731
    if "c" in given:
        log[:] = [line for line in log if line.buffer not in buffers]
    if "g" in given:
        size = "256 KiB (0 B consumed, 0 B readable), max entry is 5120 B, max payload is 4068 B"
        p.print("".join(f"{name}: ring buffer is {size}\n" for name in _BUFFERS if name in buffers), "")
    if {"c", "g"} & set(given.flags):
        return 0
    p.print(printer.show(_last(p, given, known())), "")
    if not {"d", "t"} & set(given.flags) and not printer.done:
        p.shell.endless = True
        p.shell.follow = _follower(p.phone, known, printer)
    return 0


def _refuse_what_is_missing(given: Options) -> None:
    """Refuses what the log has not: a size to set, statistics, rules of what to forget, and a time before the last
    start."""
    if {"S", "p"} & set(given.flags):
        raise Refused("Failed to read data.")
    if "P" in given:
        raise Refused("Failed to set the prune list.")
    if "G" in given:
        names = [name for name in _BUFFERS if name in _buffers(given)]
        raise Refused(f"failed to set the '{','.join(names)}' log size{'s' * (len(names) > 1)}.")
    if "L" in given:
        raise Refused("Logcat read failure: No such file or directory")


def _number(given: Options, letter: str, fault: str) -> int:
    """Returns the value of an option that counts from 1; 0 if it is missing."""
    values = given.all.get(letter, [])
    if letter == _PID and len(values) > 1:
        raise Refused("Only one --pid argument can be provided.")
    if values and not re.fullmatch("0*[1-9][0-9]{0,9}", values[-1]):
        raise Refused(fault.format(values[-1]))
    return int(values[-1]) if values else 0


def _layout(p: Process, given: Options) -> Layout:
    layout = Layout(p.phone, p.zone)
    for word in (word for value in given.all.get("v", []) for word in _BETWEEN.split(value)):
        if not layout.add(word):
            raise Refused(f"Invalid parameter '{word}' to -v.")
    if layout.name is None and (preset := p.shell.variables.get("ANDROID_PRINTF_LOG")):
        for word in _BETWEEN.split(preset):
            if not layout.add(word):
                p.complain(f"invalid format in ANDROID_PRINTF_LOG '{word}'")
    return layout


def _buffers(given: Options) -> set[str]:
    names = [name for value in given.all.get("b", []) for name in _BETWEEN.split(value)]
    for name in names:
        if name not in (*_BUFFERS, *_SEVERAL):
            raise Refused(f"Unknown buffer '{name}' listed for -b.")
    return {each for name in names for each in _SEVERAL.get(name, (name,))} or set(_BY_DEFAULT)


def _regex(given: Options) -> Pattern:
    try:
        return compiled(given.values.get("e", ""))
    except (re.error, TooComplex) as fault:
        raise Refused(f"bad regex '{given.values['e']}': {fault}") from None


def _filter(p: Process, given: Options) -> Callable[[Line], bool]:
    """Returns whether to show a message: by the filters `TAG:PRIORITY`, and by the users of `--uid`."""
    least = {"*": "S" if "s" in given else "V"}
    preset = p.shell.variables.get("ANDROID_LOG_TAGS", "")
    for word in re.split("[ \t,]+", " ".join(given.words) if given.words else preset):
        tag, colon, letter = word.partition(":")
        if priority := _priority(letter, "D" if tag == "*" else "V") if tag else None:
            least[tag] = priority
        elif word:
            where = f"expression '{word}'" if given.words else "expression in ANDROID_LOG_TAGS"
            raise Refused(f"Invalid filter {where}.")
    numbers = [word for value in given.all.get(_UID, []) for word in _BETWEEN.split(value)]
    for word in numbers:
        if not re.fullmatch("[0-9]{1,10}", word):
            raise Refused(f"Unable to parse UID '{word}'")
    users = set(map(int, numbers))

    def wanted(line: Line) -> bool:
        lowest = PRIORITIES.index(least.get(line.tag, least["*"]))
        return PRIORITIES.index(line.priority) >= lowest and (not users or uid(p.phone, line) in users)

    return wanted


def _priority(letter: str, default: str) -> str | None:
    """Returns the priority that a filter's letter or digit stands for, or None."""
    first = letter[:1].upper()
    if first in ("", "*", "1"):
        return default
    if first in ("8", "9"):
        return "V"
    return first if first in PRIORITIES else PRIORITIES[int(first) - 2] if first in "234567" else None


def _last(p: Process, given: Options, lines: list[Line]) -> list[Line]:
    """Returns the messages that `-t` or `-T` asks for: so many at the end, or those from a time on."""
    letter = next((letter for letter in reversed(given.flags) if letter in "tT"), "")
    text = given.values.get(letter, "")
    if not letter:
        return lines
    if not text.strip("0123456789"):
        if not text.strip("0"):
            p.complain(f"WARNING: -{letter} {text} invalid, setting to 1")
        return lines[-max(1, int(text[:10] or 1)) :]
    start = _start(p, letter, text)
    return [line for line in lines if line.at >= start]


def _start(p: Process, letter: str, text: str) -> datetime:
    """Returns a time as `-t` takes it: a date, perhaps of a year, or the seconds since 1970."""
    try:
        if match := _DATE.match(text):
            at = datetime.strptime(f"{match[1] or p.local(p.phone.now).year}-{match[2]}", "%Y-%m-%d %H:%M:%S")
            start = p.on_clock(at) + timedelta(seconds=float(f"0.{match[3]}"))
        elif match := _SECONDS.match(text):
            start = from_seconds(float(match[0]))
        else:
            raise ValueError
    except ValueError:
        raise Refused(f"-{letter} '{text}' not in time format.") from None
    if rest := text[match.end() :]:
        p.complain(f"WARNING: -{letter} '{match[0]}' '{rest}' time truncated")
    return start


@dataclass
class _Printer:
    """Prints messages, with a heading where the first one of a buffer is.

    Attributes:
        layout: What they look like.
        wanted: Whether one passes the filters.
        regex: What its text must match.
        dividers: Whether there is a heading wherever the buffer changes.
        most: How many are printed at most; 0 for all.
        all: Whether those that do not match are printed, too, but not counted.
        count: How many have been printed that match.
        last: The buffer of the last one.
    """

    layout: Layout
    wanted: Callable[[Line], bool]
    regex: Pattern
    dividers: bool
    most: int = 0
    all: bool = False
    count: int = 0
    last: str = ""

    def __post_init__(self) -> None:
        self._begun: set[str] = set()

    @property
    def done(self) -> bool:
        """Whether it has printed as many as it should."""
        return 0 < self.most <= self.count

    def show(self, lines: list[Line]) -> str:
        """Returns messages as they are printed."""
        return "".join(map(self._one, filter(self.wanted, lines)))

    def _one(self, line: Line) -> str:
        matches = bool(self.regex.search(line.text))
        if self.done or not (matches or self.all):
            return ""
        self.count += matches
        return self._heading(line.buffer) + self.layout.shown(line)

    def _heading(self, buffer: str) -> str:
        known, same, self.last = buffer in self._begun, buffer == self.last, buffer
        self._begun.add(buffer)
        if same or (known and not self.dividers):
            return ""
        return f"--------- {'switch to' if known else 'beginning of'} {buffer}\n"


def _follower(phone: Phone, known: Callable[[], list[Line]], printer: _Printer) -> Callable[[], bytes | None]:
    """Returns what returns the messages that have been written since it was last called.

    As on Android, the battery's state is logged every minute, so that whoever waits for the next line gets one.
    """
    last, told = phone.services.log[-1:], phone.now

    def follow() -> bytes | None:
        nonlocal told
        if printer.done:
            return None
        if phone.now - told >= timedelta(minutes=1):
            told = phone.now
            state = f"battery l={battery_level(phone)} v=5000 t=25.0 h=2 st=3"
            phone.services.write_log(told, "I", "healthd", state)
        lines = phone.services.log
        seen = next((i for i in range(len(lines), 0, -1) if lines[i - 1] is last[0]), 0) if last else 0
        new = {id(line) for line in lines[seen:]}
        last[:] = lines[-1:]
        return printer.show([line for line in known() if id(line) in new]).encode("utf-8", "surrogateescape")

    return follow


COMMANDS: dict[str, Command] = {"logcat": logcat}
