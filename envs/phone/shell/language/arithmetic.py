"""Arithmetic expansion, `$(( … ))`, in the 32-bit integers of mksh."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|(<<|>>|[<>=!]=|&&|\|\||[-+*/%()<>&|^~!]))", re.ASCII
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_DEEPEST = 50


class Invalid(Exception):
    """The text is no expression."""


def evaluate(text: str, variables: Mapping[str, str]) -> int:
    """Returns the value of an expression.

    Raises:
        Invalid: The text is no expression, or divides by zero.
    """
    calculation = _Calculation(text, variables)
    value = calculation.level(0) if text.strip() else 0
    if calculation.tokens:
        raise Invalid(f"{text.strip()}: unexpected '{calculation.tokens[-1]}'")
    return value


class _Calculation:
    """The rest of an expression, its next token last."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text, self.variables, self.depth = text.strip(), variables, 0
        self.tokens = [match[1] or match[2] or match[3] for match in _TOKEN.finditer(text)][::-1]
        if _TOKEN.sub("", text).strip():
            raise Invalid(f"{self.text}: bad number or unexpected character")

    def level(self, index: int) -> int:
        """Returns the value of operators that bind at least as tightly as `_LEVELS[index]`."""
        if index == len(_LEVELS):
            return self.unary()
        value = self.level(index + 1)
        while self.tokens and self.tokens[-1] in _LEVELS[index]:
            value = self.apply(self.tokens.pop(), value, self.level(index + 1))
        return value

    def unary(self) -> int:
        self.depth += 1
        if not self.tokens or self.depth > _DEEPEST:
            raise Invalid(f"{self.text}: unexpected end of expression")
        token = self.tokens.pop()
        if token == "(":
            value = self.level(0)
            if not self.tokens or self.tokens.pop() != ")":
                raise Invalid(f"{self.text}: missing )")
        elif token in ("-", "+", "~", "!"):
            operand = self.unary()
            value = {"-": -operand, "+": operand, "~": ~operand, "!": int(not operand)}[token]
        else:
            value = self.number(token)
        self.depth -= 1
        return _wrap(value)

    def number(self, token: str) -> int:
        text = self.variables.get(token, "0") or "0" if token[0].isalpha() or token[0] == "_" else token
        try:
            return _wrap(int(text, 16 if text[:2].lower() == "0x" else 10))
        except ValueError:
            raise Invalid(f"{text}: bad number") from None

    def apply(self, symbol: str, left: int, right: int) -> int:
        if symbol in ("/", "%") and right == 0:
            raise Invalid(f"{self.text}: zero divisor")
        return _wrap(int(_OPERATORS[symbol](left, right)))


def _wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: bool(left or right), "&&": lambda left, right: bool(left and right),
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "<<": lambda left, right: left << (right & 31), ">>": lambda left, right: left >> (right & 31),
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _quotient,
    "%": lambda left, right: left - _quotient(left, right) * right,
}  # fmt: skip
