"""Bluecoins' table by itself: what is booked is read again, and any change of a transaction is just that."""

import random
import sqlite3
from datetime import date, time, timedelta

import pytest

from coach_gym.envs.apps.bluecoins.data import (
    CATEGORIES,
    EXPENSE,
    INCOME,
    SCHEMA,
    TYPES,
    Transaction,
    add,
    by_day,
    change,
    read,
)


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(SCHEMA)
    return db


def drawn(rng):
    kind = rng.choice(list(TYPES))
    day = date(2023, 10, 15) - timedelta(days=rng.randrange(5))
    texts = [rng.choice(["", "Tea", "tea & milk", "Ünï"]) for _ in range(2)]
    return Transaction(kind, rng.randint(1, 10**9), day, *texts, rng.choice(list(CATEGORIES[kind])))


@pytest.fixture(params=range(8))
def rng(request):
    return random.Random(request.param)


def test_what_is_booked_is_read_again_the_latest_day_first(db, rng):
    book = [drawn(rng) for _ in range(20)]
    for each in book:
        add(db, each, time(rng.randrange(24), rng.randrange(60)))
    found = [each for _, each in read(db)]
    assert sorted(found) == sorted(book)
    assert [each.day for each in found] == sorted((each.day for each in book), reverse=True)
    groups = list(by_day(read(db)))
    assert [day for day, _ in groups] == sorted({each.day for each in book}, reverse=True)
    assert [pair for _, group in groups for pair in group] == read(db)


def test_a_search_looks_at_item_notes_and_category_whatever_the_case(db, rng):
    for _ in range(20):
        add(db, drawn(rng))
    for words in ("TEA", "ünï", "food", "&", "nothing"):
        texts = [(each.item, each.notes, each.category_name) for _, each in read(db)]
        expected = sum(any(words.casefold() in text.casefold() for text in three) for three in texts)
        assert len(read(db, words)) == expected


def test_any_change_is_read_again_and_the_rest_stays(db, rng):
    for _ in range(5):
        add(db, drawn(rng), time(7, 8, 9))
    for _ in range(20):
        book = dict(read(db))
        id, new = rng.choice(list(book)), drawn(rng)._asdict()
        changes = {field: new[field] for field in rng.sample(list(new), rng.randint(0, 6))}
        if "kind" in changes or "category" in changes:  # they go together, as in the form
            changes |= {"kind": new["kind"], "category": new["category"]}
        change(db, id, changes)
        assert dict(read(db)) == {**book, id: book[id]._replace(**changes)}
        times = {at[10:] for (at,) in db.execute("SELECT date FROM TRANSACTIONSTABLE")}
        assert times == {" 07:08:09"}


def test_changing_a_transaction_that_is_gone_does_nothing(db):
    add(db, Transaction(EXPENSE, 100, date(2023, 10, 15)))
    before = read(db)
    change(db, 99, {"cents": 7})
    assert read(db) == before


@pytest.mark.parametrize("kind, cents, sign", [(EXPENSE, 1250, -1), (INCOME, 1250, 1)])
def test_amounts_are_signed_millionths(db, kind, cents, sign):
    add(db, Transaction(kind, cents, date(2023, 10, 15)))
    assert db.execute("SELECT amount FROM TRANSACTIONSTABLE").fetchone()[0] == sign * cents * 10_000
    change(db, 1, {"kind": EXPENSE + INCOME - kind})
    assert db.execute("SELECT amount FROM TRANSACTIONSTABLE").fetchone()[0] == -sign * cents * 10_000
