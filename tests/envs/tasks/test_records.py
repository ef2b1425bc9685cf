"""The shared base of families about records, on a family of this test's own."""

import random
import sqlite3
from contextlib import contextmanager

import pytest

from coach_gym.envs.tasks.records import AddRecords, DeleteCopy, DeleteRecords, DrawnRecords, another
from coach_gym.envs.tasks.words import ParamRng


class Coins(DrawnRecords):
    """A task on a purse of coins: name and value."""

    apps = ("Purse",)
    database = "/purse.db"
    given = "coins"
    template = "Do it: {spoken}"
    budget = 5

    @classmethod
    def draw(cls, rng, count):
        return [[f"coin {value}", value] for value in rng.sample(range(100), count)]

    def store(self, device, db):
        db.executemany("INSERT INTO coins VALUES (?, ?)", self.params["coins"])

    def stored(self, db):
        return db.execute("SELECT name, value FROM coins").fetchall()


class Add(AddRecords, Coins):
    count, most = 2, 4

    @staticmethod
    def spoken(record):
        return f"{record[0]} for {record[1]}"


class Delete(DeleteRecords, Coins):
    template = "Delete {names}"
    count, noise = 2, (1, 3)


class Copy(DeleteCopy, Coins):
    template = "Delete a copy"
    noise = 4


class AlmostCopy(Copy):
    @classmethod
    def variations(cls, rng, twice):
        return [[twice[0], twice[1] + 1]]


class Purse:
    """A device with one table, as far as these families need one."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.execute("CREATE TABLE coins (name TEXT, value INTEGER)")

    @contextmanager
    def database(self, path):
        assert path == Coins.database
        yield self.db

    def put(self, records):
        self.db.execute("DELETE FROM coins")
        self.db.executemany("INSERT INTO coins VALUES (?, ?)", records)


FAMILIES = (Add, Delete, Copy, AlmostCopy)


@pytest.fixture(params=range(10))
def seed(request):
    return request.param


@pytest.mark.parametrize("family", FAMILIES)
def test_the_start_is_what_the_parameters_say_and_does_not_count(family, seed):
    task, purse = family(family.sample(ParamRng(seed))), Purse()
    task.setup(purse)
    assert [list(row) for row in purse.db.execute("SELECT * FROM coins")] == task.params["coins"]
    assert task.evaluate(purse, None) == 0.0


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_expected_counts_in_any_order_and_nothing_else_does(family, seed):
    task, purse, rng = family(family.sample(ParamRng(seed))), Purse(), random.Random(seed)
    right = rng.sample(task.expected(), len(task.expected()))
    purse.put(right)
    assert task.evaluate(purse, None) == 1.0
    wrong = [right[1:], [*right, right[0]], [*right, ["more", 1]], [[right[0][0], right[0][1] + 1], *right[1:]], []]
    for records in (*wrong, [[None, None], *right[1:]]):
        purse.put(records)
        assert task.evaluate(purse, None) == 0.0


def test_new_records_are_spelled_out_and_are_not_there_yet(seed):
    task = Add(Add.sample(ParamRng(seed)))
    (first, one), (second, two) = task.params["new"]
    assert task.goal == f"Do it: {first} for {one}; {second} for {two}"
    assert 1 <= len(task.params["coins"]) <= 4
    assert not {first, second} & {name for name, _ in task.params["coins"]}


def test_named_records_are_there_and_the_others_have_to_stay(seed):
    task = Delete(Delete.sample(ParamRng(seed)))
    names = {name for name, _ in task.params["coins"]}
    assert task.goal == "Delete " + ", ".join(task.params["names"])
    assert set(task.params["names"]) < names and 1 <= len(task.expected()) <= 3
    assert {name for name, _ in task.expected()} == names - set(task.params["names"])


def test_the_near_miss_of_deleting_deletes_one_that_has_to_stay(seed):
    task = Delete(Delete.sample(ParamRng(seed)))
    miss = Delete(task.near_miss(random.Random(seed)))
    assert len(miss.params["names"]) == 2 and len(set(miss.params["names"]) & set(task.params["names"])) == 1
    purse = Purse()
    purse.put(miss.expected())
    assert task.evaluate(purse, None) == 0.0


def test_one_record_is_there_twice_and_once_in_the_end(seed):
    for family, alike in ((Copy, 0), (AlmostCopy, 1)):
        task = family(family.sample(ParamRng(seed)))
        twice = task.params["twice"]
        assert task.params["coins"].count(twice) == 2 and task.expected().count(twice) == 1
        assert len(task.params["coins"]) == 5 + alike
        assert sum(coin[0] == twice[0] for coin in task.expected()) == 1 + alike


def test_another_choice_is_never_the_one_that_is_there():
    params = {"day": 3, "rest": "kept"}
    drawn = [another(random.Random(seed), params, "day", range(5)) for seed in range(50)]
    assert {each["day"] for each in drawn} == {0, 1, 2, 4}
    assert all(each["rest"] == "kept" for each in drawn) and params == {"day": 3, "rest": "kept"}
