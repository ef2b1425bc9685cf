"""Results that are kept for the next time, as long as they take little memory.

`functools.lru_cache` counts results, not bytes. A picture of a whole screen takes eight megabytes, and what a result is
found by may be a film.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import _lru_cache_wrapper, cache, wraps
from typing import Any, TypeVar

from PIL import Image

Result = TypeVar("Result")
_ENTRY = 256  # bytes that the cache itself takes for a result, about


def cached(megabytes: float) -> Callable[[Callable[..., Result]], _lru_cache_wrapper[Result]]:
    """Keeps the results of a function, and forgets all of them when they have come to so many megabytes.

    To forget all costs less than to know which was used last: whatever is found is found as fast as by `lru_cache`.
    """

    def decorate(function: Callable[..., Result]) -> _lru_cache_wrapper[Result]:
        filled = 0

        @cache
        @wraps(function)
        def kept(*args: Any, **more: Any) -> Result:
            nonlocal filled
            result = function(*args, **more)
            weight = _ENTRY + weight_of((args, more, result))
            filled += weight
            if filled > megabytes * 1e6:
                kept.cache_clear()
                filled = weight
            return result

        return kept

    return decorate


def weight_of(value: Any) -> int:
    """Returns about how many bytes a value takes, with what it contains."""
    if isinstance(value, Image.Image):
        return value.width * value.height * (1 if value.mode == "L" else 4)
    if isinstance(value, list | tuple | set | frozenset):
        return sys.getsizeof(value) + sum(map(weight_of, value))
    if isinstance(value, dict):
        return sys.getsizeof(value) + sum(map(weight_of, value.items()))
    return getattr(value, "nbytes", 0) or sys.getsizeof(value)
