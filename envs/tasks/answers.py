"""Compares answers to questions with the right ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable


def same_items(answer: str | None, expected: Iterable[str]) -> bool:
    """Returns whether an answer lists exactly the expected items, in any order, separated by commas or lines."""
    given = [plain(item) for item in re.split(r"[,\n]", answer or "")]
    return Counter(item for item in given if item) == Counter(map(plain, expected))


def same_number(answer: str | None, expected: int) -> bool:
    """Returns whether an answer is that number in digits and nothing else."""
    return plain(answer or "") == str(expected)


def about(answer: str | None, expected: float, tolerance: float) -> bool:
    """Returns whether an answer is a number in digits, off by at most the tolerance, and nothing else."""
    found = _NUMBER.fullmatch(plain(answer or "").replace(",", ""))
    return found is not None and abs(float(found[0]) - expected) <= tolerance


_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")


def plain(text: str) -> str:
    """Returns a text in lower case, without quotes, full stop and superfluous spaces."""
    return " ".join(text.casefold().split()).strip(" .'\"")


def same_time(answer: str | None, expected: str) -> bool:
    """Returns whether an answer is a time of day such as 07:30, 7:30 or 7:30 am, and nothing else."""
    found = _TIME.fullmatch(plain(answer or ""))
    if found is None:
        return False
    hours, minutes, half = int(found[1]), found[2], found[3]
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    return f"{hours:02d}:{minutes}" == expected


_TIME = re.compile(r"(\d{1,2}):(\d{2})(?: ?([ap])\.?m\.?)?")
