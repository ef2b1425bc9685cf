"""Families of Bluecoins."""

from __future__ import annotations

import random
import re
import sqlite3
from datetime import date, timedelta
from typing import Any

from coach_gym.envs.apps.bluecoins.data import (
    CATEGORIES,
    DATABASE,
    EXPENSE,
    INCOME,
    TYPES,
    Transaction,
    add,
    day_text,
    read,
)
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.records import RecordsTask, another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list  # [kind, cents, day in ISO format, item, notes, category id]: JSON, in the order of a Transaction
TODAY = date(2023, 10, 15)
KINDS = {name.lower(): kind for kind, name in TYPES.items()}


def entries(rng: ParamRng, count: int) -> list[Entry]:
    """Returns transactions of the last ten days that share no item; at least one is an expense."""
    drawn: list[Entry] = []
    for item in words.PURCHASES.draw_many(rng, count):
        kind = INCOME if drawn and rng.random() < 0.25 else EXPENSE
        day = TODAY - timedelta(days=rng.randrange(10))
        drawn.append([kind, cents(rng), day.isoformat(), item, "", rng.choice(list(CATEGORIES[kind]))])
    return drawn


def cents(rng: ParamRng) -> int:
    """Returns a random amount in hundredths."""
    return rng.randint(2, 1999) * 100 + rng.choice([0, 0, 50, 25, 99])


def typed(amount: int) -> str:
    """Returns an amount as goals give it and users type it."""
    return f"{amount / 100:.2f}".removesuffix(".00")


def transaction(entry: Entry) -> Transaction:
    """Returns the transaction that an entry of the parameters describes."""
    kind, amount, day, item, notes, category = entry
    return Transaction(kind, amount, date.fromisoformat(day), item, notes, category)


class BookTask(RecordsTask):
    """A task on a book that holds `params["entries"]` at the start, and `expected()` in the end."""

    apps = ("Bluecoins",)
    database = DATABASE
    given = "entries"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to nine transactions and picks one."""
        drawn = entries(rng, rng.randint(3, 9))
        return {"item": drawn[0][3], "entries": rng.sample(drawn, len(drawn))}

    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Books the transactions of the start."""
        for entry in self.params["entries"]:
            add(db, transaction(entry))

    def stored(self, db: sqlite3.Connection) -> list[Transaction]:
        """Returns all transactions."""
        return [each for _, each in read(db)]

    def expected(self) -> list[Transaction]:
        """Returns the transactions of the start."""
        return [transaction(entry) for entry in self.params["entries"]]

    def changed(self, **changes: Any) -> list[Transaction]:
        """Returns the transactions with changes to the one that the goal names."""
        book = [transaction(entry) for entry in self.params["entries"]]
        return [each._replace(**changes) if each.item == self.params["item"] else each for each in book]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another transaction of the book."""
        return another(rng, self.params, "item", [entry[3] for entry in self.params["entries"]])


class BluecoinsAddTransaction(BookTask):
    """An expense or an income of today."""

    template = "In Bluecoins, book an {kind} of {amount} CNY for {item}."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws type, amount and item, and two to six other transactions."""
        (_, amount, _, item, _, _), *others = entries(rng, rng.randint(2, 6))
        return {"kind": rng.choice(list(KINDS)), "amount": typed(amount), "item": item, "entries": others}

    def expected(self) -> list[Transaction]:
        """Returns the old transactions and the new one, in the first category of its type."""
        kind = KINDS[self.params["kind"]]
        amount = round(100 * float(self.params["amount"]))
        return [
            *super().expected(),
            Transaction(kind, amount, TODAY, self.params["item"], category=min(CATEGORIES[kind])),
        ]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other type."""
        return another(rng, self.params, "kind", KINDS)


class BluecoinsChangeAmount(BookTask):
    """Another amount for what was booked."""

    template = "In Bluecoins, change the amount of {item} to {amount} CNY."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws an amount above all that are booked."""
        return {**super().sample(rng), "amount": typed(200_000 + cents(rng))}  # more than any that is booked

    def expected(self) -> list[Transaction]:
        """Returns the transactions, one of them with the new amount."""
        return self.changed(cents=round(100 * float(self.params["amount"])))


class BluecoinsMoveTransaction(BookTask):
    """Another day for what was booked."""

    template = "In Bluecoins, change the date of {item} to {date}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a day before all that are booked."""
        day = TODAY - timedelta(days=rng.randint(10, 45))  # earlier than all that is booked
        return {**super().sample(rng), "day": day.isoformat(), "date": day_text(day)}

    def expected(self) -> list[Transaction]:
        """Returns the transactions, one of them on the new day."""
        return self.changed(day=date.fromisoformat(self.params["day"]))


class BluecoinsDeleteTransaction(BookTask):
    """One transaction among others."""

    template = "Delete {item} from Bluecoins."
    budget = 12

    def expected(self) -> list[Transaction]:
        """Returns the other transactions."""
        return [each for each in super().expected() if each.item != self.params["item"]]


class BluecoinsSpentOnDay(BookTask):
    """The sum of a day's expenses."""

    template = "According to Bluecoins, how much did I spend on {date}?"
    kind = "query"
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a day with an expense, and another day with a larger one."""
        first, second, *others = entries(rng, rng.randint(5, 10))
        day, other = (TODAY - timedelta(days=ago) for ago in rng.sample(range(10), 2))
        first[2] = day.isoformat()
        second[0], second[1], second[2], second[5] = EXPENSE, first[1] + 700_000, other.isoformat(), 1
        drawn = [first, second, *others]
        return {"day": day.isoformat(), "date": day_text(day), "other": other.isoformat(), "entries": drawn}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the sum; the book must not have changed."""
        day = date.fromisoformat(self.params["day"])
        spent = sum(each.cents for each in self.expected() if each.day == day and each.kind == EXPENSE)
        return super().evaluate(device, answer) * float(_cents(answer or "") == spent)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other day."""
        return {**self.params, "day": self.params["other"]}


def _cents(answer: str) -> int | None:
    """Returns the cents of an answer that is just an amount, with or without currency and separators."""
    found = re.fullmatch(r"-?(\d[\d,]{0,12})(?:\.(\d{1,2}))?\s*(?:CNY|¥|yuan)?\.?", answer.strip(), re.IGNORECASE)
    if found is None:
        return None
    return 100 * int(found[1].replace(",", "")) + int((found[2] or "").ljust(2, "0"))


TASKS: tuple[type[Task], ...] = (
    BluecoinsAddTransaction,
    BluecoinsChangeAmount,
    BluecoinsDeleteTransaction,
    BluecoinsMoveTransaction,
    BluecoinsSpentOnDay,
)
