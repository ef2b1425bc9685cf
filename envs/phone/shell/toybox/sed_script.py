"""Scripts of `sed`, taken apart into their commands."""

from __future__ import annotations

import re

from coach_gym.envs.phone.patterns import Guarded
from coach_gym.envs.phone.shell.language.patterns import BadPattern, translate
from coach_gym.envs.phone.shell.toybox.matching import Pattern, compiled, is_safe

_ADDRESS = r"(\d+|\$|/(?:\\.|[^/\n])*/)"
_HEAD = re.compile(rf"(?:{_ADDRESS}(?:\s*,\s*{_ADDRESS})?)?\s*(!?)\s*(\S)")
_TEXT = re.compile(r"[ \t]*(?:\\\n?)?((?:\\.|[^\\\n])*)", re.DOTALL)
_LABEL = re.compile(r"[ \t]*([^;}\s]*)")
_CODE = re.compile(r"[ \t]*(\d{0,3})")
_END = re.compile(r"[ \t]*(?=[;}\n]|$)")
_PLAIN = frozenset("=dDgGhHnNpPx")


class Step:
    """One command: up to two addresses, and what to do.

    Attributes:
        action: Its letter.
        text: What `a`, `c` and `i` print, the label of `b`, `t` and `:`, or the exit code of `q`.
        target: The number of the step that `b` and `t` go to, or that follows a block.
        table: What `y` replaces, by the letter's code.
        flags: The flags of `s`.
    """

    def __init__(self, start: str | None, end: str | None, negated: bool, action: str) -> None:
        self.start, self.end, self.negated, self.action = start, end, negated, action
        self.text, self.flags, self.target = "", "", 0
        self.table: dict[int, str] = {}
        self.patterns: dict[str, Pattern] = {}
        self.open = False  # between the two addresses

    def applies(self, line: str, number: int, last: bool) -> bool:
        """Returns whether a line is addressed. Lines must come in order."""
        if self.start is None:
            inside = True
        elif self.end is None or self.open:
            inside = self.open or self._at(self.start, line, number, last)
            self.open = self.open and not self._over(line, number, last)
        else:
            inside = self._at(self.start, line, number, last)
            self.open = inside and not (self.end.isdecimal() and number >= int(self.end))
        return inside != self.negated

    def _at(self, address: str, line: str, number: int, last: bool) -> bool:
        if address in self.patterns:
            return bool(self.patterns[address].search(line))
        return last if address == "$" else number == int(address)

    def _over(self, line: str, number: int, last: bool) -> bool:
        end = self.end or ""
        return number >= int(end) if end.isdecimal() else self._at(end, line, number, last)

    def replace(self, pattern: Guarded, new: str) -> None:
        """Sets what `s` replaces, and with what, in the syntax of Python's `re.sub`."""
        self.pattern, self.new = pattern, new

    def substitute(self, line: str) -> tuple[str, int]:
        """Replaces the first match, the Nth, or all from there on. Returns the line and how many were replaced."""
        nth = int("".join(filter(str.isdigit, self.flags))[:6] or 1)
        if nth == 1:
            return self.pattern.subn(self.new, line, count=0 if "g" in self.flags else 1)
        places = [match.span() for match in self.pattern.finditer(line)]
        chosen = places[nth - 1 :] if "g" in self.flags else places[nth - 1 : nth]
        for start, end in reversed(chosen):
            line = line[:start] + self.pattern.sub(self.new, line[start:end], count=1) + line[end:]
        return line, len(chosen)


def parse(script: str, extended: bool) -> list[Step]:
    """Returns the steps of a script.

    Args:
        script: The script.
        extended: Whether its expressions are extended ones.

    Raises:
        BadPattern: It has a mistake, or a command that there is not on this phone.
        TooComplex: An expression can take too long.
    """
    return _Reader(script, extended).steps


