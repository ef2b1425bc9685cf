"""`sed`: the parts that people use on one line."""

from __future__ import annotations

import re

from coach_gym.envs.phone.patterns import Guarded
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.patterns import BadPattern, translate
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.shell.toybox.matching import TooComplex, compiled, is_safe
from coach_gym.envs.phone.shell.toybox.text import inputs, texts, timed

_COPIED = re.compile(r"-i\.\S+")  # `-i.bak` keeps a copy under that name


def sed(p: Process) -> int:
    """`s///gpI`, `p`, `d`, `q`, `=`, with addresses; `-n`, `-i`, `-E`."""
    copied = next((word[2:] for word in p.args if _COPIED.fullmatch(word)), "")
    args = ["-i" if _COPIED.fullmatch(word) else word for word in p.args]
    given = options(args, "nErsi", "e", {"quiet": "n", "in-place": "i"})
    in_place = "i" in given
    words = list(given.words)
    script = "\n".join(given.all["e"]) if "e" in given else words.pop(0) if words else ""
    if not script:
        return p.fail("Needs pattern")
    try:
        steps = [_SedStep(part, "E" in given or "r" in given) for part in _sed_parts(script)]
    except (BadPattern, TooComplex, ValueError, re.error) as fault:
        return p.fail(f"bad pattern '{script}': {fault}")
    for name, data in inputs(p, words):
        output: list[str] = []
        lines = texts(data)
        for step in steps:
            step.open = False
        for number, line in enumerate(timed(p, lines), start=1):
            if not _sed_line(steps, line, number, number == len(lines), "n" in given, output):
                break
        text = "".join(f"{line}\n" for line in output)
        if in_place and copied:
            p.storage.write(p.path(f"{name}{copied}"), data)
        if in_place:
            p.storage.write(p.path(name), text.encode("utf-8", "surrogateescape"))
            p.phone.changed()
        else:
            p.print(text, "")
    return int(p.failed)


def _sed_parts(script: str) -> list[str]:
    part = r"\s*(?:[^;\n{}s]*s(?P<d>[^\w\s])(?:\\.|(?!(?P=d)).)*(?P=d)(?:\\.|(?!(?P=d)).)*(?P=d)[^;\n]*|[^;\n]+)"
    return [match[0].strip() for match in re.finditer(part, script) if match[0].strip()]


class _SedStep:
    """One command of `sed`: up to two addresses, and what to do."""

    def __init__(self, text: str, extended: bool) -> None:
        address = r"(\d+|\$|/(?:\\.|[^/])*/)"
        match = re.fullmatch(rf"{address}?(?:,{address})?\s*(!?)\s*(s.*|[pdq=])", text, re.DOTALL)
        if not match:
            raise BadPattern("unknown command")
        self.start, self.end, self.negated, self.action = match[1], match[2], bool(match[3]), match[4]
        self.open = False  # between the two addresses
        given = (address for address in (self.start, self.end) if address and address.startswith("/"))
        self.patterns = {address: compiled(translate(address[1:-1], extended)) for address in given}
        if self.action[0] == "s":
            mark = re.escape(self.action[1:2])
            body = rf"s{mark}((?:\\.|(?!{mark}).)*){mark}((?:\\.|(?!{mark}).)*){mark}([gpiI0-9]*)"
            parts = re.fullmatch(body, self.action, re.DOTALL)
            if not parts:
                raise BadPattern("s needs three separators")
            self.flags, self.action = parts[3], "s"
            pattern = translate(parts[1], extended)
            if not is_safe(pattern):
                raise BadPattern("loops in loops")
            highest = max([int(digit) for digit in re.findall(r"\\(?:(\d)|.)", parts[2]) if digit], default=0)
            if highest > re.compile(pattern).groups:
                raise BadPattern(f"no group {highest}")
            self.pattern = Guarded(pattern, re.IGNORECASE if "i" in parts[3].lower() else 0)
            self.new = _replacement(parts[2])

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

    def substitute(self, line: str) -> tuple[str, int]:
        """Replaces the first match, the Nth, or all from there on. Returns the line and how many were replaced."""
        nth = int("".join(flag for flag in self.flags if flag.isdigit())[:6] or 1)
        places = [match.span() for match in self.pattern.finditer(line)]
        chosen = places[nth - 1 :] if "g" in self.flags else places[nth - 1 : nth]
        if nth == 1:
            return self.pattern.subn(self.new, line, count=0 if "g" in self.flags else 1)
        for start, end in reversed(chosen):
            line = line[:start] + self.pattern.sub(self.new, line[start:end], count=1) + line[end:]
        return line, len(chosen)


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


def _sed_line(steps: list[_SedStep], line: str, number: int, last: bool, quiet: bool, output: list[str]) -> bool:
    """Works on one line. Returns False if no more are to come."""
    for step in steps:
        if not step.applies(line, number, last):
            continue
        if step.action == "d":
            return True
        if step.action == "s":
            line, changed = step.substitute(line)
            if changed and "p" in step.flags:
                output.append(line)
        elif step.action in "p=":
            output.append(line if step.action == "p" else str(number))
        elif step.action == "q":
            output += [] if quiet else [line]
            return False
    output += [] if quiet else [line]
    return True


COMMANDS: dict[str, Command] = {"sed": sed}
