"""Training, validation and test: which task instances belong to which, so that none belongs to two.

There is one training set: training's families, on training's apps, with training's words, and of their instances
eight in ten. Validation and test have, by choice, one thing that training never had:

    instances   training's families and words, but one instance in ten, validation's or test's
    words       the same, and every instance shows a word that no training instance is made of
    families    families that training leaves out, on training's apps
    apps        families of apps that no training task goes through

An instance is its family and all its parameters. A hash of them says whose it is, and others are drawn again, so the
same instance cannot be in two splits. Families that draw from too few instances to share out are training's alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.apart import Apart
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, Split

Unseen = Literal["instances", "words", "families", "apps"]

PARTS = 10
OWNERS: dict[int, Split] = {8: "validation", 9: "test"}
"""Whose the instances of a part are; training's are the others."""
ENOUGH = 20
"""With fewer different instances among `PROBES`, a family is not shared out."""
PROBES = 200
MOST_DRAWS = 10_000


@dataclass(frozen=True)
class Selection:
    """A split of a suite, or the whole of it.

    Attributes:
        split: None for the whole suite with training's words, which promises nothing.
        unseen: What instances of validation and test have that training's lack. It says nothing about training.

    Raises:
        ValueError: There is no such split, or nothing such to be unseen.
    """

    split: Split | None = None
    unseen: Unseen = "instances"

    def __post_init__(self) -> None:
        if self.split not in (None, *get_args(Split)):
            raise ValueError(f"split={self.split!r} is unknown; choose one of {get_args(Split)}, or None for no split")
        if self.unseen not in get_args(Unseen):
            raise ValueError(f"unseen={self.unseen!r} is unknown; choose one of {get_args(Unseen)}")
        if self.split is None and self.unseen != "instances":
            raise ValueError(f"unseen={self.unseen!r} is about validation and test; pass split='test' with it")

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.report().items())

    def report(self) -> dict[str, str | None]:
        """Returns what `info` says about the split: `split`, and for validation and test `unseen`."""
        held_out = self.split in ("validation", "test")
        return {"split": self.split, "unseen": self.unseen} if held_out else {"split": self.split}

    def has(self, family: type[Task], apart: Apart) -> bool:
        """Returns whether instances of a family are in this selection."""
        if self.split is None:
            return True
        if self._takes_whole_families:
            return apart.get(family.name) == (self.unseen, self.split)
        if family.name in apart:
            return False
        if self.split == "train":
            return True
        return is_shared_out(family) and (self.unseen != "words" or _is_worded(family, self.split))

    def draw(self, family: type[Task], seed: int) -> dict[str, Any]:
        """Draws the parameters of an instance of a family that is in this selection.

        Raises:
            UsageError: The family draws other splits' instances only.
        """
        if self.split is None or self._takes_whole_families or not is_shared_out(family):
            return family.sample(ParamRng(seed))
        words_from: Split = self.split if self.unseen == "words" else "train"
        for params, words in _draws(family, seed, words_from):
            if owner(family, params) == self.split and (words or words_from == "train"):
                return params
        raise UsageError(f"{family.name} gave no instance of {self} in {MOST_DRAWS} draws from seed {seed}")

    @property
    def _takes_whole_families(self) -> bool:
        return self.split in ("validation", "test") and self.unseen in ("families", "apps")


SELECTIONS = (
    Selection("train"),
    *(Selection(split, unseen) for split in OWNERS.values() for unseen in get_args(Unseen)),
)
"""All splits, training first."""


def owner(family: type[Task], params: dict[str, Any]) -> Split:
    """Returns the split that an instance belongs to, if its family is shared out."""
    digest = hashlib.sha256(_text(family, params).encode()).digest()
    return OWNERS.get(int.from_bytes(digest[:8], "big") % PARTS, "train")


@cache
def is_shared_out(family: type[Task]) -> bool:
    """Returns whether a family has enough different instances that validation and test get some."""
    if not family.params_tell_all:
        return False
    instances: set[str] = set()
    owners: set[Split] = set()
    for seed in range(PROBES):
        params = family.sample(ParamRng(seed))
        instances.add(_text(family, params))
        owners.add(owner(family, params))
        if len(instances) >= ENOUGH and len(owners) == len(get_args(Split)):
            return True
    return False


@cache
def _is_worded(family: type[Task], split: Split) -> bool:
    """Returns whether instances of a family show words of the pools."""
    return any(words for seed in range(ENOUGH) for _, words in [next(_draws(family, seed, split))])


def _draws(family: type[Task], seed: int, split: Split) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yields parameters, and the words that they show; the first are those of `seed`, as without any split."""
    for draw in range(MOST_DRAWS):
        rng = ParamRng(seed + (draw << 31), split)  # an environment's own seeds are smaller, so none is met twice
        params = family.sample(rng)
        shown = _text(family, params).casefold()
        yield params, [word for word in rng.drawn if word.casefold() in shown]


def _text(family: type[Task], params: dict[str, Any]) -> str:
    try:
        return json.dumps([family.name, params], sort_keys=True, ensure_ascii=False)
    except TypeError as error:
        raise UsageError(f"the parameters of {family.name} must be JSON values to be split: {error}") from None