class _Reader:
    """Reads a script from start to end."""

    def __init__(self, script: str, extended: bool) -> None:
        self.script, self.extended, self.at = script, extended, 0
        self.steps: list[Step] = []
        self.blocks: list[Step] = []  # those that are open
        self.before = ""  # the last expression, which an empty one repeats
        while self._take(re.compile(r"[\s;]*")) is not None and self.at < len(script):
            self._step()
        if self.blocks:
            raise BadPattern("no }")
        labels = {step.text: number for number, step in enumerate(self.steps) if step.action == ":"}
        for step in self.steps:
            if step.action in "bt":
                if step.text and step.text not in labels:
                    raise BadPattern(f"no label '{step.text}'")
                step.target = labels.get(step.text, len(self.steps))

    def _take(self, form: re.Pattern[str]) -> re.Match[str] | None:
        """Returns what matches here, and goes on behind it."""
        match = form.match(self.script, self.at)
        self.at = match.end() if match else self.at
        return match

    def _step(self) -> None:
        head = self._take(_HEAD)
        if head is None:
            raise BadPattern("unknown command")
        step = Step(head[1], head[2], bool(head[3]), head[4])
        for address in (step.start, step.end):
            if address and address.startswith("/"):
                step.patterns[address] = compiled(self._expression(address[1:-1]), re.DOTALL)
        if step.action == "#":
            self._take(re.compile(r"[^\n]*"))
        elif step.action == "}":
            if not self.blocks:
                raise BadPattern("unexpected }")
            self.blocks.pop().target = len(self.steps)
        else:
            self.steps.append(step)
            self._arguments(step)

    def _arguments(self, step: Step) -> None:
        if step.action == "{":
            self.blocks.append(step)
            return
        if step.action in "aci":
            text = self._take(_TEXT)
            step.text = re.sub(r"\\(.)", r"\1", text[1] if text else "", flags=re.DOTALL)
            return
        if step.action == "s":
            self._substitution(step)
        elif step.action == "y":
            self._letters(step)
        elif form := _LABEL if step.action in ":bt" else _CODE if step.action == "q" else None:
            found = self._take(form)
            step.text = found[1] if found else ""
        elif step.action not in _PLAIN:
            raise BadPattern("unknown command")
        if self._take(_END) is None:
            raise BadPattern("unknown command")

    def _between(self, flags: str, fault: str) -> tuple[str, str, str]:
        """Returns the two texts between the three separators that begin here, and the flags behind them."""
        mark = re.escape(self.script[self.at : self.at + 1])
        part = rf"((?:\\.|(?!{mark}).)*)"
        match = self._take(re.compile(rf"{mark}{part}{mark}{part}{mark}({flags})", re.DOTALL)) if mark else None
        if match is None:
            raise BadPattern(fault)
        return match[1], match[2], match[3]

    def _substitution(self, step: Step) -> None:
        old, new, step.flags = self._between("[gpiI0-9]*", "s needs three separators")
        pattern = self._expression(old)
        if not is_safe(pattern):
            raise BadPattern("loops in loops")
        highest = max([int(digit) for digit in re.findall(r"\\(?:(\d)|.)", new) if digit], default=0)
        if highest > re.compile(pattern).groups:
            raise BadPattern(f"no group {highest}")
        flags = re.DOTALL | (re.IGNORECASE if "i" in step.flags.lower() else 0)
        step.replace(Guarded(pattern, flags), _replacement(new))

    def _letters(self, step: Step) -> None:
        old, new, _ = self._between("", "y needs three separators")
        plain = [re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text) for text in (old, new)]
        if len(plain[0]) != len(plain[1]):
            raise BadPattern("y needs as many letters on either side")
        step.table = {ord(letter): other for letter, other in zip(*plain, strict=True)}

    def _expression(self, text: str) -> str:
        """Returns an expression in Python's syntax; an empty one is the one before."""
        self.before = text or self.before
        if not self.before:
            raise BadPattern("no previous pattern")
        known = {"n": "\n", "t": "\t"}
        text = re.sub(r"\\(.)", lambda match: known.get(match[1], match[0]), self.before, flags=re.DOTALL)
        return translate(text, self.extended)


def _replacement(text: str) -> str:
    """Returns a replacement of `sed` in the syntax of Python's `re.sub`."""

    def one(match: re.Match[str]) -> str:
        if match[0] == "&":
            return r"\g<0>"
        character = match[1]
        if character.isdigit():
            return rf"\g<{character}>"
        return {"n": "\n", "\\": r"\\"}.get(character, character)

    return re.sub(r"\\(.)|&", one, text, flags=re.DOTALL)
