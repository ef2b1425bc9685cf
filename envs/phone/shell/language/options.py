"""Options of commands, as toybox reads them: anywhere on the line, letters joined, ended by `--`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Options:
    """The options and words of a command line.

    Attributes:
        flags: The letters of the options without a value.
        values: The last value of each option that takes one.
        words: The other words.
    """

    flags: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    unknown: str = ""

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags

    def count(self, name: str, default: int) -> int:
        """Returns the value of an option as a number; the default if it is missing or is no number."""
        text = self.values.get(name, "")
        return int(text) if text.lstrip("+-").isdecimal() and len(text) < 12 else default


def options(args: list[str], known: str, valued: str = "") -> Options:
    """Reads the arguments of a command.

    Args:
        args: The arguments.
        known: Letters of options without a value.
        valued: Letters of options whose value is the rest of the word, or the next word.
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
