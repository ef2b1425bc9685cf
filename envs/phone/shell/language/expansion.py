"""Expansion of words: variables, substitutions, arithmetic, and the names of files that a pattern matches."""

from __future__ import annotations

import fnmatch
import random
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.patterns import Guarded
from coach_gym.envs.phone.shell.language import arithmetic, syntax
from coach_gym.envs.phone.shell.language.environment import OWN_PID, Environment, Fatal, Fault, Killed
from coach_gym.envs.phone.shell.language.filesystem import FileSystem
from coach_gym.envs.phone.shell.language.process import MOST_PARTS, few

MOST_ALTERNATIVES = 1 << 21  # characters of all that is made of a word on the way to what its braces stand for
PARENT_PID = "402"  # adbd's
BLANKS = " \t\n"
_GLOB = re.compile(r"[*?]|\[.+\]", re.DOTALL)
_SPECIAL = re.compile(r"^~|[*?{]|\[.+\]", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")
_ITEM = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)  # of a pattern
_BRACE = re.compile(r"\0.|[{},]", re.DOTALL)
_MARKED = re.compile(r"[\0{},*?\[~]")  # what is marked by a zero before it if it is quoted
_QUOTED = re.compile(r"\0(.)", re.DOTALL)

Piece = tuple[str, bool]
"""A text, and whether it was quoted."""


