"""The grammar: from the text of a command to its syntax tree.

It covers the part of POSIX's shell grammar that people type: lists (`;`, `&`, newline, `&&`, `||`), pipelines,
redirections, here-documents, `if`, `for`, `while`, `until`, `case`, `{ … }`, `( … )`, `(( … ))`, `[[ … ]]`,
functions and comments.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.shell.language.syntax import (
    Case,
    Command,
    Compound,
    For,
    Function,
    Group,
    If,
    Literal,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Variable,
    While,
    Word,
)
from coach_gym.envs.phone.shell.language.words import SyntaxFault, Words

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_REDIRECT = re.compile(r"(\d?)(<<<|<<-?|>>|>&|<&|>\||<|>)")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)[ \t]*\([ \t]*\)|function[ \t]+([A-Za-z_]\w*)(?:[ \t]*\([ \t]*\))?", re.ASCII)
_TEST = re.compile(r"\[\[(?=[ \t\n])")
_IN_TEST = re.compile(r"&&|\|\||[()<>]")
_DEEPEST = 50
MOST_PARTS = 300_000  # words, quotes, expansions and operators of a script
_BETWEEN_PARTS = " \t\n;&|()<>{}'\"\\$`"
_RESERVED = ("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}", "!")


@cached(1)
def parse(text: str) -> Script:
    """Returns the syntax tree of a script. All callers share it, so nobody may change it.

    Raises:
        SyntaxFault: The text is not a script, or has far more words than a command line can have.
    """
    return _parsed(text)[0]


def is_complete(text: str) -> bool:
    """Returns whether a script does not end within a here-document.

    Raises:
        SyntaxFault: As in `parse`.
    """
    return not _parsed(text)[1].open


def _parsed(text: str) -> tuple[Script, Parser]:
    if sum(map(text.count, _BETWEEN_PARTS)) > MOST_PARTS:
        raise SyntaxFault("too many words")
    parser = Parser(text)
    script = parser.script()
    if parser.at < len(text):
        parser._unexpected()
    return script, parser


class Parser(Words):
    """Reads the commands of one text from left to right."""

    # lists and pipelines

    def script(self, *ends: str) -> Script:
        """Reads commands up to one of some reserved words, `;;`, a closing bracket, or the end of the text."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise SyntaxFault("syntax error: nested too deep")
        result: Script = []
        self._newlines()
        while not self._at_end(ends):
            and_or = self._and_or()
            self._space()
            if self.text.startswith("&", self.at):
                group = Compound(Group([and_or], subshell=True, background=True), [])
                and_or = [("", Pipeline([group], False))]
            result.append(and_or)
            if not self._separator() and not self._at_end(ends):
                self._unexpected()
        self.depth -= 1
        return result

    def _at_end(self, ends: tuple[str, ...]) -> bool:
        if self.at >= len(self.text) or self.text[self.at] == ")":
            return True
        return self._peek_word() in ends or self.text.startswith(";;", self.at)

    def _separator(self) -> bool:
        """Skips what separates two commands. Returns False if there is nothing."""
        self._space()
        if self.text.startswith((";", "&"), self.at) and not self.text.startswith((";;", "&&"), self.at):
            self.at += 1
        elif not self.text.startswith("\n", self.at):
            return False
        self._newlines()
        return True

    def _and_or(self) -> list[tuple[str, Pipeline]]:
        pipelines = [("", self._pipeline())]
        while (op := self.text[self.at : self.at + 2]) in ("&&", "||"):
            self.at += 2
            self._newlines()
            pipelines.append((op, self._pipeline()))
        return pipelines

    def _pipeline(self) -> Pipeline:
        negated = False
        while self._peek_word() == "!":
            self.at += 1
            self._space()
            negated = not negated
        commands = [self._command()]
        while self.text.startswith("|", self.at) and not self.text.startswith("||", self.at):
            self.at += 1
            self._newlines()
            commands.append(self._command())
        return Pipeline(commands, negated)

    # commands

    def _command(self) -> Command:
        self._space()
        match self._peek_word():
            case "if":
                return self._compound(self._if())
            case "for":
                return self._compound(self._for())
            case "while" | "until" as word:
                self.at += 5
                condition = self.script("do")
                return self._compound(While(condition, self._do(), word == "until"))
            case "case":
                return self._compound(self._case())
            case "{":
                self.at += 1
                body = self.script("}")
                self._expect("}")
                return self._compound(Group(body, False))
        if self.text.startswith("((", self.at) and (expression := self._arithmetic()):
            return self._simple([(Literal("let", True),), expression.word or (Literal("0", True),)])
        if self.text.startswith("(", self.at):
            return self._compound(Group(self._bracketed(), True))
        if (match := _FUNCTION.match(self.text, self.at)) and match[1] not in _RESERVED:
            self.at = match.end()
            self._newlines()
            return self._function(match[1] or match[2])
        return self._simple()

    def _function(self, name: str) -> Function:
        body = self._command()
        if isinstance(body, Compound):
            return Function(name, body)
        raise SyntaxFault(f"syntax error: '{name}' has no compound command")

    def _compound(self, command: If | For | While | Case | Group) -> Compound:
        redirects: list[Redirect] = []
        self._space()
        while redirect := self._redirect():
            redirects.append(redirect)
            self._space()
        return Compound(command, redirects)

    def _if(self) -> If:
        branches, otherwise = [], []
        self.at += 2
        while True:
            condition = self.script("then")
            self._expect("then")
            branches.append((condition, self.script("elif", "else", "fi")))
            if self._peek_word() != "elif":
                break
            self.at += 4
        if self._peek_word() == "else":
            self.at += 4
            otherwise = self.script("fi")
        self._expect("fi")
        return If(branches, otherwise)

    def _for(self) -> For:
        self.at += 3
        self._space()
        name = _NAME.match(self.text, self.at)
        if not name:
            self._unexpected()
            raise AssertionError
        self.at = name.end()
        self._newlines()
        words = None
        if self._peek_word() == "in":
            self.at += 2
            self._space()
            words = []
            while self.at < len(self.text) and self.text[self.at] not in ";\n&|()<>":
                words.append(self._word())
                self._space()
        if self.text.startswith(";", self.at):
            self.at += 1
        self._newlines()
        return For(name[0], words, self._do())

    def _do(self) -> Script:
        self._expect("do")
        body = self.script("done")
        self._expect("done")
        return body

    def _case(self) -> Case:
        self.at += 4
        self._space()
        word = self._word()
        self._newlines()
        self._expect("in")
        self._newlines()
        items = []
        while self._peek_word() != "esac":
            self.at += self.text.startswith("(", self.at)
            patterns = [self._case_pattern()]
            while self.text.startswith("|", self.at):
                self.at += 1
                patterns.append(self._case_pattern())
            if not self.text.startswith(")", self.at):
                self._unexpected()
            self.at += 1
            items.append((patterns, self.script("esac")))
            if self.text.startswith(";;", self.at):
                self.at += 2
            self._newlines()
        self._expect("esac")
        return Case(word, items)

    def _case_pattern(self) -> Word:
        self._space()
        pattern = self._word()
        self._space()
        return pattern

    def _test(self) -> list[Word]:
        """Reads `[[ … ]]`, whose words are neither split nor matched against file names."""
        words: list[Word] = [(Literal("[[", True),)]
        self.at += 2
        while True:
            self._newlines()
            if operator := _IN_TEST.match(self.text, self.at):
                self.at = operator.end()
                words.append((Literal(operator[0], True),))
                continue
            word = self._word()
            if not word:
                self._unexpected()
            words.append(tuple(replace(part, quoted=True) for part in word))
            if word == (Literal("]]", False),):
                return words

    def _simple(self, words: list[Word] | None = None) -> Simple:
        """Reads the rest of a command whose first words may be known."""
        command = Simple(words=words or (self._test() if _TEST.match(self.text, self.at) else []))
        while True:
            self._space()
            if redirect := self._redirect():
                command.redirects.append(redirect)
            elif self.at >= len(self.text) or self.text[self.at] in ";\n&|()":
                break
            elif not command.words and (match := _ASSIGNMENT.match(self.text, self.at)):
                self.at = match.end()
                before = (Variable(match[1], True, "-"),) if match[2] else ()
                command.assignments.append((match[1], before + self._word()))
            else:
                if not command.words and self._peek_word() in _RESERVED:
                    self._unexpected()
                command.words.append(self._word())
        if not (command.words or command.assignments or command.redirects):
            self._unexpected()
        return command

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        op = match[2].replace("|", "")
        self.at = match.end()
        self._space()
        word = self._word()
        if not word:
            self._unexpected()
        result = Redirect(int(match[1] or ("0" if op[0] == "<" else "1")), op, word)
        if op in ("<<", "<<-"):
            self.documents.append(result)
        return result
