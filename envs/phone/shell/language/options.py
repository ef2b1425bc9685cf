"""Options of commands, as toybox reads them: anywhere on the line, letters joined, ended by `--`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from coach_gym.envs.phone.shell.language.environment import Fault

SPECIAL = frozenset(". : break continue eval exec exit export readonly return set shift trap unset".split())
"""Commands of the shell whose errors end a script."""


class BadOption(Exception):
    """A command does not have an option, or the option lacks its value; the message is toybox's."""


class Help(Exception):
    """`--help` was asked for."""


_SIZE = re.compile(r"([-+]?[0-9]{1,11})(?:([cwb])|([kmgt])(d?))?", re.IGNORECASE)
_UNITS = {"": 1, "c": 1, "w": 2, "b": 512}


def size(text: str) -> int | None:
    """Returns a number as toybox reads it: with a unit such as `k`, 1024, or `kd`, 1000. None if it is none."""
    match = _SIZE.fullmatch(text)
    if not match:
        return None
    number, small, large, decimal = (part or "" for part in match.groups())
    thousands = " kmgt".index(large.lower() or " ")
    return int(number) * _UNITS[small.lower()] * (1000 if decimal else 1024) ** thousands


@dataclass
class Options:
    """The options and words of a command line.

    Attributes:
        flags: The letters of the options, in their order.
        values: The last value of each option that takes one.
        all: All values of each option that takes one.
        words: The other words.
    """

    flags: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    all: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags

    def count(self, name: str, default: int) -> int:
        """Returns the value of an option as a number, perhaps with a unit; the default if the option is missing.

        Raises:
            BadOption: The value is no number.
        """
        text = self.values.get(name)
        if text is None:
            return default
        number = size(text)
        if number is None:
            raise BadOption(f"Not a number '{text}'")
        return number

    def add(self, letter: str, value: str | None = None) -> None:
        """Notes an option."""
        self.flags.append(letter)
        if value is not None:
            self.values[letter] = value
            self.all.setdefault(letter, []).append(value)


def options(
    args: list[str], known: str, valued: str = "", long: Mapping[str, str] | None = None, first: bool = False
) -> Options:
    """Reads the arguments of a command.

    Args:
        args: The arguments.
        known: Letters of options without a value.
        valued: Letters of options whose value is the rest of the word, or the next word.
        long: The letter that a long option stands for, by its name; empty if it has no effect on this phone.
        first: Whether options come first: what follows the first other word belongs to another command.

    Raises:
        BadOption: An option is unknown, or its value is missing.
        Help: One of them is `--help`.
    """
    result, rest = Options(), list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            result.words += rest
            break
        if len(word) < 2 or word[0] != "-":
            result.words.append(word)
            if first:
                result.words += rest
                break
        elif word.startswith("--"):
            _long(word, valued, long or {}, rest, result)
        else:
            _letters(word[1:], known, valued, rest, result)
    return result


def _long(word: str, valued: str, names: Mapping[str, str], rest: list[str], result: Options) -> None:
    name, equals, value = word[2:].partition("=")
    if name == "help":
        raise Help
    if name not in names:
        raise BadOption(f"Unknown option '{word[2:]}'")
    letter = names[name]
    if equals and letter and letter not in valued:
        raise BadOption(f"Unknown option '{word[2:]}'")
    if letter and letter in valued:
        result.add(letter, value if equals else _value(letter, rest))
    elif letter:
        result.add(letter)


def _letters(letters: str, known: str, valued: str, rest: list[str], result: Options) -> None:
    for index, letter in enumerate(letters):
        if letter in valued:
            result.add(letter, letters[index + 1 :] or _value(letter, rest))
            return
        if letter not in known:
            raise BadOption(f"Unknown option '{letters[index:]}'")
        result.add(letter)


def letters(name: str, args: list[str], known: str) -> tuple[str, list[str]]:
    """Reads the arguments of a command that belongs to the shell, as mksh does: options come first.

    Returns:
        The letters of the options, and the other words.

    Raises:
        Fault: An option is unknown.
    """
    found, rest = "", list(args)
    while rest and len(rest[0]) > 1 and rest[0][0] == "-":
        word = rest.pop(0)
        if word == "--":
            break
        if bad := word[1:].strip(known):
            raise Fault(f"{name}: -{bad[0]}: unknown option")
        found += word[1:]
    return found, rest


def _value(letter: str, rest: list[str]) -> str:
    if not rest:
        raise BadOption(f"Missing argument to -{letter}")
    return rest.pop(0)
