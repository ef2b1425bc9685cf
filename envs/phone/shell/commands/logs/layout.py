"""How `logcat` prints messages: the formats and modifiers of `-v`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.services import Line
from coach_gym.envs.phone.shell.commands import kernel
from coach_gym.envs.phone.shell.toybox.attributes import uid_of, user_name

_FORMATS = {  # what stands before and behind each line of a message
    "brief": ("{priority}/{tag:8}({user}{pid:5}): ", ""),
    "long": ("[ {time} {user}{pid:5}:{pid:5} {priority}/{tag:8} ]\n", "\n"),
    "process": ("{priority}({user}{pid:5}) ", "  ({tag})"),
    "raw": ("", ""),
    "tag": ("{priority}/{tag:8}: ", ""),
    "thread": ("{priority}({user}{pid:5}:{pid:5}) ", ""),
    "threadtime": ("{time} {user}{pid:5} {pid:5} {priority} {tag:8}: ", ""),
    "time": ("{time} {priority}/{tag:8}({user}{pid:5}): ", ""),
}
_MODIFIERS = ("color", "colour", "descriptive", "epoch", "monotonic", "nsec", "printable", "uid", "usec", "year")
_COLORS = {"V": 39, "D": 34, "I": 32, "W": 33, "E": 31, "F": 31, "S": 39}
_HIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\\\udc80-\udcff]")
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\v": r"\v", "\f": r"\f", "\r": r"\r", "\\": r"\\"}


@dataclass
class Layout:
    """A format with modifiers. `descriptive` would only change events, of which this log has none.

    Attributes:
        phone: The phone.
        zone: The time zone of what it prints.
        name: The format; None for the default one.
        modifiers: Those that are on.
    """

    phone: Phone
    zone: tzinfo
    name: str | None = None
    modifiers: set[str] = field(default_factory=set)

    def add(self, word: str) -> bool:
        """Takes a word of `-v`: a format, a modifier or a time zone. Returns whether it is one."""
        if word in _FORMATS:
            self.name = word
        elif word in _MODIFIERS:
            self.modifiers.add(word)
        elif word == "zone":
            self.modifiers ^= {"zone"}
        elif word and zones.named(word) is not zones.UNKNOWN:
            self.zone = zones.named(word)
            self.modifiers ^= {"zone"}  # shown with a zone that is chosen, unless `zone` is given, too
        else:
            return False
        return True

    def shown(self, line: Line) -> str:
        """Returns a message as it is printed."""
        before, behind = _FORMATS[self.name or "threadtime"]
        about = {
            "priority": line.priority, "tag": line.tag, "pid": line.pid, "user": self._user(line),
            "time": self._time(line.at),
        }  # fmt: skip
        color = self.modifiers & {"color", "colour"}
        start = f"\033[{_COLORS[line.priority]}m" * bool(color) + before.format(**about)
        end = "\033[0m" * bool(color) + behind.format(**about) + "\n"
        text = line.text
        if "printable" in self.modifiers:
            text = "\n".join(_HIDDEN.sub(_escaped, part) for part in text.split("\n"))
        parts = [text] if self.name == "long" else text.removesuffix("\n").split("\n")
        return "".join(start + part + end for part in parts)

    def _user(self, line: Line) -> str:
        """Returns who has written a message, if that is to be shown: its number if the name is long."""
        if "uid" not in self.modifiers:
            return ""
        id = uid(self.phone, line)
        name = user_name(id)
        return f"{name if len(name) <= 5 else id:>5}{' ' if self.name in (None, 'threadtime') else ':'}"

    def _time(self, at: datetime) -> str:
        on = self.modifiers
        if "monotonic" in on:
            seconds = kernel.uptime(self.phone) - (self.phone.now - at) / timedelta(seconds=1)
            text = f"{int(max(0, seconds)):6}"
        elif "epoch" in on:
            text = f"{to_seconds(at):19}"
        else:
            there = zones.read(self.phone.services, at, self.zone)
            text = f"{there:%Y-%m-%d %H:%M:%S}"[0 if "year" in on else 5 :]
        micros = f"{at.microsecond:06}"
        text += f".{micros}000" if "nsec" in on else f".{micros}" if "usec" in on else f".{micros[:3]}"
        return text + (f" {there:%z}" if "zone" in on and not on & {"monotonic", "epoch"} else "")


def uid(phone: Phone, line: Line) -> int:
    """Returns the id of the user whose program has written a message: an app's, or root's."""
    return uid_of(phone, line.package) if line.package else 0


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\x{ord(match[0]) & 0xFF:02X}"
