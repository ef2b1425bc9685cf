r"""Regular expressions as Android reads them: `java.util.regex` there is ICU's engine.

Their syntax is put into that of `regex`, whose searches can be ended. Both know nested sets, `&&` and possessive
quantifiers. What only ICU knows, such as `\Q…\E`, is written differently; what only `regex` knows is refused.

See https://unicode-org.github.io/icu/userguide/strings/regexp.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import regex

from coach_gym.envs.phone.patterns import Guarded, require_short

_PART = re.compile(
    r"""\\Q(?P<quoted>.*?)(?:\\E|\Z)
    | \\c(?P<control>.) | \\0(?P<octal>[0-3]?[0-7]{1,2}) | \\x\{(?P<hex>[0-9a-fA-F]{1,6})\} | \\k<(?P<group>\w+)>
    | (?P<named>\\[pPN]\{[^}]*\} | \\[pP]\w)
    | \\(?P<letter>[a-zA-Z]) | (?P<escape>\\.)
    | (?P<flags>\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?[:)])
    | (?P<group_of>\((?:\?(?:<?[=!]|>|<[a-zA-Z]|\#))?(?![?*]))
    | (?P<times>\{\d+(?:,\d*)?\})
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_VERTICAL = r"\n-\r\x85\u2028\u2029"
_WRITTEN = {
    "v": f"[{_VERTICAL}]", "V": f"[^{_VERTICAL}]", "H": r"[^\h]", "e": r"\x1b", "E": "", "Z": r"(?=\n?\z)",
}  # fmt: skip
_SAME = set("aAbBdDfGhnrRsStuUwWxXz")
_FLAGS = set("idmsuwx")


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Guarded:
    """Returns a pattern whose `.` fits ends of lines, too, as UiSelector asks for.

    Raises:
        ValueError: Android would refuse it, or it is too long.
    """
    require_short(pattern)
    return Guarded(_translated(pattern), regex.DOTALL | regex.V1)


def _translated(pattern: str) -> str:
    depth, written = 0, []  # of sets within sets
    for part in _PART.finditer(pattern):
        kind, text = str(part.lastgroup), part[0]
        if kind in _KINDS and not (depth and kind == "flags"):
            text = _KINDS[kind](part[kind])
        elif kind == "other" and text in "[]":
            depth = max(0, depth + (1 if text == "[" else -1))
        elif depth and text in ("|", "~"):  # operators of `regex` alone
            text = f"\\{text}"
        elif not depth and kind == "other" and text in "{}(\\":
            raise ValueError(f"{pattern[:60]!r} is not a regular expression: {text!r} near index {part.start()}")
        written.append(text)
    return "".join(written)


def _quoted(text: str) -> str:
    return regex.escape(text, special_only=False)


def _letter(letter: str) -> str:
    if letter in _WRITTEN:
        return _WRITTEN[letter]
    if letter not in _SAME:
        raise ValueError(f"\\{letter} is not known in regular expressions")
    return f"\\{letter}"


def _flags(group: str) -> str:
    if unknown := set(group[2:-1]) - _FLAGS - {"-"}:
        raise ValueError(f"the flags {''.join(sorted(unknown))!r} are not known in regular expressions")
    return re.sub("[du]", "", group).replace("-:", ":").replace("-)", ")")


_KINDS: dict[str, Callable[[str], str]] = {
    "quoted": _quoted,
    "control": lambda letter: _quoted(chr(ord(letter) ^ 0x40)),
    "octal": lambda digits: _quoted(chr(int(digits, 8))),
    "hex": lambda digits: _quoted(chr(int(digits, 16))),
    "group": lambda name: f"\\g<{name}>",
    "letter": _letter,
    "flags": _flags,
}
