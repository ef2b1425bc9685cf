"""The syntax tree of a script, made by the parser and run by the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Literal:
    """Text that stands for itself. Only unquoted text is matched against file names."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Variable:
    """`$name` or `${name OP word}`.

    The operator is empty, `#length`, `:` (of start and length), one of `/ // /# /% % %% # ##`, or one of
    `:- :+ := :?`, also without the colon.
    """

    name: str
    quoted: bool
    op: str = ""
    word: Word = ()


@dataclass(frozen=True)
class Substitution:
    """`$( … )`: what a script prints."""

    script: Script
    quoted: bool


@dataclass(frozen=True)
class Arithmetic:
    """`$(( … ))`. The expression is expanded like text in double quotes before it is evaluated."""

    word: Word
    quoted: bool = True


Part = Literal | Variable | Substitution | Arithmetic
Word = tuple[Part, ...]


@dataclass
class Redirect:
    """`descriptor OP word`; the operator is one of `< > >> >& <& << <<- <<<`. The word of `<<` is the here-document."""

    descriptor: int
    op: str
    word: Word


@dataclass
class Simple:
    """A command with its arguments, or only assignments."""

    assignments: list[tuple[str, Word]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


@dataclass
class If:
    """Conditions with their commands, tried in order; `otherwise` is empty without `else`."""

    branches: list[tuple[Script, Script]]
    otherwise: Script


@dataclass
class For:
    """`for name in words`; words are None in `for name`, which iterates over the arguments."""

    name: str
    words: list[Word] | None
    body: Script


@dataclass
class While:
    """`while`, or `until` if `until` is set."""

    condition: Script
    body: Script
    until: bool


@dataclass
class Case:
    """`case word in pattern|pattern) body ;; … esac`."""

    word: Word
    items: list[tuple[list[Word], Script]]


@dataclass
class Group:
    """`{ … }`, or `( … )` if `subshell` is set; what ends in `&` is one in the `background`."""

    body: Script
    subshell: bool
    background: bool = False


@dataclass
class Function:
    """`name() command`."""

    name: str
    body: Compound


@dataclass
class Compound:
    """A construct of several commands, and its redirections."""

    command: If | For | While | Case | Group
    redirects: list[Redirect]


Command = Simple | Compound | Function


@dataclass
class Pipeline:
    """Commands, each of which reads the previous one's output."""

    commands: list[Command]
    negated: bool


Script = list[list[tuple[str, Pipeline]]]
"""Lists of (operator, pipeline); the operator before a pipeline is `&&`, `||`, or empty for the first."""
