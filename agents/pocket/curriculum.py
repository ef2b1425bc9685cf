"""Synthetic screens that become harder as the model learns."""

from __future__ import annotations

import random
from collections.abc import Iterator

from torch import Tensor

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.screens import PLACE, Screens
from coach_gym.agents.pocket.sequences import Batch, Sequence, batches


class Curriculum:
    """Synthetic screens that grow by an element whenever nearly all places are named correctly.

    Args:
        policy: Its tokenizer writes the screens.
        tokens: Tokens of a batch.

    Attributes:
        elements: Largest number of elements on a screen.
        screens: Largest number of screens in a sequence.
        accuracy: Running share of places that were named correctly.
    """

    ENOUGH, ELEMENTS, SCREENS = 0.92, 24, 3

    def __init__(self, policy: Policy, tokens: int) -> None:
        self.source = Screens(policy.tokenizer)
        self.elements, self.screens, self.accuracy = 3, 1, 0.0
        self._tokens, self._image = tokens, policy.chat.image_pad
        self.restart(0)

    def restart(self, seed: int) -> None:
        """Continues at the same difficulty with the screens of a seed."""
        self._random = self.source.random = random.Random(seed)
        self._batches: Iterator[Batch] = iter(())

    def next(self) -> Batch:
        """Returns a batch of the current difficulty."""
        batch = next(self._batches, None)
        if batch is None:
            count = max(16, 8 * self._tokens // (20 * self.elements * self.screens))
            fresh = [self._sequence() for _ in range(count)]
            self._batches = batches(fresh, self._tokens, self._image, self._random)
            batch = next(self._batches)
        return batch

    def _sequence(self) -> Sequence:
        """A sequence of the current size; at full size, of any size and mostly about what the goal names."""
        if self.elements < self.ELEMENTS:
            return self.source.sequence(self.elements, self.screens)
        elements, screens = self._random.randint(4, self.elements), self._random.randint(1, self.screens)
        return self.source.sequence(elements, screens, dense=0.1)

    def learn(self, right: Tensor, weights: Tensor) -> None:
        """Records how many places were named correctly, and may raise the difficulty."""
        self.accuracy += 0.05 * (right[weights == PLACE].float().mean().item() - self.accuracy)
        if self.accuracy < self.ENOUGH:
            return
        if self.elements < self.ELEMENTS:
            self.elements += 1 if self.elements < 8 else 2
        else:
            self.screens = min(self.screens + 1, self.SCREENS)
        self.accuracy, self._batches = 0.85, iter(())