class Expander:
    """Expands the words of one shell.

    Args:
        shell: The shell's state.
        files: What patterns match.
        substitute: Runs a script and returns its output.
    """

    def __init__(self, shell: Environment, files: FileSystem, substitute: Callable[[syntax.Script], str]) -> None:
        self._shell, self._files, self._substitute = shell, files, substitute
        self._began = self._now
        self._random = random.Random(str(self._now))

    @property
    def _now(self) -> datetime:
        return self._files.phone.now

    def fields(self, word: syntax.Word) -> list[str]:
        """Returns what a word expands to: fields, split at blanks and matched against file names."""
        if len(word) == 1 and isinstance(word[0], syntax.Literal):  # the common case
            literal = word[0]
            if literal.quoted or not _SPECIAL.search(literal.text):
                return [literal.text]
        # all parts first: a file that one of them makes is among the names that a pattern before it matches
        pieces = [piece for part in self._at_home(word) for piece in self._pieces(part)]
        names: list[str] = []
        field: list[Piece] = []
        for piece in [*pieces, None]:
            if piece is not None:
                field.append(piece)
            elif field:
                names += self._names(field)
                field = []
        return names

    def _names(self, field: list[Piece]) -> list[str]:
        """Returns what a field stands for: the names that it matches, or its text."""
        text, quoted = field[0]
        if len(field) == 1 and (quoted or not _SPECIAL.search(text)):  # the common case
            return [text]
        return [name for each in _alternatives(field) for name in self._matched(each)]

    def _pieces(self, part: syntax.Part) -> Iterator[Piece | None]:
        """Yields what a part of a word contributes; None ends a field."""
        if isinstance(part, syntax.Literal):
            yield part.text, part.quoted
        elif isinstance(part, syntax.Variable) and not part.op and part.name in ("@" if part.quoted else "@*"):
            for index, argument in enumerate(self._shell.arguments):
                if index:
                    yield None
                yield from [(argument, True)] if part.quoted else self._split(argument)
        elif part.quoted:
            yield self.value(part), True
        elif isinstance(part, syntax.Variable) and (word := self._instead(part)) is not None:
            for inner in self._at_home(word):
                if isinstance(inner, syntax.Literal) and not inner.quoted:
                    yield from self._split(inner.text)
                else:
                    yield from self._pieces(inner)
        else:
            yield from self._split(self.value(part))

    def _split(self, value: str) -> Iterator[Piece | None]:
        """Splits a value where characters of IFS are: blanks run together, each other one ends a field."""
        characters = self._shell.variables.get("IFS", BLANKS)
        separator = _separator(characters)
        texts = few(separator.split(value, MOST_PARTS)) if characters else [value]
        last, leading = len(texts) - 1, separator.match(value) if characters else None
        for index, text in enumerate(texts):
            if index:
                yield None
            if text or 0 < index < last or (index == 0 and leading and leading[0].strip(BLANKS)):
                yield text, False

    def _matched(self, field: list[Piece]) -> list[str]:
        """Returns the names that match a field with unquoted `*`, `?` or `[`; if none does, its text."""
        text = "".join(text for text, _ in field)
        if "f" not in self._shell.options and any(not quoted and _GLOB.search(text) for text, quoted in field):
            return self._glob(_pattern(field)) or [text]
        return [text]

    def _glob(self, pattern: str) -> list[str]:
        names = ["/" if pattern.startswith("/") else ""]
        *folders, last = [segment for segment in re.split(r"/+", pattern) if segment]
        for segment in folders:
            names = [f"{name}/" for name in self._below(names, segment) if self._is_dir(name)]
        names = self._below(names, last)
        return sorted(f"{n}/" for n in names if self._is_dir(n)) if pattern.endswith("/") else sorted(names)

    def _below(self, folders: list[str], pattern: str) -> list[str]:
        """Returns paths whose last name matches, in folders that end in a slash, or are empty for this one."""
        if not _GLOB.search(pattern):
            return [folder + pattern for folder in folders if self._exists(folder + pattern)]
        listing = self._files.names
        return [
            folder + name
            for folder in folders
            for name in listing(real(folder, self._shell.folder))
            if fnmatch.fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))
        ]

    def _exists(self, name: str) -> bool:
        return self._files.exists(real(name, self._shell.folder))

    def _is_dir(self, name: str) -> bool:
        return self._files.is_dir(real(name, self._shell.folder))

    def _at_home(self, word: syntax.Word) -> syntax.Word:
        """Returns a word with the home directory for a `~` that is all of it, or has a slash after it."""
        match word:
            case (syntax.Literal(text, False), *rest) if text.startswith("~/") or (text == "~" and not rest):
                home = self._shell.variables.get("HOME", "/").rstrip("/") or ("/" if text == "~" else "")
                return syntax.Literal(home, True), syntax.Literal(text[1:], False), *rest
        return word

    def text(self, word: syntax.Word) -> str:
        """Returns a word expanded, but neither split nor matched."""
        return self._together(self._at_home(word))

    def _together(self, word: syntax.Word) -> str:
        parts = (part.text if isinstance(part, syntax.Literal) else self.value(part) for part in word)
        return "".join(parts)

    def pattern(self, word: syntax.Word) -> str:
        """Returns a word expanded to a pattern, in which quoted text stands for itself."""
        pieces = [
            (part.text, part.quoted) if isinstance(part, syntax.Literal) else (self.value(part), part.quoted)
            for part in word
        ]
        return _pattern(pieces)

    def value(self, part: syntax.Part) -> str:
        """Returns what a part of a word stands for."""
        if isinstance(part, syntax.Variable):
            return self._variable(part)
        if isinstance(part, syntax.Substitution):
            return self._substitute(part.script)
        if isinstance(part, syntax.Arithmetic):
            try:
                return str(self.number(self._together(part.word)))
            except arithmetic.Invalid as fault:
                raise Fatal(str(fault)) from None
        return part.text

    def number(self, text: str) -> int:
        """Returns the value of an arithmetic expression, which may assign to variables.

        Raises:
            arithmetic.Invalid: The text is no expression.
        """
        return arithmetic.evaluate(text, self._lookup, self._shell.assign)

    def _instead(self, part: syntax.Variable) -> syntax.Word | None:
        """Returns the word that `${name-word}` and `${name+word}` stand for; None if it is the value, or nothing."""
        value, op = self._lookup(part.name), part.op.lstrip(":")
        missing = value is None or (part.op.startswith(":") and not value)
        return part.word if (op == "-" and missing) or (op == "+" and not missing) else None

    def _variable(self, part: syntax.Variable) -> str:
        if (word := self._instead(part)) is not None:
            return self.text(word)
        value = self._lookup(part.name)
        op, colon = part.op.lstrip(":"), part.op.startswith(":")
        missing = value is None or (colon and not value)
        match op:
            case "#length":
                return str(len(self._shell.arguments) if part.name in "@*" else len(value or ""))
            case "+":
                return ""
            case "=" if missing:
                self._shell.assign(part.name, self.text(part.word))
                return self._shell.variables[part.name]
            case "?" if missing:
                raise Fatal(f"{part.name}: {self.text(part.word) or 'parameter null or not set'}")
            case "" if value is None and "u" in self._shell.options:
                raise Fatal(f"{part.name}: parameter not set")
            case "#" | "##" | "%" | "%%":
                return _trimmed(value or "", op, self.pattern(part.word))
            case "/" | "//" | "/#" | "/%":
                return self._replaced(value or "", part)
            case "" if colon:
                return self._slice(value or "", self._together(part.word))
        return value or ""

    def _replaced(self, value: str, part: syntax.Variable) -> str:
        """Expands `${name/pattern/text}`; two slashes replace all matches, `/#` one at the start, `/%` at the end."""
        word, replacement = _halves(part.word)
        pattern, new = self.pattern(word), self._together(replacement)
        if not pattern and part.op in ("/", "//"):
            return value
        start, end, most = r"\A" * (part.op == "/#"), r"\Z" * (part.op == "/%"), 0 if part.op == "//" else 1
        regex = _compiled(f"{start}(?s:{_plain(pattern)}){end}")
        return regex.sub(lambda match: new if match[0] or end or not match.start() else "", value, count=most)

    def _slice(self, value: str, place: str) -> str:
        """Expands `${name:start:length}`."""
        start, colon, length = place.partition(":")
        try:
            first = self.number(start)
            count = self.number(length) if colon else len(value)
        except arithmetic.Invalid as fault:
            raise Fatal(str(fault)) from None
        first = max(0, first + len(value)) if first < 0 else first
        return value[first : first + count] if count >= 0 else value[first:count]

    def _lookup(self, name: str) -> str | None:
        match name:
            case "?":
                return str(self._shell.code)
            case "#":
                return str(len(self._shell.arguments))
            case "@":
                return " ".join(self._shell.arguments)
            case "*":
                return self._shell.variables.get("IFS", " ")[:1].join(self._shell.arguments)
            case "$":
                return OWN_PID
            case "!":
                return OWN_PID if self._shell.job is not None else None
            case "-":
                return "".join(sorted(option for option in self._shell.options if len(option) == 1))
            case "0":
                return self._shell.name
        if name.isdecimal():
            return self._shell.arguments[int(name) - 1] if int(name) <= len(self._shell.arguments) else None
        if name in self._shell.variables:
            return self._shell.variables[name]
        match name:
            case "PWD":
                return self._shell.folder
            case "RANDOM":
                return str(self._random.randrange(1 << 15))
            case "SECONDS":
                return str((self._now - self._began).seconds)
            case "EPOCHREALTIME":
                return f"{to_seconds(self._now)}.000000"
            case "PPID":
                return PARENT_PID
            case "KSH_VERSION":
                return "@(#)MIRBSD KSH R59 2020/10/31 Android"
        return None


