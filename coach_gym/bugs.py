"""Telling wrong code from a device or a server in trouble, by the exceptions that they raise."""

import json
import sqlite3
from collections.abc import Iterable
from traceback import walk_tb
from types import FrameType

_BUGS = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, NotImplementedError,
    StopIteration, SyntaxError, TypeError, ValueError, sqlite3.Error,
)  # fmt: skip
_TROUBLE = (OSError, json.JSONDecodeError, UnicodeError)  # refused connections, and answers cut short


def is_bug(error: BaseException) -> bool:
    """Returns whether an exception says that code is wrong, and would be raised again and again."""
    return isinstance(error, _BUGS) and not isinstance(error, _TROUBLE)


class OthersCode:
    """Code that is not of this package.

    Args:
        classes: Classes, of which those of this package are left out.
        packages: Names of packages.
    """

    def __init__(self, classes: Iterable[type], packages: Iterable[str]) -> None:
        everything = (each for given in classes for each in given.__mro__)
        self._classes = {(each.__module__, each.__qualname__) for each in everything if not _is_ours(each)}
        self._packages = set(packages)

    def raised(self, error: BaseException) -> bool:
        """Returns whether an exception came out of a method of these classes or a function of these packages."""
        return any(self._has(frame) for frame, _ in walk_tb(error.__traceback__))

    def _has(self, frame: FrameType) -> bool:
        module = frame.f_globals.get("__name__", "")
        holder = frame.f_code.co_qualname.rpartition(".")[0]
        return (module, holder) in self._classes or any(f"{module}.".startswith(f"{p}.") for p in self._packages)


def _is_ours(kind: type) -> bool:
    return f"{kind.__module__}.".startswith("coach_gym.")
