"""From the text of a command to its syntax tree: the part of POSIX's shell grammar that people type.

Lists (`;`, `&`, newline, `&&`, `||`), pipelines, redirections, here-documents, `if`, `for`, `while`, `until`, `case`,
`{ … }`, `( … )`, functions, comments; words with quotes, backslashes, `$name`, `${name…}`, `$(…)`, backquotes,
`$((…))`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from coach_gym.envs.phone.shell.language.syntax import (
    Arithmetic,
    Case,
    Command,
    Compound,
    For,
    Function,
    Group,
    If,
    Literal,
    Part,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Variable,
    While,
    Word,
)


class SyntaxFault(Exception):
    """The text is no command; the message is mksh's."""


class Unfinished(SyntaxFault):
    """The text ends too early."""


_SPACE = re.compile(r"(?:[ \t]|\\\n|(?<![^ \t\n;&|()])#[^\n]*)+")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SPECIAL = re.compile(r"[A-Za-z_]\w*|[0-9?$#@*!-]", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_REDIRECT = re.compile(r"(\d?)(<<-?|>>|>&|<&|>\||<|>)")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)[ \t]*\([ \t]*\)", re.ASCII)
_PLAIN = re.compile(r"""[^ \t\n;&|()<>'"\\$`]+""")
_BARE = re.compile(r"(?:[a-z]+|[{}!])(?=[ \t\n;&|()<>]|$)")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_EXPANSION_OP = re.compile(r":?[-+=?]|%%?|##?|:|//?")
_DEEPEST = 50
_RESERVED = ("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}", "!")


@lru_cache(maxsize=1024)
def parse(text: str) -> Script:
    """The syntax tree of a script. It is shared by all callers: nobody may change it.

    Raises:
        SyntaxFault: The text is not a script.
    """
    parser = Parser(text)
    script = parser.script()
    if parser.at < len(text):
        parser.unexpected()
    return script


class Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self.documents: list[Redirect] = []  # whose text comes on the next lines

    def unexpected(self) -> None:
        rest = _PLAIN.match(self.text, self.at)
        found = rest[0] if rest else self.text[self.at : self.at + 1]
        if self.at >= len(self.text):
            raise Unfinished("syntax error: unexpected 'EOF'")
        raise SyntaxFault("syntax error: unexpected " + ("newline" if found == "\n" else f"'{found}'"))

    # lists and pipelines

    def script(self, *ends: str) -> Script:
        """Commands up to one of the reserved words, `;;`, a closing bracket, or the end of the text."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise SyntaxFault("syntax error: nested too deep")
        result: Script = []
        self.newlines()
        while not self.at_end(ends):
            result.append(self.and_or())
            if not self.separator() and not self.at_end(ends):
                self.unexpected()
        self.depth -= 1
        return result

    def at_end(self, ends: tuple[str, ...]) -> bool:
        if self.at >= len(self.text) or self.text[self.at] == ")":
            return True
        return self.peek_word() in ends or self.text.startswith(";;", self.at)

    def separator(self) -> bool:
        """Skips what stands between two commands; False if there is nothing."""
        self.space()
        if self.text.startswith((";", "&"), self.at) and not self.text.startswith((";;", "&&"), self.at):
            self.at += 1
        elif not self.text.startswith("\n", self.at):
            return False
        self.newlines()
        return True

    def and_or(self) -> list[tuple[str, Pipeline]]:
        pipelines = [("", self.pipeline())]
        while (op := self.text[self.at : self.at + 2]) in ("&&", "||"):
            self.at += 2
            self.newlines()
            pipelines.append((op, self.pipeline()))
        return pipelines

    def pipeline(self) -> Pipeline:
        negated = False
        while self.peek_word() == "!":
            self.at += 1
            self.space()
            negated = not negated
        commands = [self.command()]
        while self.text.startswith("|", self.at) and not self.text.startswith("||", self.at):
            self.at += 1
            self.newlines()
            commands.append(self.command())
        return Pipeline(commands, negated)

    # commands

    def command(self) -> Command:
        self.space()
        match self.peek_word():
            case "if":
                return self.compound(self.if_())
            case "for":
                return self.compound(self.for_())
            case "while" | "until" as word:
                self.at += 5
                condition = self.script("do")
                return self.compound(While(condition, self.do(), word == "until"))
            case "case":
                return self.compound(self.case())
            case "{":
                self.at += 1
                body = self.script("}")
                self.expect("}")
                return self.compound(Group(body, False))
        if self.text.startswith("(", self.at):
            return self.compound(Group(self.bracketed(), True))
        if (match := _FUNCTION.match(self.text, self.at)) and match[1] not in _RESERVED:
            self.at = match.end()
            self.newlines()
            return self.function(match[1])
        return self.simple()

    def function(self, name: str) -> Function:
        body = self.command()
        if isinstance(body, Compound):
            return Function(name, body)
        raise SyntaxFault(f"syntax error: '{name}' has no compound command")

    def bracketed(self) -> Script:
        """The script between two round brackets; the text stands before the first."""
        self.at += 1
        body = self.script()
        if not self.text.startswith(")", self.at):
            self.unexpected()
        self.at += 1
        return body

    def compound(self, command: If | For | While | Case | Group) -> Compound:
        redirects: list[Redirect] = []
        self.space()
        while redirect := self.redirect():
            redirects.append(redirect)
            self.space()
        return Compound(command, redirects)

    def if_(self) -> If:
        branches, otherwise = [], []
        self.at += 2
        while True:
            condition = self.script("then")
            self.expect("then")
            branches.append((condition, self.script("elif", "else", "fi")))
            if self.peek_word() != "elif":
                break
            self.at += 4
        if self.peek_word() == "else":
            self.at += 4
            otherwise = self.script("fi")
        self.expect("fi")
        return If(branches, otherwise)

    def for_(self) -> For:
        self.at += 3
        self.space()
        name = _NAME.match(self.text, self.at)
        if not name:
            self.unexpected()
            raise AssertionError
        self.at = name.end()
        self.newlines()
        words = None
        if self.peek_word() == "in":
            self.at += 2
            self.space()
            words = []
            while self.at < len(self.text) and self.text[self.at] not in ";\n&|()<>":
                words.append(self.word())
                self.space()
        if self.text.startswith(";", self.at):
            self.at += 1
        self.newlines()
        return For(name[0], words, self.do())

    def do(self) -> Script:
        self.expect("do")
        body = self.script("done")
        self.expect("done")
        return body

    def case(self) -> Case:
        self.at += 4
        self.space()
        word = self.word()
        self.newlines()
        self.expect("in")
        self.newlines()
        items = []
        while self.peek_word() != "esac":
            self.at += self.text.startswith("(", self.at)
            patterns = [self.case_pattern()]
            while self.text.startswith("|", self.at):
                self.at += 1
                patterns.append(self.case_pattern())
            if not self.text.startswith(")", self.at):
                self.unexpected()
            self.at += 1
            items.append((patterns, self.script("esac")))
            if self.text.startswith(";;", self.at):
                self.at += 2
            self.newlines()
        self.expect("esac")
        return Case(word, items)

    def case_pattern(self) -> Word:
        self.space()
        pattern = self.word()
        self.space()
        return pattern

    def simple(self) -> Simple:
        command = Simple()
        while True:
            self.space()
            if redirect := self.redirect():
                command.redirects.append(redirect)
            elif self.at >= len(self.text) or self.text[self.at] in ";\n&|()":
                break
            elif not command.words and (match := _ASSIGNMENT.match(self.text, self.at)):
                self.at = match.end()
                command.assignments.append((match[1], self.word()))
            else:
                if not command.words and self.peek_word() in _RESERVED:
                    self.unexpected()
                command.words.append(self.word())
        if not (command.words or command.assignments or command.redirects):
            self.unexpected()
        return command

    def redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        op = match[2].replace("|", "")
        self.at = match.end()
        self.space()
        word = self.word()
        if not word:
            self.unexpected()
        result = Redirect(int(match[1] or ("0" if op[0] == "<" else "1")), op, word)
        if op.startswith("<<"):
            self.documents.append(result)
        return result

    # words

    def word(self) -> Word:
        """The parts up to the next unquoted blank or operator; empty if there is none."""
        parts: list[Part] = []
        while self.at < len(self.text):
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                self.at = plain.end()
                parts.append(Literal(plain[0], False))
                continue
            match self.text[self.at]:
                case "'":
                    parts.append(self.single_quoted())
                case '"':
                    parts += self.double_quoted()
                case "\\":
                    self.at += 2
                    if self.text[self.at - 1 : self.at] != "\n":
                        parts.append(Literal(self.text[self.at - 1 : self.at] or "\\", True))
                case "$" | "`":
                    parts.append(self.dollar(quoted=False))
                case _:
                    break
        return tuple(parts)

    def single_quoted(self) -> Literal:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unfinished("no closing quote")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return Literal(text, True)

    def double_quoted(self) -> list[Part]:
        self.at += 1
        parts: list[Part] = []
        while True:
            if self.at >= len(self.text):
                raise Unfinished("no closing quote")
            if self.text[self.at] == '"':
                self.at += 1
                return parts or [Literal("", True)]  # "" is a word, if an empty one
            parts += self.quoted_part(_IN_QUOTES, '"\\$`')

    def quoted_part(self, plain: re.Pattern[str], escapable: str) -> list[Part]:
        """The next part of a text in which only backslash, dollar and backquote mean something."""
        if match := plain.match(self.text, self.at):
            self.at = match.end()
            return [Literal(match[0], True)]
        if self.text[self.at] != "\\":
            return [self.dollar(quoted=True)]
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following == "\n":
            return []
        return [Literal(following if following and following in escapable else "\\" + following, True)]

    def dollar(self, quoted: bool) -> Part:
        """What a `$` or a backquote begins; a lone `$` stands for itself."""
        if self.text[self.at] == "`":
            return self.backquoted(quoted)
        self.at += 1
        if self.text.startswith("((", self.at) and (result := self.arithmetic()):
            return result
        if self.text.startswith("(", self.at):
            return Substitution(self.bracketed(), quoted)
        if self.text.startswith("{", self.at):
            return self.braced(quoted)
        if not quoted and self.text.startswith("'", self.at):
            return self.ansi_quoted()
        if name := _SPECIAL.match(self.text, self.at):
            self.at = name.end()
            return Variable(name[0], quoted)
        return Literal("$", True)

    def backquoted(self, quoted: bool) -> Substitution:
        match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unfinished("no closing quote")
        self.at = match.end()
        inner = Parser(re.sub(r"\\([`\\$])", r"\1", match[1]), self.depth)
        script = inner.script()
        if inner.at < len(inner.text):
            inner.unexpected()
        return Substitution(script, quoted)

    def arithmetic(self) -> Arithmetic | None:
        """`(( … ))`; None if the brackets turn out to be those of a subshell in a substitution."""
        depth = 0
        for match in re.compile(r"[()]").finditer(self.text, self.at + 2):
            depth += 1 if match[0] == "(" else -1
            if depth < 0:
                break
        if depth >= 0 or not self.text.startswith("))", match.start()):
            return None
        inner = Parser(self.text[self.at + 2 : match.start()], self.depth)
        self.at = match.start() + 2
        return Arithmetic(inner.quoted_text())

    def quoted_text(self) -> Word:
        """The whole text, read as in double quotes but with free double quotes."""
        parts: list[Part] = []
        while self.at < len(self.text):
            parts += self.quoted_part(re.compile(r"[^\\$`]+"), "\\$`")
        return tuple(parts)

    def braced(self, quoted: bool) -> Variable:
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
            parts = self.until_brace(quoted)
        if not self.text.startswith("}", self.at):
            raise SyntaxFault("bad substitution") if self.at < len(self.text) else Unfinished("no closing quote")
        self.at += 1
        return Variable(name[0], quoted, op[0] if op else "", tuple(parts))

    def until_brace(self, quoted: bool) -> list[Part]:
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] != "}":
            match self.text[self.at]:
                case '"':
                    parts += self.double_quoted()
                case "'" if not quoted:
                    parts.append(self.single_quoted())
                case "\\":
                    parts.append(Literal(self.text[self.at + 1 : self.at + 2], True))
                    self.at += 2
                case "$" | "`":
                    parts.append(self.dollar(quoted))
                case character:
                    parts.append(Literal(character, False))
                    self.at += 1
        return parts

    def ansi_quoted(self) -> Literal:
        match = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unfinished("no closing quote")
        self.at = match.end()
        return Literal(unescape(match[1]), True)

    # blanks and small things

    def space(self) -> None:
        if match := _SPACE.match(self.text, self.at):
            self.at = match.end()

    def newlines(self) -> None:
        self.space()
        while self.text.startswith("\n", self.at):
            self.newline()
            self.space()

    def newline(self) -> None:
        """Goes on to the next line, past the here-documents that begin there."""
        self.at += 1
        pending, self.documents = self.documents, []
        for redirect in pending:
            self.here_document(redirect)

    def here_document(self, redirect: Redirect) -> None:
        end = "".join(part.text for part in redirect.word if isinstance(part, Literal))
        literal = any(isinstance(part, Literal) and part.quoted for part in redirect.word)
        text = ""
        while self.at < len(self.text):
            line, newline, _ = self.text[self.at :].partition("\n")
            self.at += len(line) + len(newline)
            line = line.lstrip("\t") if redirect.op == "<<-" else line
            if line == end:
                break
            text += line + "\n"
        redirect.word = (Literal(text, True),) if literal else Parser(text, self.depth).quoted_text()

    def peek_word(self) -> str:
        """The unquoted word that comes next, which may be a reserved one."""
        match = _BARE.match(self.text, self.at)
        return match[0] if match else ""

    def expect(self, word: str) -> None:
        self.space()
        if self.peek_word() != word:
            self.unexpected()
        self.at += len(word)


_ESCAPE = re.compile(r"\\(?:([abefnrtv\\'\"])|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3}))")
_CONTROL = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def unescape(text: str) -> str:
    """Text with `\\n`, `\\x41`, `\\101` and the like replaced by what they stand for."""

    def character(match: re.Match[str]) -> str:
        letter, byte, unit, octal = match.groups()
        if letter:
            return _CONTROL.get(letter, letter)
        if unit:
            return chr(int(unit, 16))
        return bytes([int(byte, 16) if byte else int(octal, 8) & 255]).decode("utf-8", "surrogateescape")

    return _ESCAPE.sub(character, text)
