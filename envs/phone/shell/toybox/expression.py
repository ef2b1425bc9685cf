"""`expr`: arithmetic, comparisons and patterns of words."""

from __future__ import annotations

import re

from coach_gym.envs.phone.patterns import Guarded
from coach_gym.envs.phone.shell.language.patterns import BadPattern, translate
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.shell.toybox.matching import is_safe


def expr(p: Process) -> int:
    """Computes an expression of words: `|`, `&`, comparisons, `+ - * / %`, `text : pattern` and brackets."""
    words = list(p.args)
    try:
        value = _expression(words, 0)
        if words:
            raise ValueError
    except (ValueError, IndexError, BadPattern):
        return p.fail("syntax error", 2)
    except ZeroDivisionError:
        return p.fail("division by zero", 2)
    p.print(value)
    return int(value in ("", "0"))


_LEVELS = (("|",), ("&",), ("=", "==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"), (":",))


_ORDERS = {"=": (0,), "==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


def _expression(words: list[str], level: int) -> str:
    if level == len(_LEVELS):
        word = words.pop(0)
        if word != "(":
            return word
        value = _expression(words, 0)
        if words.pop(0) != ")":
            raise ValueError
        return value
    value = _expression(words, level + 1)
    while words and words[0] in _LEVELS[level]:
        operator = words.pop(0)
        value = _combined(value, operator, _expression(words, level + 1))
    return value


def _combined(left: str, operator: str, right: str) -> str:
    zero = ("", "0")
    if operator == "|":
        return right if left in zero else left
    if operator == "&":
        return "0" if left in zero or right in zero else left
    if operator == ":":
        return _matched(left, right)
    numbers = all(re.fullmatch(r"-?\d{1,18}", word) for word in (left, right))
    if operator in _LEVELS[2]:
        order = (int(left) > int(right)) - (int(left) < int(right)) if numbers else (left > right) - (left < right)
        return str(int(order in _ORDERS[operator]))
    if not numbers:
        raise ValueError
    x, y = int(left), int(right)
    if operator in "/%":  # towards zero, as in C
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return str(quotient if operator == "/" else x - quotient * y)
    return str({"+": x + y, "-": x - y, "*": x * y}[operator])


def _matched(text: str, pattern: str) -> str:
    """Returns what the first group matches at the start of a text; without groups, how long the match is."""
    translated = translate(pattern, extended=False)
    if not is_safe(translated):
        raise ValueError(f"{pattern}: loops in loops")
    match = next(iter(Guarded(rf"\A(?:{translated})").finditer(text)), None)
    group = r"\(" in pattern
    if match is None:
        return "" if group else "0"
    return (match[1] or "") if group else str(match.end())


COMMANDS: dict[str, Command] = {"expr": expr}
