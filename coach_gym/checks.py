"""Checks of numbers that a caller passes, before any work begins with them."""

import math
from numbers import Integral, Real
from typing import Any


def require_whole(least: int, **arguments: Any) -> None:
    """Checks that arguments are whole numbers of at least `least`.

    Raises:
        TypeError: One is not a whole number; True and 3.0 are none.
        ValueError: One is too small.
    """
    for name, value in arguments.items():
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; pass a whole number")
        if value < least:
            raise ValueError(f"{name}={value} is too small; pass {least} or more")


def require_seconds(**arguments: Any) -> None:
    """Checks that arguments are numbers of seconds: greater than zero, and not infinite.

    Raises:
        TypeError: One is not a number.
        ValueError: One is zero, negative, infinite or not a number.
    """
    for name, value in arguments.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; pass a number of seconds")
        if not (math.isfinite(value) and float(value) > 0):
            raise ValueError(f"{name}={value} is no time; pass a number of seconds greater than 0")


def require_not_negative(**arguments: Any) -> None:
    """Checks that arguments are numbers of at least zero, and not infinite.

    Raises:
        TypeError: One is not a number.
        ValueError: One is negative, infinite or not a number.
    """
    require_finite(**arguments)
    for name, value in arguments.items():
        if value < 0:
            raise ValueError(f"{name}={value} is negative; pass 0 or more")


def require_finite(**arguments: Any) -> None:
    """Checks that arguments are numbers, and neither infinite nor nan.

    Raises:
        TypeError: One is not a number.
        ValueError: One is not finite.
    """
    for name, value in arguments.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; pass a number")
        if not math.isfinite(value):
            raise ValueError(f"{name}={value} is not finite; pass a number")
