"""Bluecoins' database: transactions as the app stores and reads them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import date, time
from itertools import groupby
from typing import Any, NamedTuple

from coach_gym.envs.phone.records import Table

PACKAGE = "com.rammigsoftware.bluecoins"
DATABASE = f"/data/data/{PACKAGE}/databases/bluecoins.fydb"
SCHEMA = """
CREATE TABLE TRANSACTIONSTABLE (
    transactionsTableID INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, itemName TEXT, amount INTEGER NOT NULL,
    transactionCurrency TEXT, date TEXT NOT NULL, transactionTypeID INTEGER NOT NULL, categoryID INTEGER NOT NULL,
    accountID INTEGER NOT NULL DEFAULT 1, notes TEXT
);
"""
CURRENCY = "CNY"
EXPENSE, INCOME = 3, 4
TYPES = {EXPENSE: "Expense", INCOME: "Income"}
SIGNS = {EXPENSE: "-", INCOME: "+"}
CATEGORIES = {
    EXPENSE: {
        1: "Others", 2: "Food", 3: "Groceries", 4: "Transportation", 5: "Housing", 6: "Entertainment", 7: "Shopping",
        8: "Health",
    },
    INCOME: {101: "Others", 102: "Salary", 103: "Interest", 104: "Refund", 105: "Gift"},
}  # fmt: skip
MICRO = 10_000  # the database counts millionths, we count hundredths
TABLE = Table("TRANSACTIONSTABLE", "transactionsTableID")
_COLUMNS = "itemName, amount, date, transactionTypeID, categoryID, notes"
_COLUMN_OF = {"item": "itemName", "notes": "notes", "kind": "transactionTypeID", "category": "categoryID"}


class Transaction(NamedTuple):
    """An expense or an income, by `kind`; `cents` are positive hundredths of the currency."""

    kind: int
    cents: int
    day: date
    item: str = ""
    notes: str = ""
    category: int = 1

    @property
    def signed(self) -> int:
        """The amount, negative for an expense."""
        return self.cents if self.kind == INCOME else -self.cents

    @property
    def title(self) -> str:
        """Its name in lists: the item, else the notes, else the category."""
        return self.item or self.notes or self.category_name

    @property
    def category_name(self) -> str:
        """The name of the category."""
        return CATEGORIES[self.kind].get(self.category, "Others")


def money(cents: int) -> str:
    """Returns an amount as lists show it, e.g. `-1,234.50 CNY`."""
    return f"{cents / 100:,.2f} {CURRENCY}"


def day_text(day: date) -> str:
    """Returns a date as forms show it, e.g. `May 3, 2024`."""
    return f"{day:%B} {day.day}, {day.year}"


def add(db: sqlite3.Connection, transaction: Transaction, at: time = time(12)) -> None:
    """Books a transaction."""
    date = f"{transaction.day.isoformat()} {at:%H:%M:%S}"
    texts = {"itemName": transaction.item, "notes": transaction.notes, "transactionCurrency": CURRENCY, "date": date}
    kinds = {"transactionTypeID": transaction.kind, "categoryID": transaction.category}
    TABLE.insert(db, {**texts, **kinds, "amount": transaction.signed * MICRO})


def change(db: sqlite3.Connection, id: int, changes: Mapping[str, Any]) -> None:
    """Changes fields of a transaction, named as in `Transaction`. Its time of day, currency and account stay."""
    stored = TABLE.read(db, id)
    if not stored:
        return
    columns = {_COLUMN_OF[field]: value for field, value in changes.items() if field in _COLUMN_OF}
    if "day" in changes:
        columns["date"] = changes["day"].isoformat() + stored["date"][10:]
    if "cents" in changes or "kind" in changes:
        size = changes["cents"] * MICRO if "cents" in changes else abs(stored["amount"])
        spent = changes["kind"] == EXPENSE if "kind" in changes else stored["amount"] < 0
        columns["amount"] = -size if spent else size
    TABLE.update(db, id, columns)


def read(db: sqlite3.Connection, words: str = "") -> list[tuple[int, Transaction]]:
    """Returns ids and transactions whose item, notes or category contain `words`, the latest day first."""
    rows = db.execute(
        f"SELECT transactionsTableID, {_COLUMNS} FROM TRANSACTIONSTABLE ORDER BY date DESC, transactionsTableID DESC"
    )
    found = [(id, _transaction(*row)) for id, *row in rows]
    return [(id, each) for id, each in found if _matches(each, words.casefold())]


def _transaction(item: str | None, micros: int, at: str, kind: int, category: int, notes: str | None) -> Transaction:
    kind = kind if kind in TYPES else EXPENSE
    return Transaction(kind, abs(micros) // MICRO, date.fromisoformat(at[:10]), item or "", notes or "", category)


def _matches(transaction: Transaction, words: str) -> bool:
    texts = (transaction.item, transaction.notes, transaction.category_name)
    return any(words in text.casefold() for text in texts)


def by_day(found: list[tuple[int, Transaction]]) -> Iterator[tuple[date, list[tuple[int, Transaction]]]]:
    """Returns what `read` found, grouped by day."""
    for day, group in groupby(found, key=lambda pair: pair[1].day):
        yield day, list(group)
