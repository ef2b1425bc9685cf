"""POSIX regular expressions, basic and extended, translated to Python's syntax."""

from __future__ import annotations

import re

from coach_gym.envs.phone.patterns import require_short

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_TOKEN = re.compile(r"\\(.)|(\[\^?\]?(?:\[:\w+:\]|[^\]])*\])|(.)", re.DOTALL)


class BadPattern(Exception):
    """The text is no regular expression."""


def translate(pattern: str, extended: bool) -> str:
    """Returns a pattern in Python's syntax.

    Args:
        pattern: A POSIX regular expression.
        extended: Whether it is an extended one.

    Raises:
        BadPattern: It is too long, ends in a backslash, or Python cannot compile it.
    """
    try:
        require_short(pattern)
    except ValueError as fault:
        raise BadPattern(str(fault)) from None
    out: list[str] = []
    end = 0
    for match in _TOKEN.finditer(pattern):
        end = match.end()
        escaped, bracket, plain = match.groups()
        if bracket:
            out.append(_bracket(bracket))
        elif escaped:
            out.append(_escaped(escaped, extended))
        elif not extended and (plain in "+?|(){}" or (plain == "*" and out in ([], ["^"]))):
            out.append("\\" + plain)
        elif plain == "[":
            raise BadPattern("brackets ([ ]) not balanced")
        elif plain == "\\":
            raise BadPattern("trailing backslash")
        else:
            out.append(plain)
    if end < len(pattern):
        raise BadPattern("trailing backslash")
    result = "".join(out)
    try:
        re.compile(result)
    except (re.error, RecursionError, OverflowError) as fault:
        raise BadPattern(str(fault)) from None
    return result


def _escaped(character: str, extended: bool) -> str:
    if character in "+?|(){}" and not extended:
        return character
    if character in "<>":
        return r"\b"
    return "\\" + character if character in "bBwWsS" or character.isdigit() else re.escape(character)


def _bracket(text: str) -> str:
    negated = text.startswith("[^")
    inner = text[2 if negated else 1 : -1]
    parts = re.split(r"\[:(\w+):\]", inner)
    parts[::2] = [re.sub(r"[\\\[\]&~|^]", r"\\\g<0>", part) for part in parts[::2]]
    parts[1::2] = [_CLASSES.get(part, "") for part in parts[1::2]]
    body = "".join(parts)
    return f"[{'^' if negated else ''}{body}]"
