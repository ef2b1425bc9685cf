"""Comparing the answer to a question with what is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable


def same_items(answer: str | None, expected: Iterable[str]) -> bool:
    """Whether an answer lists the expected items, each just once, in any order, separated by commas or lines."""
    given = [plain(item) for item in re.split(r"[,\n]", answer or "")]
    return Counter(item for item in given if item) == Counter(map(plain, expected))


def same_number(answer: str | None, expected: int) -> bool:
    """Whether an answer is that number in digits and nothing else."""
    return plain(answer or "") == str(expected)


def plain(text: str) -> str:
    """A text without case, quotes, full stop and needless spaces."""
    return " ".join(text.casefold().split()).strip(" .'\"")
