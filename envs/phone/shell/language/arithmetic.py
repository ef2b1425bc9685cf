"""Arithmetic, `$(( … ))` and `let`, in the 32-bit integers of mksh."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|"
    r"(<<=|>>=|<<|>>|\+\+|--|[-+*/%&|^<>=!]=|&&|\|\||[-+*/%()<>&|^~!?:,=]))",
    re.ASCII,
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=")
_DEEPEST = 50


class Invalid(Exception):
    """The text is no expression."""


Lookup = Callable[[str], str | None]
Assign = Callable[[str, str], None]


def evaluate(text: str, lookup: Lookup, assign: Assign) -> int:
    """Returns the value of an expression.

    Args:
        text: The expression.
        lookup: Returns a variable's value, or None.
        assign: Sets a variable.

    Raises:
        Invalid: The text is no expression, or divides by zero.
    """
    calculation = _Calculation(text, lookup, assign)
    value = calculation.all() if text.strip() else 0
    if calculation.tokens:
        raise Invalid(f"{text.strip()}: unexpected '{calculation.tokens[-1]}'")
    return value


class _Calculation:
    """The rest of an expression, its next token last. What is not to be evaluated, such as the other side of `?:`,
    is read but assigns nothing."""

    def __init__(self, text: str, lookup: Lookup, assign: Assign) -> None:
        self.text, self.lookup, self.assign, self.depth = text.strip(), lookup, assign, 0
        self.idle = 0  # greater than zero in a part that is not evaluated
        self.tokens = [match[1] or match[2] or match[3] for match in _TOKEN.finditer(text)][::-1]
        if _TOKEN.sub("", text).strip():
            raise Invalid(f"{self.text}: bad number or unexpected character")

    def all(self) -> int:
        """Returns the value of the last of several expressions between commas."""
        value = self.one()
        while self._take(","):
            value = self.one()
        return value

    def one(self) -> int:
        """Returns the value of an assignment, of `a ? b : c`, or of an operation."""
        if len(self.tokens) > 1 and _is_name(self.tokens[-1]) and self.tokens[-2] in _ASSIGNING:
            name, symbol = self.tokens.pop(), self.tokens.pop()
            value = self.one()
            return self._set(name, self.apply(symbol[:-1], self.number(name), value) if symbol != "=" else value)
        condition = self.level(0)
        if not self._take("?"):
            return condition
        first = self._maybe(bool(condition), self.one)
        if not self._take(":"):
            raise Invalid(f"{self.text}: missing :")
        second = self._maybe(not condition, self.one)
        return first if condition else second

    def level(self, index: int) -> int:
        """Returns the value of operators that bind at least as tightly as `_LEVELS[index]`."""
        if index == len(_LEVELS):
            return self.unary()
        value = self.level(index + 1)
        while self.tokens and self.tokens[-1] in _LEVELS[index]:
            symbol = self.tokens.pop()
            needed = not (symbol == "&&" and not value or symbol == "||" and value)
            right = self._maybe(needed, lambda: self.level(index + 1))
            value = self.apply(symbol, value, right)
        return value

    def unary(self) -> int:
        self.depth += 1
        if not self.tokens or self.depth > _DEEPEST:
            raise Invalid(f"{self.text}: unexpected end of expression")
        token = self.tokens.pop()
        if token == "(":
            value = self.all()
            if not self._take(")"):
                raise Invalid(f"{self.text}: missing )")
        elif token in ("++", "--"):
            value = self._stepped(self.tokens.pop() if self.tokens else "", token)
        elif token in ("-", "+", "~", "!"):
            operand = self.unary()
            value = {"-": -operand, "+": operand, "~": ~operand, "!": int(not operand)}[token]
        else:
            value = self.number(token)
            if self.tokens and self.tokens[-1] in ("++", "--") and _is_name(token):
                self._stepped(token, self.tokens.pop())
        self.depth -= 1
        return _wrap(value)

    def number(self, token: str) -> int:
        text = (self.lookup(token) or "0") if _is_name(token) else token
        try:
            return _wrap(int(text, 16 if text[:2].lower() == "0x" else 10))
        except ValueError:
            raise Invalid(f"{text}: bad number") from None

    def apply(self, symbol: str, left: int, right: int) -> int:
        if symbol in ("/", "%") and right == 0:
            if self.idle:
                return 0
            raise Invalid(f"{self.text}: zero divisor")
        return _wrap(int(_OPERATORS[symbol](left, right)))

    def _stepped(self, name: str, symbol: str) -> int:
        if not _is_name(name):
            raise Invalid(f"{self.text}: {symbol} needs a variable")
        return self._set(name, _wrap(self.number(name) + (1 if symbol == "++" else -1)))

    def _set(self, name: str, value: int) -> int:
        if not self.idle:
            self.assign(name, str(value))
        return value

    def _maybe(self, needed: bool, read: Callable[[], int]) -> int:
        self.idle += not needed
        try:
            return read()
        finally:
            self.idle -= not needed

    def _take(self, token: str) -> bool:
        if self.tokens[-1:] == [token]:
            self.tokens.pop()
            return True
        return False


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


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
