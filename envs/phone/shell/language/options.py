"""Options of commands, as toybox reads them: anywhere on the line, letters joined, `--` ends them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Options:
    """Flags that were given, values of those that take one (the last counts), and the other words."""

    flags: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    unknown: str = ""

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags

    def count(self, name: str, default: int) -> int:
        """The value of an option as a number; the default if it was not given or is none."""
        text = self.values.get(name, "")
        return int(text) if text.lstrip("+-").isdecimal() and len(text) < 12 else default


def options(args: list[str], known: str, valued: str = "") -> Options:
    """Reads arguments.

    Args:
        known: letters of options without a value.
        valued: letters of options whose value is the rest of the word, or the next word.
    """
    result, rest = Options(), list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            result.words += rest
            break
        if len(word) < 2 or word[0] != "-":
            result.words.append(word)
        elif word.startswith("--"):
            result.flags.append(word)
        else:
            _letters(word[1:], known, valued, rest, result)
    return result


def _letters(letters: str, known: str, valued: str, rest: list[str], result: Options) -> None:
    for index, letter in enumerate(letters):
        if letter in valued:
            result.flags.append(letter)
            result.values[letter] = letters[index + 1 :] or (rest.pop(0) if rest else "")
            return
        if letter not in known:
            result.unknown = result.unknown or letter
        result.flags.append(letter)
