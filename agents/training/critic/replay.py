"""Recent episodes that a critic is fitted to once more."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coach_gym.agents.training.objective.updates import CriticSample


class Replay:
    """Keeps the targets of recent episodes.

    They are off-policy: the policy has had up to `size` / (episodes of a roll-out) updates since. Every episode keeps
    the pixels that the critic reads, a few megabytes for a model that sees large screenshots.

    Args:
        size: Number of episodes kept.
        seed: Seed of the draws.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._kept: deque[tuple[int, CriticSample]] = deque(maxlen=size)
        self._rng = np.random.default_rng(seed)

    def draw(self, number: int) -> tuple[list[CriticSample], list[int]]:
        """Draws up to `number` different episodes; fewer if it keeps fewer.

        Returns:
            Their targets, and the number of the fit that they were added by.
        """
        chosen = self._rng.permutation(len(self._kept))[:number]
        drawn = [self._kept[index] for index in chosen]
        return [replace(sample, old_values=None) for _, sample in drawn], [fit for fit, _ in drawn]

    def add(self, samples: Sequence[CriticSample], fit: int) -> None:
        """Adds episodes, with the number of the fit that they were new in, and drops the oldest ones."""
        self._kept += [(fit, sample) for sample in samples]
