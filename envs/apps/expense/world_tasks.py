"""Families of the Pro Expense app."""

from __future__ import annotations

import random
import sqlite3
from typing import Any, ClassVar

from coach_gym.envs.apps.expense.app import CATEGORIES, DATABASE, dollars
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.records import AddRecords, DeleteCopy, DeleteRecords, DrawnRecords
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list  # [name, cents, category id, note]: JSON
OCTOBER = 1696118400  # the first of October 2023, in seconds: the ledger holds that month up to the 15th
DAY = 86400


class LedgerTask(DrawnRecords):
    """A task on a ledger that holds `params["entries"]` at the start."""

    apps: ClassVar[tuple[str, ...]] = ("Pro Expense",)
    database = DATABASE
    given = "entries"

    @classmethod
    def draw(cls, rng: ParamRng, count: int) -> list[Entry]:
        """Returns expenses that share no name."""
        names = words.PURCHASES.draw_many(rng, count)
        return [[name, _amount(rng), rng.choice(list(CATEGORIES)), ""] for name in names]

    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Adds the expenses of the start, six hours apart."""
        times = (1000 * (OCTOBER + i * DAY // 4) for i in range(len(self.params["entries"])))
        db.executemany(
            "INSERT INTO expense(name, amount, category, note, created_date, modified_date) VALUES (?,?,?,?,?,?)",
            [(*entry, time, time) for entry, time in zip(self.params["entries"], times, strict=True)],
        )

    def stored(self, db: sqlite3.Connection) -> list[tuple]:
        """Returns name, amount, category and note of all expenses."""
        return db.execute("SELECT name, amount, category, coalesce(note, '') FROM expense").fetchall()


def _amount(rng: ParamRng) -> int:
    return rng.randint(2, 199) * 100 + rng.choice([0, 0, 50, 25])


class ExpenseAddSingle(AddRecords, LedgerTask):
    """One expense with name, amount and category."""

    template = "Add this expense: {spoken}."
    budget = 16
    most = 5

    @staticmethod
    def spoken(record: Entry) -> str:
        """Returns an expense as goals spell it out."""
        name, cents, category, note = record
        return f"{name} {cents / 100:g} in {CATEGORIES[category]}" + (f" with note {note}" if note else "")

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the last expense with one dollar more."""
        *kept, (name, cents, category, note) = self.params["new"]
        return {**self.params, "new": [*kept, [name, cents + 100, category, note]]}


class ExpenseAddMultiple(ExpenseAddSingle):
    """Three expenses."""

    template = "Add these expenses: {spoken}."
    difficulty = "medium"
    budget = 48
    count = 3


class ExpenseDeleteSingle(DeleteRecords, LedgerTask):
    """One expense among others, found by its name."""

    template = "Delete the expense {names}."
    budget = 12
    noise = (2, 6)


class ExpenseDeleteMultiple(ExpenseDeleteSingle):
    """Three expenses of a short ledger."""

    template = "Delete these expenses: {names}."
    budget = 28
    count, noise = 3, (2, 4)


class ExpenseDeleteMultiple2(ExpenseDeleteSingle):
    """Three expenses of a ledger that has to be scrolled."""

    template = "Delete these expenses: {names}."
    difficulty = "hard"
    budget = 60
    count, noise = 3, (22, 28)


class ExpenseDeleteDuplicates(DeleteCopy, LedgerTask):
    """One of two equal expenses."""

    template = "One expense was entered twice. Delete one of the two copies."
    difficulty = "medium"
    budget = 14
    noise = 5


class ExpenseDeleteDuplicates2(ExpenseDeleteDuplicates):
    """The same in a long ledger, in which other expenses have the same name."""

    difficulty = "hard"
    budget = 50
    noise = 20

    @classmethod
    def variations(cls, rng: ParamRng, twice: Entry) -> list[Entry]:
        """Returns three expenses of the same name and other amounts."""
        name, cents, category, note = twice
        return [[name, cents + 300 + 700 * i, category, note] for i in range(3)]


class ExpenseChangeAmount(LedgerTask):
    """Another amount for one expense."""

    template = "Change the amount of the expense {name} to {amount}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to six expenses, and a larger amount for one of them."""
        drawn = cls.draw(rng, rng.randint(2, 6))
        amount = drawn[0][1] // 100 + rng.randint(1, 50)
        return {"name": drawn[0][0], "amount": str(amount), "entries": rng.sample(drawn, len(drawn))}

    def expected(self) -> list[Entry]:
        """Returns the expenses, one of them with the new amount."""
        cents = 100 * int(self.params["amount"])
        return [
            [name, cents if name == self.params["name"] else amount, category, note]
            for name, amount, category, note in self.params["entries"]
        ]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns one dollar more."""
        return {**self.params, "amount": str(int(self.params["amount"]) + 1)}


class ExpenseAmountOf(LedgerTask):
    """The amount of an expense."""

    template = "How much was the expense {name}?"
    kind = "query"
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to seven expenses and picks one."""
        drawn = cls.draw(rng, rng.randint(3, 7))
        return {"name": drawn[0][0], "entries": rng.sample(drawn, len(drawn))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the amount; the ledger must not have changed."""
        given = (answer or "").strip().lstrip("$")
        return super().evaluate(device, answer) * float(given in (self.amount, self.amount.removesuffix(".00")))

    @property
    def amount(self) -> str:
        """The right answer, without the dollar sign."""
        return next(dollars(cents)[1:] for name, cents, *_ in self.params["entries"] if name == self.params["name"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns an expense of another amount."""
        mine = self.amount
        other = next(entry[0] for entry in self.params["entries"] if dollars(entry[1])[1:] != mine)
        return {**self.params, "name": other}


TASKS: tuple[type[Task], ...] = (
    ExpenseAddSingle, ExpenseAddMultiple, ExpenseDeleteSingle, ExpenseDeleteMultiple, ExpenseDeleteMultiple2,
    ExpenseDeleteDuplicates, ExpenseDeleteDuplicates2, ExpenseChangeAmount, ExpenseAmountOf,
)  # fmt: skip