@lru_cache(16)
def _separator(characters: str) -> re.Pattern[str]:
    """Returns a pattern of what separates fields."""
    blanks = "".join(character for character in characters if character in BLANKS)
    others = "".join(map(re.escape, set(characters) - set(blanks)))
    around = f"[{blanks}]*" * bool(blanks)
    each = [f"{around}[{others}]{around}"] * bool(others) + [f"[{blanks}]+"] * bool(blanks)
    return re.compile("|".join(each))


def _halves(word: syntax.Word) -> tuple[syntax.Word, syntax.Word]:
    """Returns what is before and after the first slash that is not quoted."""
    for index, part in enumerate(word):
        if isinstance(part, syntax.Literal) and not part.quoted and "/" in part.text:
            before, after = part.text.split("/", 1)
            literals = syntax.Literal(before, False), syntax.Literal(after, False)
            return (*word[:index], literals[0]), (literals[1], *word[index + 1 :])
    return word, ()


def _alternatives(field: list[Piece]) -> list[list[Piece]]:
    """Returns the fields that `{a,b}` stands for; what variables hold counts like what is written, as in mksh."""
    if not any(not quoted and "{" in text for text, quoted in field):
        return [field]
    text = "".join(_MARKED.sub(r"\0\g<0>", text) if quoted else text for text, quoted in field)
    if not (places := _places(text)):
        return [field]
    parts = (enumerate(_QUOTED.split(each)) for each in _braced(text, places))
    return [[(part, index % 2 == 1) for index, part in each if part] or [("", True)] for each in parts]


