"""Demonstrations with other words: the same episode, in which names and numbers are changed wherever they stand.

A few episodes of a family are soon learned by heart, and what the goal names is then recalled instead of read. Words
and numbers that not all episodes of a family share belong to the instance; they are replaced in the goal, on the
screens and in the answers alike. And where the goal names the element that is touched, the elements below and above it
change places. So each episode becomes many, and only reading solves them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from coach_gym.agents.pocket.build import GRAMMAR
from coach_gym.agents.pocket.demonstrations import FAMILIES, THOUGHTS
from coach_gym.agents.pocket.looking import VALUES
from coach_gym.agents.pocket.reading import LINE
from coach_gym.agents.pocket.screens import Screens
from coach_gym.agents.pocket.sequences import Sequence
from coach_gym.dialects.ui_tars import NAMED

WORD = re.compile(r"[^\W\d_]{2,}")
NUMBER = re.compile(r"(?<![0-9])[0-9]{2,}(?![0-9])")
ANSWER = re.compile(r"Thought: (.+) ([0-9]+) ([0-9]+)\n(.*)", re.DOTALL)
"""A touch of an element: its name and place, and the action."""
SCREEN = re.compile(r"(.*<\|vision_end\|>)(.*?)(<\|im_end\|>.*)", re.DOTALL)
"""What stands before the latest screen, its elements, and what stands after them."""
GRAMMATICAL = set(WORD.findall(" ".join((*GRAMMAR, *THOUGHTS.values(), "answer done here type on off"))))
"""Words of actions and thoughts."""
SEEN = set(WORD.findall(" ".join(str(value) for values in VALUES.values() for value in values)))
SEEN |= {f"{word}s" for word in SEEN} | {f"{word}es" for word in SEEN}
"""Words for what is seen in pictures; they stay, as the pictures do."""
CHANGED = 0.85
"""Share of the sequences whose words are changed."""
MOVED = 0.5
"""Share of the touches whose neighbors change places."""


class Variants:
    """Draws demonstrations with other words.

    Args:
        source: Where new words come from, and the randomness.
        shown: The demonstrations.
    """

    def __init__(self, source: Screens, shown: Iterable[Sequence]) -> None:
        self.source, self.random = source, source.random
        self.shown = [(sequence, self._texts(sequence)) for sequence in shown]
        self.shared: dict[str, set[str]] = {}
        for sequence, texts in self.shown:
            found = _found(texts)
            self.shared[sequence.task] = self.shared.get(sequence.task, found) & found

    def draw(self) -> list[Sequence]:
        """Returns all demonstrations once, most of them with new words."""
        return [
            self._changed(sequence, texts) if self.random.random() < CHANGED else sequence
            for sequence, texts in self.shown
        ]

    def _texts(self, sequence: Sequence) -> list[tuple[str, float]]:
        """The parts of a sequence that have one weight in the loss each."""
        pairs = zip(sequence.ids, sequence.weights, strict=True)
        parts = groupby(pairs, key=lambda pair: pair[1])
        return [(self.source.text([token for token, _ in part]), weight) for weight, part in parts]

    def _changed(self, sequence: Sequence, texts: list[tuple[str, float]]) -> Sequence:
        own = sorted(_found(texts) - self.shared[sequence.task] - GRAMMATICAL - SEEN)
        new = {word: self.source.plain_word() for word in own if WORD.fullmatch(word)}
        goal = _goal(texts)
        new |= {number: self._number(number) for number in NUMBER.findall(goal) if number in own}
        changed = [(EITHER.sub(lambda match: new.get(match[0], match[0]), text), weight) for text, weight in texts]
        if sequence.task not in FAMILIES["AndroidSight-v0"]:  # there the picture tells where things are
            self._move(changed)
        out = Sequence(screenshots=sequence.screenshots, task=sequence.task)
        for text, weight in changed:
            out.add(self.source.tokenizer.encode(text, add_special_tokens=False), weight)
        return out

    def _number(self, old: str) -> str:
        """A number with as many digits, a coordinate if it could be one."""
        least = 10 ** (len(old) - 1)
        return str(self.random.randrange(least, 224 if len(old) == 3 else 10 * least))

    def _move(self, texts: list[tuple[str, float]]) -> None:
        """Lets elements of one column change places where the answer touches one that the goal names."""
        for at in range(1, len(texts)):
            answer, screen = ANSWER.fullmatch(texts[at][0]), SCREEN.fullmatch(texts[at - 1][0])
            if not (answer and screen and answer[1].startswith(NAMED)) or self.random.random() >= MOVED:
                continue
            name, x, y, action = answer.groups()
            lines = screen[2].split("\n")
            found = {n: match for n, line in enumerate(lines) if (match := LINE.fullmatch(line)) and match[2] == x}
            places = [match[3] for match in found.values()]
            if len(set(places)) < len(places) or y not in places:
                continue
            order = self.random.sample(list(found.values()), len(found))
            for n, each, place in zip(found, order, places, strict=True):
                lines[n] = f"{each[1]} {x} {place}{each[4]}{each[5]}"
            new = next(place for each, place in zip(order, places, strict=True) if each[3] == y)
            texts[at - 1] = (screen[1] + "\n".join(lines) + screen[3], texts[at - 1][1])
            texts[at] = (f"Thought: {name} {x} {new}\n{action.replace(f'({x},{y})', f'({x},{new})')}", texts[at][1])


EITHER = re.compile(f"{WORD.pattern}|{NUMBER.pattern}")


def _goal(texts: list[tuple[str, float]]) -> str:
    """What stands before the first screen."""
    return texts[0][0].partition("<|vision_start|>")[0]


def _found(texts: list[tuple[str, float]]) -> set[str]:
    """All words and numbers."""
    return {word for text, _ in texts for word in EITHER.findall(text)}
