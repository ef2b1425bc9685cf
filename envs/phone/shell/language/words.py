"""The words of a shell's text: quotes, backslashes, `$name`, `${name…}`, `$(…)`, backquotes, `$((…))`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from coach_gym.envs.phone.shell.language.syntax import (
    Arithmetic,
    Literal,
    Part,
    Redirect,
    Script,
    Substitution,
    Variable,
    Word,
)


class SyntaxFault(Exception):
    """The text is no command; the message is that of mksh."""


class Unfinished(SyntaxFault):
    """The text ends too early."""


_SPACE = re.compile(r"(?:[ \t]|\\\n|(?<![^ \t\n;&|()])#[^\n]*)+")
_SPECIAL = re.compile(r"[A-Za-z_]\w*|[0-9?$#@*!-]", re.ASCII)
_PLAIN = re.compile(r"""[^ \t\n;&|()<>'"\\$`]+""")
_BARE = re.compile(r"(?:[a-z]+|[{}!])(?=[ \t\n;&|()<>]|$)")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_IN_BRACES = re.compile(r"""[^}"'\\$`]+""")
_EXPANSION_OP = re.compile(r":?[-+=?]|%%?|##?|:|/[/#%]?")


class Words(ABC):
    """Reads the words of one text from left to right; a subclass reads the scripts in them.

    Args:
        text: The text.
        depth: How deep it is nested in other texts.

    Attributes:
        at: The index of the next character.
        documents: Here-documents whose text begins on the next line.
        open: Whether the text ends within a here-document, which a script may and a typed line does not.
    """

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self.documents: list[Redirect] = []
        self.open = False

    @abstractmethod
    def script(self, *ends: str) -> Script:
        """Reads commands up to one of some reserved words, `;;`, a closing bracket, or the end of the text."""

    def _word(self) -> Word:
        """Reads the parts up to the next unquoted blank or operator; none if there is no word."""
        parts: list[Part] = []
        while self.at < len(self.text):
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                self.at = plain.end()
                parts.append(Literal(plain[0], False))
                continue
            match self.text[self.at]:
                case "'":
                    parts.append(self._single_quoted())
                case '"':
                    parts += self._double_quoted()
                case "\\":
                    self.at += 2
                    if self.text[self.at - 1 : self.at] != "\n":
                        parts.append(Literal(self.text[self.at - 1 : self.at] or "\\", True))
                case "$" | "`":
                    parts.append(self._dollar(quoted=False))
                case _:
                    break
        return tuple(parts)

    def _single_quoted(self) -> Literal:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unfinished("no closing quote")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return Literal(text, True)

    def _double_quoted(self) -> list[Part]:
        self.at += 1
        parts: list[Part] = []
        while True:
            if self.at >= len(self.text):
                raise Unfinished("no closing quote")
            if self.text[self.at] == '"':
                self.at += 1
                return parts or [Literal("", True)]  # "" is an empty word
            parts += self._quoted_part(_IN_QUOTES, '"\\$`')

    def _quoted_part(self, plain: re.Pattern[str], escapable: str) -> list[Part]:
        """Reads the next part of a text in which only backslash, dollar and backquote are special."""
        if match := plain.match(self.text, self.at):
            self.at = match.end()
            return [Literal(match[0], True)]
        if self.text[self.at] != "\\":
            return [self._dollar(quoted=True)]
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following == "\n":
            return []
        return [Literal(following if following and following in escapable else "\\" + following, True)]

    def _dollar(self, quoted: bool) -> Part:
        """Reads what a `$` or a backquote begins; a lone `$` stands for itself."""
        if self.text[self.at] == "`":
            return self._backquoted(quoted)
        self.at += 1
        if self.text.startswith("((", self.at) and (result := self._arithmetic()):
            return result
        if self.text.startswith("(", self.at):
            return Substitution(self._bracketed(), quoted)
        if self.text.startswith("{", self.at):
            return self._braced(quoted)
        if not quoted and self.text.startswith("'", self.at):
            return self._ansi_quoted()
        if name := _SPECIAL.match(self.text, self.at):
            self.at = name.end()
            return Variable(name[0], quoted)
        return Literal("$", True)

    def _backquoted(self, quoted: bool) -> Substitution:
        match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unfinished("no closing quote")
        self.at = match.end()
        escaped = r'\\([`\\$"])' if quoted else r"\\([`\\$])"
        inner = type(self)(re.sub(escaped, r"\1", match[1]), self.depth)
        script = inner.script()
        if inner.at < len(inner.text):
            inner._unexpected()
        return Substitution(script, quoted)

    def _arithmetic(self) -> Arithmetic | None:
        """Reads `(( … ))`. Returns None if the brackets belong to a subshell in a substitution."""
        depth = 0
        for match in re.compile(r"[()]").finditer(self.text, self.at + 2):
            depth += 1 if match[0] == "(" else -1
            if depth < 0:
                break
        if depth >= 0 or not self.text.startswith("))", match.start()):
            return None
        inner = type(self)(self.text[self.at + 2 : match.start()], self.depth)
        self.at = match.start() + 2
        return Arithmetic(inner.quoted_text())

    def quoted_text(self) -> Word:
        """Reads the whole text as if in double quotes, with double quotes standing for themselves."""
        parts: list[Part] = []
        while self.at < len(self.text):
            parts += self._quoted_part(re.compile(r"[^\\$`]+"), "\\$`")
        return tuple(parts)

    def _braced(self, quoted: bool) -> Variable:
        length = re.compile(r"\{#([A-Za-z_]\w*|[0-9@*])\}", re.ASCII).match(self.text, self.at)
        if length:
            self.at = length.end()
            return Variable(length[1], quoted, "#length")
        name = _SPECIAL.match(self.text, self.at + 1)
        if not name:
            raise SyntaxFault("bad substitution")
        self.at = name.end()
        op = _EXPANSION_OP.match(self.text, self.at)
        parts: list[Part] = []
        if op:
            self.at = op.end()
            parts = self._until_brace(quoted and op[0][0] not in "#%/")  # patterns have quotes of their own
        if not self.text.startswith("}", self.at):
            raise SyntaxFault("bad substitution") if self.at < len(self.text) else Unfinished("no closing quote")
        self.at += 1
        return Variable(name[0], quoted, op[0] if op else "", tuple(parts))

    def _until_brace(self, quoted: bool) -> list[Part]:
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] != "}":
            match self.text[self.at]:
                case '"':
                    parts += self._double_quoted()
                case "'" if not quoted:
                    parts.append(self._single_quoted())
                case "\\":
                    parts.append(Literal(self.text[self.at + 1 : self.at + 2], True))
                    self.at += 2
                case "$" | "`":
                    parts.append(self._dollar(quoted))
                case _:
                    plain = _IN_BRACES.match(self.text, self.at)
                    text = plain[0] if plain else "'"
                    parts.append(Literal(text, False))
                    self.at += len(text)
        return parts

    def _ansi_quoted(self) -> Literal:
        match = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unfinished("no closing quote")
        self.at = match.end()
        return Literal(unescape(match[1]), True)

    # blanks and small things

    def _unexpected(self) -> None:
        rest = _PLAIN.match(self.text, self.at)
        found = rest[0] if rest else self.text[self.at : self.at + 1]
        if self.at >= len(self.text):
            raise Unfinished("syntax error: unexpected 'EOF'")
        raise SyntaxFault("syntax error: unexpected " + ("newline" if found == "\n" else f"'{found}'"))

    def _bracketed(self) -> Script:
        """Reads the script between round brackets; the opening one comes next."""
        self.at += 1
        body = self.script()
        if not self.text.startswith(")", self.at):
            self._unexpected()
        self.at += 1
        return body

    def _space(self) -> None:
        if match := _SPACE.match(self.text, self.at):
            self.at = match.end()

    def _newlines(self) -> None:
        self._space()
        while self.text.startswith("\n", self.at):
            self._newline()
            self._space()

    def _newline(self) -> None:
        """Goes on to the next line, past the here-documents that begin there."""
        self.at += 1
        pending, self.documents = self.documents, []
        for redirect in pending:
            self._here_document(redirect)

    def _here_document(self, redirect: Redirect) -> None:
        end = "".join(part.text for part in redirect.word if isinstance(part, Literal))
        literal = any(isinstance(part, Literal) and part.quoted for part in redirect.word)
        lines, self.open = [], True
        while self.at < len(self.text):
            begin, end_of_line = self.at, self.text.find("\n", self.at) + 1
            self.at = end_of_line or len(self.text)
            line = self.text[begin : self.at].removesuffix("\n")
            line = line.lstrip("\t") if redirect.op == "<<-" else line
            if line == end:
                self.open = False
                break
            lines.append(line + "\n")
        text = "".join(lines)
        redirect.word = (Literal(text, True),) if literal else type(self)(text, self.depth).quoted_text()

    def _peek_word(self) -> str:
        """Returns the unquoted word that comes next, which may be a reserved one."""
        match = _BARE.match(self.text, self.at)
        return match[0] if match else ""

    def _expect(self, word: str) -> None:
        self._space()
        if self._peek_word() != word:
            self._unexpected()
        self.at += len(word)


_ESCAPE = re.compile(r"\\(?:([abefnrtv\\'\"])|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3}))")
_ECHO_ESCAPE = re.compile(r"\\(?:([abefnrtv\\])|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0([0-7]{0,3}))")
_CONTROL = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def unescape(text: str, echo: bool = False) -> str:
    """Replaces `\\n`, `\\x41`, `\\101` and the like by what they stand for; `echo` knows `\\0101`, and no quotes."""

    def character(match: re.Match[str]) -> str:
        letter, byte, unit, octal = match.groups()
        if letter:
            return _CONTROL.get(letter, letter)
        if unit:
            return chr(int(unit, 16))
        return bytes([int(byte, 16) if byte else int(octal or "0", 8) & 255]).decode("utf-8", "surrogateescape")

    return (_ECHO_ESCAPE if echo else _ESCAPE).sub(character, text)