def _places(text: str) -> list[int]:
    """Returns where braces open and close and where the commas between are; quoted characters have a zero before them.

    A brace without a comma of its own means nothing, nor does what is in it, or after one that is never closed.
    """
    found: list[int] = []
    open: list[tuple[int, list[int]]] = []  # for each brace: how much was found before it; its place, those of commas
    for match in _BRACE.finditer(text):
        sign, place = match[0], match.start()
        if sign == "{":
            open.append((len(found), [place]))
        elif sign == "," and open:
            open[-1][1].append(place)
        elif sign == "}" and open:
            before, places = open.pop()
            if len(places) > 1:
                found += [*places, place]
            else:
                del found[before:]
    return sorted(found[: open[0][0]] if open else found)


def _braced(text: str, places: list[int]) -> list[str]:
    """Returns what a text with braces and commas in these places stands for."""
    outer: list[tuple[list[str], list[str]]] = []  # of the braces around: their parts so far, and the words of the last
    parts: list[str] = []
    words, at, made = [""], 0, 0
    for place in [*places, len(text)]:
        made += len(words) * (place - at + 1) + sum(map(len, words))
        if made > MOST_ALTERNATIVES:
            raise Killed
        words = [word + text[at:place] for word in words]
        at, sign = place + 1, text[place : place + 1]
        if sign == "{":
            outer.append((parts, words))
            parts, words = [], [""]
        elif sign:
            parts += words
            words = [""]
        if sign == "}":
            choices, (parts, words) = parts, outer.pop()
            made += len(words) * (sum(map(len, choices)) + len(choices)) + len(choices) * sum(map(len, words))
            if made > MOST_ALTERNATIVES:
                raise Killed
            words = [word + choice for word in words for choice in choices]
    return words


def _pattern(pieces: list[Piece]) -> str:
    """Joins pieces to a pattern for fnmatch; special characters of quoted ones stand for themselves."""
    return "".join(_MAGIC.sub(r"[\g<0>]", text) if quoted else text for text, quoted in pieces)


def _trimmed(value: str, op: str, pattern: str) -> str:
    """Returns a value without its shortest (`#`, `%`) or longest (`##`, `%%`) matching prefix or suffix."""
    items = _ITEM.findall(pattern)
    if op[0] == "%":
        return _trimmed_start(value[::-1], items[::-1], op == "%%")[::-1]
    return _trimmed_start(value, items, op == "##")


def _trimmed_start(value: str, items: list[str], longest: bool) -> str:
    """Trims a start. What follows a star is taken where it comes first, except that the last star may reach far."""
    parts = [""]
    for item in items:
        if item == "*":
            parts.append("")
        else:
            parts[-1] += _plain(item)
    first, *others = parts
    regex = first + "".join(f"(?>.*?{part})" for part in others)
    if longest and others:
        regex = first + "".join(f"(?>.*?{part})" for part in others[:-1]) + f".*{others[-1]}"
    match = _compiled(f"(?s:{regex})").match(value)
    return value[match.end() :] if match else value


def _plain(pattern: str) -> str:
    """Returns a pattern of file names as a regular expression, without the parts that anchor it."""
    return fnmatch.translate(pattern)[4:-3]


def _compiled(regex: str) -> Guarded:
    try:
        return Guarded(regex)
    except ValueError as fault:
        raise Fault(str(fault)) from None
