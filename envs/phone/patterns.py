"""Regular expressions of strangers, which cannot run for ever.

A pattern such as `(a+)+b` has 2^n ways through a line of n letters, and Python's engine tries them all without ever
looking at the clock. The engine of `regex`, which speaks the same language, does look.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import regex

SECONDS = 1.0  # for a search of one text
LONGEST = 4096  # characters of a pattern
LARGEST = 50_000  # parts of a pattern whose repetitions are written out
MOST_INSERTED = 1 << 26  # characters that the replacements of one text's matches have together


class TooSlow(Exception):
    """A search took too long, or a text with replacements would grow too long, and was given up."""


class Guarded:
    """A compiled pattern with the methods of Python's, each of which gives up after a second.

    Args:
        pattern: The pattern in Python's syntax.
        flags: Flags of the `re` module, whose numbers `regex` shares.

    Raises:
        ValueError: It is no pattern, or too long, or repeats too much too often.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        require_short(pattern)
        if _written_out(pattern, bool(flags & regex.V1)) > LARGEST:
            raise ValueError(f"the repetitions in {pattern[:60]!r} come to more than {LARGEST} parts")
        try:
            self._compiled = regex.compile(pattern, flags)
        except (regex.error, OverflowError, RecursionError, MemoryError) as error:
            raise ValueError(f"{pattern[:60]!r} is not a regular expression: {error}") from None

    def search(self, text: str) -> Any:
        """Returns the first match, or None."""
        return _soon(lambda: self._compiled.search(text, timeout=SECONDS))

    def match(self, text: str) -> Any:
        """Returns the match at the start of the text, or None."""
        return _soon(lambda: self._compiled.match(text, timeout=SECONDS))

    def fullmatch(self, text: str) -> Any:
        """Returns the match of the whole text, or None."""
        return _soon(lambda: self._compiled.fullmatch(text, timeout=SECONDS))

    def finditer(self, text: str) -> list[Any]:
        """Returns all matches from left to right."""
        return _soon(lambda: list(self._compiled.finditer(text, timeout=SECONDS)))

    def subn(self, new: str | Callable[[Any], str], text: str, count: int = 0) -> tuple[str, int]:
        """Replaces matches, and returns the text and their number."""
        left = MOST_INSERTED

        def counted(match: Any) -> str:
            nonlocal left
            part = str(match.expand(new) if isinstance(new, str) else new(match))
            left -= len(part)
            if left < 0:
                raise TooSlow(f"the replacements have more than {MOST_INSERTED} characters")
            return part

        return _soon(lambda: self._compiled.subn(counted, text, count, timeout=SECONDS))

    def sub(self, new: str | Callable[[Any], str], text: str, count: int = 0) -> str:
        """Replaces matches."""
        return self.subn(new, text, count)[0]


def require_short(pattern: str) -> None:
    """Refuses a pattern that is too long.

    Raises:
        ValueError: It is.
    """
    if len(pattern) > LONGEST:
        raise ValueError(f"a pattern has at most {LONGEST} characters, and this one has {len(pattern)}")


_PART = regex.compile(r"\\.|\[:\^?\w+:\]|\{(\d+)(?:,\d*)?\}|.", regex.DOTALL)
_COMMENTED = regex.compile(r"\(\?(?:#|[a-zA-Z]*x)")


def _written_out(pattern: str, sets_in_sets: bool) -> int:
    """Returns how many parts a pattern has for `regex`, which keeps a copy of a part for each time that it must come.

    `((a{1000}){1000}){1000}` has a billion. With comments, in which brackets are no groups, it is an upper bound.
    """
    if _COMMENTED.search(pattern):
        return len(pattern) * math.prod(max(1, int(count)) for count in regex.findall(r"\{(\d+)", pattern))
    sizes, last, sets, first = [0], 0, 0, 0  # sizes of the open groups; where the first character of a set is
    for part in _PART.finditer(pattern):
        text = part[0]
        if sets:
            if text == "[" and sets_in_sets:
                sets, first = sets + 1, part.end()
            elif text == "^" and part.start() == first:
                first = part.end()
            elif text == "]" and part.start() != first:
                sets -= 1
            continue
        if part[1] is not None:
            sizes[-1] += last * (max(1, int(part[1])) - 1)
        elif text == "(":
            sizes.append(0)
        elif text == ")" and len(sizes) > 1:
            last = sizes.pop() + 1
            sizes[-1] += last
        else:
            sets, first = int(text == "["), part.end()
            last = 1
            sizes[-1] += 1
    return sum(sizes)


def _soon(search: Callable[[], Any]) -> Any:
    try:
        return search()
    except TimeoutError:
        raise TooSlow(f"the regular expression takes longer than {SECONDS:g} s") from None
