"""Which episodes and mini-batches a process has: seeds, groups, and shuffled batches that processes share."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import TypeVar

import numpy as np

from coach_gym.agents.distributed import processes

FIRST_TRAINING_SEED = 1 << 16
"""Training episodes draw their seeds from here on; smaller ones are for evaluation."""

Item = TypeVar("Item")


def training_seeds(
    entropy: int, first: int, group_size: int, chance: Callable[[int], float] = lambda seed: 1.0
) -> Iterator[int]:
    """Yields the seeds of this process's episodes from number `first` on; a group shares one seed.

    A seed depends on the episode's number, the agent's seed and `chance`, and not on what was drawn before.

    Args:
        entropy: Seed of the agent's task instances.
        first: Number of the first episode, among those of this process.
        group_size: Episodes in a group.
        chance: Returns the probability that a seed is kept; the group draws another one otherwise. Asked when the
            group's first seed is.
    """
    for number in count(first // group_size):
        group = number * processes.size() + processes.rank()
        yield from [_kept_seed(entropy, group, chance)] * group_size


def _kept_seed(entropy: int, group: int, chance: Callable[[int], float]) -> int:
    for attempt in count():
        drawn, die = np.random.SeedSequence((entropy, group, attempt)).generate_state(2)
        seed = FIRST_TRAINING_SEED + int(drawn) % ((1 << 31) - FIRST_TRAINING_SEED)
        if int(die) < chance(seed) * (1 << 32):
            return seed
    raise AssertionError("count() has no end")


def mini_batches(
    items: Sequence[Item], n_epochs: int, mini_batch_size: int | None, rng: np.random.Generator
) -> list[list[Item]]:
    """Shuffles items into mini-batches, `n_epochs` times over.

    Several processes share a mini-batch and have the same number of them, the last of which may be empty.

    Args:
        items: The items of this process.
        n_epochs: Number of times that each item is taken.
        mini_batch_size: Items in a mini-batch, over all processes; None for all.
        rng: Shuffles; in the same state in all processes.
    """
    number = max(processes.gather(len(items)))
    size = mini_batch_size // processes.size() if mini_batch_size else number
    batches = []
    for _ in range(n_epochs):
        for indices in batched(rng.permutation(number).tolist(), size):
            batches.append([items[index] for index in indices if index < len(items)])
    return batches


def batched(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Cuts items into lists of `size`, the last of which may be shorter."""
    remaining = iter(items)
    return list(iter(lambda: list(islice(remaining, size)), []))
