"""Copies of what screens keep, callbacks included.

A snapshot copies all screens. A callback that a screen keeps must then act on the copied screen, not on the one it
was made by. `copy.deepcopy` does so for bound methods and partials, but it takes every function to be immutable, so
that a lambda would still act on the original. Here a function is copied with the variables that it has captured.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import cache, partial
from typing import Any

Memo = dict[int, Any]
"""Copies by the `id` of their originals. What a copy shares with the original stands for itself.

Under its own id, as in that of `copy.deepcopy`, is a list of what must live as long: ids are used again.
"""


def copied(value: Any, memo: Memo) -> Any:
    """Returns a deep copy of a value.

    Args:
        value: Plain data, objects, and functions, methods and partials of them.
        memo: Copies by the `id` of their originals: those that exist, to which those made here are added.

    Raises:
        TypeError: The value contains something that cannot be copied, such as a database connection.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    known = memo.get(id(value), memo)
    if known is not memo:
        return known
    made = _COPIERS.get(kind, _object)(value, memo)
    memo[id(value)] = made
    return made


_ATOMS = frozenset(
    {type(None), bool, int, float, str, bytes, date, datetime, time, timedelta, type, range, types.ModuleType}
)


def _list(value: list, memo: Memo) -> list:
    made: list = []
    memo[id(value)] = made
    made.extend([copied(item, memo) for item in value])
    return made


def _dict(value: dict, memo: Memo) -> dict:
    made: dict = {}
    memo[id(value)] = made
    for key, item in value.items():
        made[copied(key, memo)] = copied(item, memo)
    return made


def _set(value: set, memo: Memo) -> set:
    return {copied(item, memo) for item in value}


def _tuple(value: tuple, memo: Memo) -> tuple:
    items = [copied(item, memo) for item in value]
    return value if all(a is b for a, b in zip(items, value, strict=True)) else tuple(items)


def _method(value: types.MethodType, memo: Memo) -> Any:
    return types.MethodType(value.__func__, copied(value.__self__, memo))


def _builtin(value: types.BuiltinMethodType, memo: Memo) -> Any:
    """Copies a function written in C; a method of a built-in object, such as `names.append`, with its object."""
    owner = copied(value.__self__, memo)
    return value if owner is value.__self__ else getattr(owner, value.__name__)


def _partial(value: partial, memo: Memo) -> partial:
    arguments = [copied(item, memo) for item in value.args]
    return partial(copied(value.func, memo), *arguments, **copied(value.keywords, memo))


def _function(value: types.FunctionType, memo: Memo) -> types.FunctionType:
    """Copies a function with its default arguments and the variables that it has captured."""
    if not (value.__closure__ or value.__defaults__ or value.__kwdefaults__):
        return value
    around = value.__closure__ or ()
    new = [cell for cell in around if id(cell) not in memo]
    memo.update((id(cell), types.CellType()) for cell in new)
    cells = tuple([memo[id(cell)] for cell in around])
    made = types.FunctionType(value.__code__, value.__globals__, value.__name__, None, cells)
    memo[id(value)] = made  # first, because its variables may refer to it
    made.__defaults__, made.__kwdefaults__ = copied(value.__defaults__, memo), copied(value.__kwdefaults__, memo)
    made.__qualname__, made.__module__ = value.__qualname__, value.__module__
    for cell in new:
        try:
            content = cell.cell_contents
        except ValueError:  # nothing assigned yet
            continue
        memo[id(cell)].cell_contents = copied(content, memo)
    return made


def _object(value: Any, memo: Memo) -> Any:
    if isinstance(value, type):
        return value
    kind: type = type(value)
    if not _is_plain(kind):
        return _rebuilt(value, memo)
    made: Any = object.__new__(kind)
    memo[id(value)] = made
    made.__dict__.update({name: copied(item, memo) for name, item in value.__dict__.items()})
    return made


@cache
def _is_plain(kind: type) -> bool:
    """Returns whether instances are nothing but their `__dict__`, and have no say in how they are copied."""
    own = ("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
    silent = all(getattr(kind, name, None) is getattr(object, name, None) for name in own)
    slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    return silent and kind.__dictoffset__ != 0 and kind.__new__ is object.__new__ and not slots


def _rebuilt(value: Any, memo: Memo) -> Any:
    """Copies an object as it says itself: by `__deepcopy__`, or from the parts that `__reduce_ex__` names."""
    if hasattr(value, "__deepcopy__"):
        return value.__deepcopy__(memo)
    try:
        parts = value.__reduce_ex__(4)
    except TypeError:
        raise TypeError(
            f"a screen, or a callback that it keeps, holds a {type(value).__name__}, which cannot be copied for a "
            "snapshot: let it hold what leads there, such as the path of a database"
        ) from None
    if isinstance(parts, str):  # the name of something that exists once
        return value
    memo.setdefault(id(memo), []).append(parts)  # some were made just now, and would be freed
    make, arguments, state, items, pairs = (*parts, None, None, None)[:5]
    made = make(*copied(arguments, memo))
    memo[id(value)] = made
    if hasattr(made, "__setstate__"):
        made.__setstate__(copied(state, memo))
    else:
        fields, slots = state if isinstance(state, tuple) else (state, None)
        for name, item in {**(fields or {}), **(slots or {})}.items():
            object.__setattr__(made, name, copied(item, memo))
    for item in items or ():
        made.append(copied(item, memo))
    for key, item in pairs or ():
        made[copied(key, memo)] = copied(item, memo)
    return made


_COPIERS: dict[type, Callable[[Any, Memo], Any]] = {
    list: _list, dict: _dict, set: _set, tuple: _tuple, types.MethodType: _method, partial: _partial,
    types.FunctionType: _function, types.BuiltinFunctionType: _builtin,
}  # fmt: skip
