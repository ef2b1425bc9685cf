"""Numbers on a web page, shown one after the other; after the last one their product is asked for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from coach_gym.envs.apps.chrome.html import Document
from coach_gym.envs.apps.chrome.page import SUCCESS, Page, button
from coach_gym.envs.apps.chrome.script import SeededRandom, constant, number
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Row, Space, Text


@dataclass
class Product(Page):
    """Numbers to remember and multiply.

    Attributes:
        numbers: What is shown.
        button: Label of the button that leads to the next number.
        hint: Placeholder of the field for the answer.
        submit: Label of the button that hands the answer in.
        clicks: How many numbers have gone by.
        answer: What was typed.
        solved: Whether the last answer was right.
    """

    numbers: list[int]
    button: str
    hint: str
    submit: str
    clicks: int = 0
    answer: TextInput = field(default_factory=TextInput)
    solved: bool = False

    @classmethod
    def read(cls, document: Document) -> Product | None:
        """Returns the numbers that a script shows: `NUMBERS`, or as AndroidWorld's page draws them."""
        numbers = constant(document.script, "NUMBERS")
        count = number(document.script, r"clickCount < (\d{1,2})")
        highest = number(document.script, r"random\(\) \* (\d{1,4})\) \+ 1")
        if numbers is None and count is not None and highest is not None:
            rng = SeededRandom(document.script)
            numbers = [rng.below(highest) + 1 for _ in range(count)]
        if numbers is None:
            return None
        click, submit = document.labels("button")[:2]
        return cls(document.title, document.mobile, [int(n) for n in numbers], click, document.hint, submit)

    @property
    def number(self) -> int | None:
        """What is shown; None once the product is asked for."""
        return self.numbers[self.clicks] if self.clicks < len(self.numbers) else None

    def click(self) -> None:
        """Goes on to the next number."""
        self.clicks += 1

    def check(self) -> None:
        """Compares the whole number that the answer starts with, as `parseInt` does."""
        given = re.match(r"\s*[+-]?[0-9]{1,30}(?![0-9])", self.answer.text)
        self.solved = given is not None and int(given[0]) == math.prod(self.numbers)

    def views(self, scale: float) -> list[View]:
        """Shows the number and a button, or the field for the product."""
        gap = Space(50 * scale)
        if self.number is not None:
            shown = Text(str(self.number), 48 * scale, align="center", pad=(0, 0, 0, 20 * scale), id="number")
            return [gap, shown, Row([button(self.button, self.click, scale, 24, (20, 10))], justify="center")]
        answer = View(
            "android.widget.EditText", input=self.answer, text=self.answer.text, hint=self.hint, id="answer",
            size=18 * scale, pad=(5 * scale,) * 4, width=220 * scale, border="#767676", on_submit=self.check,
        )  # fmt: skip
        form = Row([answer, button(self.submit, self.check, scale, 18)], gap=6 * scale, justify="center")
        result = Text(SUCCESS, 24 * scale, bold=True, align="center", pad=(0, 20 * scale, 0, 0))
        return [gap, form, result] if self.solved else [gap, form]
