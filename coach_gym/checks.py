"""Checks of what a caller passes, before any work begins with it."""

import difflib
import math
import re
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any
from urllib.parse import SplitResult, urlsplit

import numpy as np

LARGEST = (1 << 64) - 1
"""The largest whole number that a caller may pass; those that computers count with are smaller."""
MOST = 1 << 20
"""The most of what is held in memory one by one, such as the episodes of a roll-out and the tokens of a response."""
LARGEST_NUMBER = 1e30
"""The largest number that a training calculates with, whose products still fit into floats of 32 bits."""
LARGEST_SIDE = 16_384
"""The most pixels that a side of a screen has."""
LARGEST_PORT = (1 << 16) - 1
LEAST_TEMPERATURE = 1e-6
"""Below it, probabilities are those of the errors that logits of 32 bits are rounded with."""


class WrongType(TypeError):
    """An argument is of another type than it should be, or there is no such argument: the caller's mistake."""


class ServerError(RuntimeError):
    """A server of models cannot be used, or its answer cannot."""


def require_known(owner: str, known: Iterable[str], given: Iterable[str]) -> None:
    """Checks that a class or function has the arguments that it is given.

    Raises:
        TypeError: It has no such argument.
    """
    known = list(known)
    for name in given:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {nearest[0]!r}?" if nearest else f"help({owner}) lists all of them"
            raise WrongType(f"{owner} has no argument {name!r}; {remedy}")


def require_whole(least: int, **arguments: Any) -> None:
    """Checks that arguments are whole numbers of at least `least`.

    Raises:
        TypeError: One is not a whole number; True and 3.0 are none.
        ValueError: One is too small.
    """
    for name, value in arguments.items():
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise WrongType(f"{name}={value!r} is of type {type(value).__name__}; pass a whole number")
        if value < least:
            raise ValueError(f"{name}={value} is too small; pass {least} or more")
        if int(value) > LARGEST:
            raise ValueError(f"{name} has {int(value).bit_length()} bits, which is too large; pass {LARGEST} or less")


def require_at_most(most: int, **arguments: int | None) -> None:
    """Checks that numbers are not greater than `most`; None is allowed.

    Raises:
        ValueError: One is.
    """
    for name, value in arguments.items():
        if value is not None and value > most:
            raise ValueError(f"{name}={value} is too large; pass {most} or less")


def require_switch(**arguments: Any) -> None:
    """Checks that arguments are True or False.

    Raises:
        TypeError: One is something else.
    """
    for name, value in arguments.items():
        if not isinstance(value, bool | np.bool_):
            raise WrongType(f"{name}={value!r:.60} is of type {type(value).__name__}; pass True or False")


def require_port(**arguments: Any) -> None:
    """Checks that arguments are numbers of ports.

    Raises:
        TypeError: One is not a whole number.
        ValueError: No port has this number.
    """
    require_whole(0, **arguments)
    for name, value in arguments.items():
        if value > LARGEST_PORT:
            raise ValueError(f"{name}={value} is no port; ports have the numbers 0 to {LARGEST_PORT}")


def require_address(url: str, kind: str, example: str) -> SplitResult:
    """Returns the parts of the address of a server.

    Args:
        url: The address.
        kind: What it is the address of, for the message.
        example: What to pass.

    Raises:
        ValueError: It is no address of HTTP.
    """
    try:
        parts = urlsplit(url)
        wrong = "" if parts.port is None or parts.port else "no server has port 0"  # the port is read only when asked
        if parts.scheme not in ("http", "https") or not re.fullmatch(r"[^\s]+", parts.hostname or ""):
            wrong = "it is not http:// or https:// and the name of a host"
    except ValueError as error:
        wrong = str(error)
    if wrong:
        shown = url.rpartition("@")[2]  # before it is a password
        raise ValueError(f"{shown!r} is not the address of a {kind} ({wrong}); pass one like {example}")
    return parts


def require_seconds(**arguments: Any) -> None:
    """Checks that arguments are numbers of seconds: greater than zero, and not infinite.

    Raises:
        TypeError: One is not a number.
        ValueError: One is zero, negative, infinite or not a number.
    """
    for name, value in arguments.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise WrongType(f"{name}={value!r} is of type {type(value).__name__}; pass a number of seconds")
        if not (is_finite(value) and float(value) > 0):
            raise ValueError(f"{name}={float_or_infinite(value)} is no time; pass a number of seconds greater than 0")


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


def require_positive(**arguments: Any) -> None:
    """Checks that arguments are numbers greater than zero, and not infinite.

    Raises:
        TypeError: One is not a number.
        ValueError: One is zero, negative, infinite or not a number.
    """
    require_finite(**arguments)
    for name, value in arguments.items():
        if value <= 0:
            raise ValueError(f"{name}={value} is not above 0; pass a greater number")


def require_temperature(**arguments: Any) -> None:
    """Checks that arguments are temperatures that tokens can be drawn at.

    Raises:
        TypeError: One is not a number.
        ValueError: One is too small, infinite or not a number.
    """
    require_positive(**arguments)
    for name, value in arguments.items():
        if value < LEAST_TEMPERATURE:
            raise ValueError(
                f"{name}={value} is too small, probabilities would be those of rounding errors; pass "
                f"{LEAST_TEMPERATURE:g} or more"
            )


def require_share(**arguments: Any) -> None:
    """Checks that arguments are numbers from 0 to 1.

    Raises:
        TypeError: One is not a number.
        ValueError: One is outside, or not a number.
    """
    require_finite(**arguments)
    for name, value in arguments.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name}={value} is no share; pass a number from 0 to 1")


def require_finite(**arguments: Any) -> None:
    """Checks that arguments are numbers, and neither infinite nor nan.

    Raises:
        TypeError: One is not a number.
        ValueError: One is not finite.
    """
    for name, value in arguments.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise WrongType(f"{name}={value!r} is of type {type(value).__name__}; pass a number")
        if not is_finite(value):
            raise ValueError(f"{name}={float_or_infinite(value)} is not finite; pass a number")


def is_finite(value: Any) -> bool:
    """Returns whether a number is finite as a float, which whole numbers beyond all floats are not."""
    return math.isfinite(float_or_infinite(value))


def float_or_infinite(value: Any) -> float:
    """Returns a number as a float, which is infinite for a whole number beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1)
