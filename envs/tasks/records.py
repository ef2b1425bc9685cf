"""Families about an app's records: what was there, less what is deleted, plus what is added, and nothing else."""

from __future__ import annotations

import random
import sqlite3
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Record = list
"""A record as a JSON list; its first value is its name."""


def another(rng: random.Random, params: dict[str, Any], key: str, choices: Iterable[Any]) -> dict[str, Any]:
    """Returns near-miss parameters: `params` with another one of the `choices` at `key`."""
    return {**params, key: rng.choice([choice for choice in choices if choice != params[key]])}


class RecordsTask(Task):
    """A task on an app that holds some records at the start and has to hold `expected()` in the end, and no others.

    Attributes:
        database: Path of the app's database.
        given: Name of the parameter that lists the records of the start.
    """

    database: ClassVar[str]
    given: ClassVar[str]

    @abstractmethod
    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Puts the records of the start into the app's open database, and their files onto the device."""

    @abstractmethod
    def stored(self, db: sqlite3.Connection) -> list[Any]:
        """Returns what the app holds, in the form of `expected`."""

    def expected(self) -> list[Any]:
        """Returns what the app has to hold in the end."""
        return self.params[self.given]

    def setup(self, device: Device) -> None:
        """Stores the records of the start."""
        with device.database(self.database) as db:
            self.store(device, db)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares all stored records with those expected, in any order."""
        with device.database(self.database) as db:
            return float(Counter(map(self.seen, self.stored(db))) == Counter(map(self.seen, self.expected())))

    def seen(self, record: Any) -> tuple:
        """Returns what of a record is compared."""
        return tuple(record)


class DrawnRecords(RecordsTask):
    """A task on records that are drawn at random and share no name."""

    @classmethod
    @abstractmethod
    def draw(cls, rng: ParamRng, count: int) -> list[Record]:
        """Returns `count` records that share no name."""


class AddRecords(DrawnRecords):
    """`count` new records, which the goal describes.

    Attributes:
        count: How many.
        most: How many others there are at the most.
        separator: What the goal says between two of them.
    """

    count = 1
    most: ClassVar[int]
    separator = "; "

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the new records and some others."""
        drawn = cls.draw(rng, cls.count + rng.randint(1, cls.most))
        return {"new": drawn[: cls.count], cls.given: drawn[cls.count :]}

    @staticmethod
    @abstractmethod
    def spoken(record: Record) -> str:
        """Returns how the goal describes a record."""

    @property
    def goal(self) -> str:
        """The template with all new records spelled out."""
        return self.template.format(spoken=self.separator.join(self.spoken(record) for record in self.params["new"]))

    def expected(self) -> list[Record]:
        """Returns the old records and the new ones."""
        return [*self.params[self.given], *self.params["new"]]


class DeleteRecords(DrawnRecords):
    """`count` records, named by the goal, among others: at least and at most as many as `noise` says."""

    count = 1
    noise: ClassVar[tuple[int, int]]

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the records, and picks those to delete."""
        drawn = cls.draw(rng, cls.count + rng.randint(*cls.noise))
        names = [record[0] for record in drawn[: cls.count]]
        return {"names": names, cls.given: rng.sample(drawn, len(drawn))}

    @property
    def goal(self) -> str:
        """The template with the names of the records to delete."""
        return self.template.format(names=", ".join(self.params["names"]))

    def expected(self) -> list[Record]:
        """Returns the records that are not named."""
        return [record for record in self.params[self.given] if record[0] not in self.params["names"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns names of which one belongs to a record that has to stay."""
        return {**self.params, "names": [*self.params["names"][1:], self.expected()[0][0]]}


class DeleteCopy(DrawnRecords):
    """One of two equal records, among `noise` that differ."""

    noise: ClassVar[int]

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the records and puts one of them in twice."""
        drawn = cls.draw(rng, cls.noise)
        records = [*drawn, *cls.variations(rng, drawn[0]), drawn[0]]
        return {"twice": drawn[0], cls.given: rng.sample(records, len(records))}

    @classmethod
    def variations(cls, rng: ParamRng, twice: Record) -> list[Record]:
        """Returns records that only look like the doubled one."""
        return []

    def expected(self) -> list[Record]:
        """Returns the records with one copy less."""
        kept = list(self.params[self.given])
        kept.remove(self.params["twice"])
        return kept
