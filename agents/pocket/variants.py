"""Demonstrations with other words: the same episode, in which names are changed wherever they stand.

A few episodes of a family are soon learned by heart, and what the goal names is then recalled instead of read. Words
that not all episodes of a family share belong to the instance; they are replaced in the goal, on the screens and in the
answers alike. So each episode becomes many, and only reading solves them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from coach_gym.agents.pocket.build import GRAMMAR
from coach_gym.agents.pocket.demonstrations import THOUGHTS
from coach_gym.agents.pocket.screens import Screens
from coach_gym.agents.pocket.sequences import Sequence

WORD = re.compile(r"[^\W\d_]{2,}")
GRAMMATICAL = set(WORD.findall(" ".join((*GRAMMAR, *THOUGHTS.values(), "answer done here type on off"))))
"""Words of actions and thoughts."""
CHANGED = 0.7
"""Share of the sequences whose words are changed."""


class Variants:
    """Draws demonstrations with other words.

    Args:
        source: Where new words come from, and the randomness.
        shown: The demonstrations.
    """

    def __init__(self, source: Screens, shown: Iterable[Sequence]) -> None:
        self.source, self.random = source, source.random
        self.shown = [(sequence, self._texts(sequence)) for sequence in shown]
        shared: dict[str, set[str]] = {}
        for sequence, texts in self.shown:
            words = _words(texts)
            shared[sequence.task] = shared.get(sequence.task, words) & words
        self.shared = shared

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
        own = sorted(_words(texts) - self.shared[sequence.task] - GRAMMATICAL)
        new = {word: self.source.plain_word() for word in own}
        out = Sequence(screenshots=sequence.screenshots, task=sequence.task)
        for text, weight in texts:
            said = WORD.sub(lambda match: new.get(match[0], match[0]), text)
            out.add(self.source.tokenizer.encode(said, add_special_tokens=False), weight)
        return out


def _words(texts: list[tuple[str, float]]) -> set[str]:
    return {word for text, _ in texts for word in WORD.findall(text)}
