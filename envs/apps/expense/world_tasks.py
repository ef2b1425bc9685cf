"""Families of the Pro Expense app."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.apps.expense.app import CATEGORIES, DATABASE, dollars
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list  # [name, cents, category id, note]: JSON
OCTOBER = 1696118400  # the first of October 2023, in seconds: the ledger holds that month up to the 15th
DAY = 86400


def entries(rng: ParamRng, count: int) -> list[Entry]:
    """Expenses that share no name."""
    return [[name, _amount(rng), rng.choice(list(CATEGORIES)), ""] for name in words.PURCHASES.draw_many(rng, count)]


def _amount(rng: ParamRng) -> int:
    return rng.randint(2, 199) * 100 + rng.choice([0, 0, 50, 25])


def _spoken(entry: Entry) -> str:
    name, cents, category, note = entry
    return f"{name} {cents / 100:g} in {CATEGORIES[category]}" + (f" with note {note}" if note else "")


class LedgerTask(Task):
    """A task on a ledger that holds `params["entries"]` at the start."""

    apps: ClassVar[tuple[str, ...]] = ("Pro Expense",)

    def setup(self, device: Device) -> None:
        rows = [
            (*entry, 1000 * (OCTOBER + i * DAY // 4), 1000 * (OCTOBER + i * DAY // 4))
            for i, entry in enumerate(self.params["entries"])
        ]
        with device.database(DATABASE) as db:
            db.executemany(
                "INSERT INTO expense(name, amount, category, note, created_date, modified_date) VALUES (?,?,?,?,?,?)",
                rows,
            )

    def evaluate(self, device: Device, answer: str | None) -> float:
        with device.database(DATABASE) as db:
            rows = db.execute("SELECT name, amount, category, coalesce(note, '') FROM expense").fetchall()
        return float(sorted(rows) == sorted(tuple(entry) for entry in self.expected()))

    def expected(self) -> list[Entry]:
        """What the ledger has to hold in the end, and nothing else."""
        return self.params["entries"]


class ExpenseAddSingle(LedgerTask):
    """One expense with name, amount and category."""

    template = "Add this expense: {spoken}."
    budget = 16
    count = 1

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        drawn = entries(rng, cls.count + rng.randint(1, 5))
        return {"new": drawn[: cls.count], "entries": drawn[cls.count :]}

    @property
    def goal(self) -> str:
        return self.template.format(spoken="; ".join(_spoken(entry) for entry in self.params["new"]))

    def expected(self) -> list[Entry]:
        return [*self.params["entries"], *self.params["new"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        *kept, (name, cents, category, note) = self.params["new"]
        return {**self.params, "new": [*kept, [name, cents + 100, category, note]]}


class ExpenseAddMultiple(ExpenseAddSingle):
    """Three expenses."""

    template = "Add these expenses: {spoken}."
    difficulty = "medium"
    budget = 48
    count = 3


class ExpenseDeleteSingle(LedgerTask):
    """One expense among others, found by its name."""

    template = "Delete the expense {names}."
    budget = 12
    count, noise = 1, (2, 6)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        drawn = entries(rng, cls.count + rng.randint(*cls.noise))
        names = [entry[0] for entry in drawn[: cls.count]]
        return {"names": names, "entries": rng.sample(drawn, len(drawn))}

    @property
    def goal(self) -> str:
        return self.template.format(names=", ".join(self.params["names"]))

    def expected(self) -> list[Entry]:
        return [entry for entry in self.params["entries"] if entry[0] not in self.params["names"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "names": [*self.params["names"][1:], self.expected()[0][0]]}


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


class ExpenseDeleteDuplicates(LedgerTask):
    """One expense is in the ledger twice."""

    template = "One expense was entered twice. Delete one of the two copies."
    difficulty = "medium"
    budget = 14
    noise = 5

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        drawn = entries(rng, cls.noise)
        twice = drawn[0]
        ledger = [*drawn, *cls.variations(rng, twice), twice]
        return {"twice": twice, "entries": rng.sample(ledger, len(ledger))}

    @classmethod
    def variations(cls, rng: ParamRng, twice: Entry) -> list[Entry]:
        """Entries that only look like the doubled one."""
        return []

    def expected(self) -> list[Entry]:
        kept = list(self.params["entries"])
        kept.remove(self.params["twice"])
        return kept


class ExpenseDeleteDuplicates2(ExpenseDeleteDuplicates):
    """The same in a long ledger, where others share the name but not the amount."""

    difficulty = "hard"
    budget = 50
    noise = 20

    @classmethod
    def variations(cls, rng: ParamRng, twice: Entry) -> list[Entry]:
        name, cents, category, note = twice
        return [[name, cents + 300 + 700 * i, category, note] for i in range(3)]


class ExpenseChangeAmount(LedgerTask):
    """The amount of one expense was wrong."""

    template = "Change the amount of the expense {name} to {amount}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        drawn = entries(rng, rng.randint(2, 6))
        amount = drawn[0][1] // 100 + rng.randint(1, 50)
        return {"name": drawn[0][0], "amount": str(amount), "entries": rng.sample(drawn, len(drawn))}

    def expected(self) -> list[Entry]:
        cents = 100 * int(self.params["amount"])
        return [
            [name, cents if name == self.params["name"] else amount, category, note]
            for name, amount, category, note in self.params["entries"]
        ]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "amount": str(int(self.params["amount"]) + 1)}


class ExpenseAmountOf(LedgerTask):
    """How much something cost."""

    template = "How much was the expense {name}?"
    kind = "query"
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        drawn = entries(rng, rng.randint(3, 7))
        return {"name": drawn[0][0], "entries": rng.sample(drawn, len(drawn))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        given = (answer or "").strip().lstrip("$")
        return super().evaluate(device, answer) * float(given in (self.amount, self.amount.removesuffix(".00")))

    @property
    def amount(self) -> str:
        return next(dollars(cents)[1:] for name, cents, *_ in self.params["entries"] if name == self.params["name"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        mine = self.amount
        other = next(entry[0] for entry in self.params["entries"] if dollars(entry[1])[1:] != mine)
        return {**self.params, "name": other}


TASKS: tuple[type[Task], ...] = (
    ExpenseAddSingle, ExpenseAddMultiple, ExpenseDeleteSingle, ExpenseDeleteMultiple, ExpenseDeleteMultiple2,
    ExpenseDeleteDuplicates, ExpenseDeleteDuplicates2, ExpenseChangeAmount, ExpenseAmountOf,
)  # fmt: skip
