"""What can be read off a script without running it: constants, and the numbers of a seeded generator."""

from __future__ import annotations

import json
import re
from typing import Any


def constant(script: str, name: str) -> list[Any] | None:
    """Returns the list that a script writes out in JSON's notation (`const NAME = [...];`), if there is one."""
    found = re.search(rf"const {name} = (\[[^;]{{0,40000}}\]);", script)
    value = json.loads(found[1]) if found else None
    return value if isinstance(value, list) else None


def number(source: str, pattern: str) -> int | None:
    """Returns the whole number in the first group of a pattern, if the pattern occurs."""
    found = re.search(pattern, source)
    return int(found[1]) if found else None


class SeededRandom:
    """The linear congruential generator that AndroidWorld's pages call `SeededRNG`.

    Raises:
        ValueError: The script has no such generator.
    """

    def __init__(self, script: str) -> None:
        seed = number(script, r"new SeededRNG\((\d{1,10})\)")
        factor, step = number(script, r"const a = (\d{1,10});"), number(script, r"const c = (\d{1,10});")
        bits = number(script, r"const m = 2 \*\* (\d{1,2});")
        if seed is None or factor is None or step is None or bits is None:
            raise ValueError("the script has no seeded generator")
        self._seed, self._factor, self._step, self._modulus = seed, factor, step, 2**bits

    def below(self, limit: int) -> int:
        """Returns a whole number from 0 to `limit` - 1."""
        self._seed = (self._factor * self._seed + self._step) % self._modulus
        return int(self._seed / self._modulus * limit)

    def shuffle(self, items: list) -> None:
        """Brings a list into a random order, from its end on (Fisher-Yates)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
