"""`sed`: edits text line by line."""

from __future__ import annotations

import re

from coach_gym.envs.phone.shell.language.environment import LONGEST, Killed
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.patterns import BadPattern
from coach_gym.envs.phone.shell.language.process import Command, Process, Sink
from coach_gym.envs.phone.shell.toybox.matching import TooComplex
from coach_gym.envs.phone.shell.toybox.sed_script import Step, parse
from coach_gym.envs.phone.shell.toybox.text import inputs, texts

_COPIED = re.compile(r"-i\.\S+")  # `-i.bak` keeps a copy under that name


def sed(p: Process) -> int:
    """Carries out `s///gpI`, `y///`, `{ }`, `: b t`, `a i c`, `d D`, `p P =`, `n N`, `g G h H x` and `q` on addressed
    lines; `-n` prints no others, `-i` edits the files, `-s` takes them one by one, `-E` has extended expressions."""
    copied = next((word[2:] for word in p.args if _COPIED.fullmatch(word)), "")
    args = ["-i" if _COPIED.fullmatch(word) else word for word in p.args]
    given = options(args, "nErsi", "e", {"quiet": "n", "in-place": "i"})
    words = list(given.words)
    script = "\n".join(given.all["e"]) if "e" in given else words.pop(0) if words else ""
    if not script:
        return p.fail("Needs pattern")
    try:
        steps = parse(script, "E" in given or "r" in given)
    except (BadPattern, TooComplex, ValueError, re.error) as fault:
        return p.fail(f"bad pattern '{script}': {fault}")
    read = [(name, data, texts(data)) for name, data in inputs(p, words)]
    editor = _Editor(p, steps, "n" in given)
    if not {"i", "s"} & set(given.flags):
        p.streams.stdout += editor.edit([line for _, _, lines in read for line in lines])
        return editor.code or int(p.failed)
    for name, data, lines in read:
        text = editor.edit(lines)
        if "i" not in given:
            p.streams.stdout += text
            continue
        if copied:
            p.storage.write(p.path(f"{name}{copied}"), data)
        p.storage.write(p.path(name), bytes(text))
        p.phone.changed()
    return editor.code or int(p.failed)


class _Editor:
    """Works on lines.

    Args:
        p: The process.
        steps: What to do with each line.
        quiet: Whether lines are printed only where a step says so.

    Attributes:
        code: The exit code that `q` has set.
    """

    def __init__(self, p: Process, steps: list[Step], quiet: bool) -> None:
        self.p, self.steps, self.quiet = p, steps, quiet
        self.code = 0
        self._held = ""

    def edit(self, lines: list[str]) -> Sink:
        """Returns what some lines become."""
        self._lines, self._number, self._output = lines, 0, Sink()
        self._appended: list[str] = []
        self._changed, self._goes_on = False, True
        for step in self.steps:
            step.open = False
        self._space = ""
        again = False
        while again or (self._goes_on and self._number < len(lines)):
            if not again:
                self._space, self._changed = self._next(), False
            again = self._cycle()
        return self._output

    def _next(self) -> str:
        self._number += 1
        return self._lines[self._number - 1]

    def _print(self, text: str) -> None:
        self._output += f"{text}\n".encode("utf-8", "surrogateescape")

    def _end(self, shown: bool = True) -> None:
        """Prints the line, and what is to follow it."""
        if shown and not self.quiet:
            self._print(self._space)
        for text in self._appended:
            self._print(text)
        self._appended = []

    def _cycle(self) -> bool:
        """Carries out the steps once. Returns whether to do so again with what is left of the line."""
        at = 0
        while at < len(self.steps):
            self.p.shell.look_at_clock()
            step, at = self.steps[at], at + 1
            if not step.applies(self._space, self._number, self._number == len(self._lines)):
                at = step.target if step.action == "{" else at
            elif step.action == "b" or (step.action == "t" and self._changed):
                at, self._changed = step.target, self._changed and step.action == "b"
            elif step.action in "cdDqnN" and self._ends(step):
                return step.action == "D" and self._left
            else:
                self._carry_out(step)
            if len(self._space) + len(self._held) > LONGEST:
                raise Killed
        self._end()
        return False

    def _ends(self, step: Step) -> bool:
        """Carries out what can end the work on a line. Returns whether it does."""
        if step.action in "nN" and self._number < len(self._lines):
            self._end(shown=step.action == "n")
            self._space = self._next() if step.action == "n" else f"{self._space}\n{self._next()}"
            return False
        if step.action == "c" and (step.end is None or step.negated or not step.open):
            self._print(step.text)
        if step.action in "nNq":
            self._goes_on, self.code = False, int(step.text or 0)
        self._end(shown=step.action in "nNq")
        _, line_end, self._space = self._space.partition("\n")
        self._left = bool(line_end)  # `D` goes on with what is behind it
        return True

    def _carry_out(self, step: Step) -> None:
        match step.action:
            case "s":
                self._space, changed = step.substitute(self._space)
                self._changed = self._changed or bool(changed)
                if changed and "p" in step.flags:
                    self._print(self._space)
            case "y":
                self._space = self._space.translate(step.table)
            case "p" | "P":
                self._print(self._space if step.action == "p" else self._space.partition("\n")[0])
            case "=":
                self._print(str(self._number))
            case "i":
                self._print(step.text)
            case "a":
                self._appended.append(step.text)
            case "g" | "G":
                self._space = self._held if step.action == "g" else f"{self._space}\n{self._held}"
            case "h" | "H":
                self._held = self._space if step.action == "h" else f"{self._held}\n{self._space}"
            case "x":
                self._space, self._held = self._held, self._space


COMMANDS: dict[str, Command] = {"sed": sed}
