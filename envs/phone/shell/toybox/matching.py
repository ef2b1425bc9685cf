"""Regular expressions that cannot run for ever.

Python's engine tries one way after the other, and for a pattern such as `(a+)+b` there are 2^n ways through a line of
n letters. Here such patterns are matched by sets of positions instead: slowly, but in steps that grow with a power of
the length.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Protocol

from coach_gym.envs.phone.patterns import SECONDS, Guarded, TooSlow, require_short

MOST_LOOPS = 2  # unbounded loops side by side that Python's engine is trusted with


class TooComplex(Exception):
    """The pattern can be matched in neither way, or is too long."""


class Pattern(Protocol):
    """The part of a compiled pattern that `grep` needs."""

    def search(self, text: str, /) -> Any:
        """Returns something true if the text matches anywhere."""

    def finditer(self, text: str, /) -> Iterable[Any]:
        """Yields matches from left to right, with their texts under index 0."""


def compiled(pattern: str, flags: int = 0) -> Pattern:
    """Compiles a pattern in Python's syntax, for an engine that tries one way after the other if that is safe.

    Raises:
        TooComplex: It is too long, or refers back to a group besides having loops in loops.
    """
    try:
        require_short(pattern)  # before it is parsed
        return Guarded(pattern, flags) if is_safe(pattern) else ByPositions(pattern, flags)
    except ValueError as fault:
        raise TooComplex(str(fault)) from None


def is_safe(pattern: str) -> bool:
    """Returns whether Python's engine cannot take long over a pattern."""
    loops, nested = _loops(parser.parse(pattern))
    return not nested and loops <= MOST_LOOPS


def _loops(tree: Any) -> tuple[int, bool]:
    """Returns how many unbounded loops there are, and whether one of them contains another loop, or a choice."""
    count, nested = 0, False
    for code, value in tree:
        loop = code in _REPEATS and value[1] > MOST_LOOPS
        for inner in _inside(code, value):
            below, deeper = _loops(inner)
            count += below
            nested = nested or deeper or (loop and (below > 0 or "BRANCH" in str(inner)))
        count += loop
    return count, nested


_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)


def _inside(code: Any, value: Any) -> list[Any]:
    """Yields the patterns inside one part of a pattern."""
    if code in _REPEATS:
        return [value[2]]
    if code == op.SUBPATTERN:
        return [value[3]]
    return list(value[1]) if code == op.BRANCH else []


class ByPositions:
    """Follows all ways through a text at once. The longest match at a place counts, as in POSIX."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._tree = parser.parse(pattern, flags)
        if "GROUPREF" in str(self._tree):
            raise TooComplex("loops in loops, and a reference to a group")
        self._flags = flags
        self._deadline = 0.0
        self._single: dict[int, re.Pattern[str]] = {}  # parts that match one character, or a place between two

    def search(self, text: str) -> bool:
        """Returns whether the text matches anywhere."""
        self._deadline = time.monotonic() + SECONDS
        return bool(self._ends(self._tree, set(range(len(text) + 1)), text))

    def finditer(self, text: str) -> Iterable[list[str]]:
        """Yields the matches from left to right."""
        self._deadline = time.monotonic() + SECONDS
        at = 0
        while at <= len(text):
            end = max(self._ends(self._tree, {at}, text), default=-1)
            if end >= 0:
                yield [text[at:end]]
            at = max(at + 1, end)

    def _ends(self, tree: Any, starts: set[int], text: str) -> set[int]:
        """Returns where a sequence can end that begins at one of several positions."""
        for part in tree.data:
            code, value = part
            if code in _REPEATS:
                least, most, inner = value
                starts = self._repeated(least, most, inner, starts, text)
            elif code in (op.SUBPATTERN, op.BRANCH):
                starts = {end for inner in _inside(code, value) for end in self._ends(inner, starts, text)}
            else:
                one = self._one(tree, part)
                starts = {match.end() for start in starts if (match := one.match(text, start))}
        return starts

    def _repeated(self, least: int, most: int, tree: Any, starts: set[int], text: str) -> set[int]:
        result = set(starts) if least == 0 else set()
        count = 0
        while starts and count < most:
            if time.monotonic() > self._deadline:
                raise TooSlow(f"the regular expression takes longer than {SECONDS:g} s")
            starts = self._ends(tree, starts, text)
            count += 1
            if count >= least:
                starts = starts - result  # a position seen before leads nowhere new
                result |= starts
        return result

    def _one(self, tree: Any, part: Any) -> re.Pattern[str]:
        if id(part) not in self._single:
            self._single[id(part)] = compiler.compile(parser.SubPattern(tree.state, [part]), self._flags)
        return self._single[id(part)]
