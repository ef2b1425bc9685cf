"""Reading an agent's answer to a question: one clear statement counts, listing all that is possible does not."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
_TIME = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)\s*([ap])?\.?m?\b", re.IGNORECASE)


def says(answer: str | None, wanted: str, others: Iterable[str] = ()) -> bool:
    """Whether an answer contains `wanted`, as whole words in any case, and none of the `others`."""
    given = _words(answer or "")
    return _contains(given, wanted) and not any(_contains(given, other) for other in others)


def _contains(given: str, wanted: str) -> bool:
    return _words(wanted) in given


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def is_number(answer: str | None, wanted: float) -> bool:
    """Whether `wanted` is the one number that an answer holds."""
    return {float(number) for number in _NUMBER.findall(answer or "")} == {float(wanted)}


def is_time(answer: str | None, wanted: Iterable[str]) -> bool:
    """Whether an answer holds one time of day and that is among those `wanted`, such as `07:30` or `19:05`."""
    times = {_time(*found) for found in _TIME.findall(answer or "")}
    return len(times) == 1 and times <= set(wanted)


def _time(hour: str, minute: str, half: str) -> str:
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0) if half else int(hour)
    return f"{hours:02d}:{minute}"
