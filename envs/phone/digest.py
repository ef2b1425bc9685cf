"""A hash of what a phone keeps, callbacks included: equal for equal states, whichever objects they consist of."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

_ATOMS = (bool, int, float, date, datetime, time, timedelta, range, type(None))


def digest(value: Any, parts: Mapping[int, int]) -> str:
    """Returns a hash of a value, 32 hexadecimal digits.

    It covers types, contents, the order of lists and dictionaries, what is shared, and of functions the code and the
    variables that they have captured.

    Args:
        value: Whatever `coach_gym.envs.phone.copying.copied` can copy.
        parts: Numbers, by `id`, of objects that stand for themselves: their contents are not looked at.

    Raises:
        TypeError: The value contains something that has no contents to look at, such as a database connection.
    """
    walk = _Walk(parts)
    walk.add(value)
    return walk.hash.hexdigest()


class _Walk:
    def __init__(self, parts: Mapping[int, int]) -> None:
        self.parts = parts
        self.hash = hashlib.blake2b(digest_size=16)
        self.seen: dict[int, int] = {}
        self.alive: list[Any] = []  # an id is taken only as long as its object lives

    def write(self, kind: str, data: bytes = b"") -> None:
        self.hash.update(f"{kind} {len(data)}:".encode())
        self.hash.update(data)

    def add(self, value: Any) -> None:
        match value:
            case str():
                self.write("str", value.encode("utf-8", "surrogatepass"))
            case bytes():
                self.write("bytes", value)
            case Enum():
                self.write("enum", str(value).encode())
            case _ if isinstance(value, _ATOMS):
                self.write(type(value).__name__, repr(value).encode())
            case type() | types.ModuleType():
                self.write("name", f"{getattr(value, '__module__', '')}.{value.__name__}".encode())
            case _ if id(value) in self.parts:
                self.write("part", str(self.parts[id(value)]).encode())
            case tuple():
                self.all(type(value).__name__, value)
            case set() | frozenset():
                self.all("set", sorted(digest(item, self.parts) for item in value))
            case types.MethodType():
                self.all("method", (value.__func__, value.__self__))
            case partial():
                self.all("partial", (value.func, value.args, value.keywords))
            case types.FunctionType() if not (value.__closure__ or value.__defaults__ or value.__kwdefaults__):
                self.code(value)
            case _ if id(value) in self.seen:
                self.write("seen", str(self.seen[id(value)]).encode())
            case _:
                self.seen[id(value)] = len(self.seen)
                self.alive.append(value)
                self.contents(value)

    def all(self, kind: str, items: Any) -> None:
        self.write(kind, str(len(items)).encode())
        for item in items:
            self.add(item)

    def code(self, value: types.FunctionType) -> None:
        code = value.__code__
        self.write("code", f"{value.__module__}.{value.__qualname__} {code.co_firstlineno}".encode() + code.co_code)

    def contents(self, value: Any) -> None:
        match value:
            case list():
                self.all("list", value)
            case dict() if type(value) is dict:
                self.all("dict", [each for pair in value.items() for each in pair])
            case np.ndarray():
                self.all("array", (str(value.dtype), value.shape, value.tobytes()))
            case types.FunctionType():
                self.code(value)
                self.all("around", (value.__defaults__, value.__kwdefaults__, *(value.__closure__ or ())))
            case types.CellType():
                try:
                    self.add(value.cell_contents)
                except ValueError:  # nothing assigned yet
                    self.write("empty")
            case types.BuiltinFunctionType():
                self.all("builtin", (value.__name__, value.__self__))
            case _:
                self.object(value)

    def object(self, value: Any) -> None:
        made = value.__reduce_ex__(4)
        if isinstance(made, str):  # the name of something that exists once
            self.write("once", made.encode())
            return
        make, arguments, state, items, pairs = (*made, None, None, None)[:5]
        if isinstance(state, dict):
            state = sorted(state.items())
        self.all("object", (make, arguments, state, list(items or ()), list(pairs or ())))
