"""Families about records, on a table of words."""

import random

import pytest

from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.profiles import Profile
from coach_gym.envs.tasks.records import AddRecords, DeleteCopy, DeleteRecords, another
from coach_gym.envs.tasks.words import NOUNS, ParamRng

PATH = "/data/data/org.example.words/databases/words.db"


class Words:
    """How words are drawn, stored and read."""

    apps, budget, database, given = ("Words",), 9, PATH, "words"

    @classmethod
    def draw(cls, rng, count):
        return [[word, rng.randrange(5)] for word in NOUNS.draw_many(rng, count)]

    def store(self, device, db):
        db.executemany("INSERT INTO word VALUES (?, ?)", self.params["words"])

    def stored(self, db):
        return db.execute("SELECT name, points FROM word").fetchall()


class AddWords(Words, AddRecords):
    template, count, most = "Add {spoken}.", 2, 4

    @staticmethod
    def spoken(record):
        return f"{record[0]} ({record[1]})"


class DeleteWords(Words, DeleteRecords):
    template, count, noise = "Delete {names}.", 2, (2, 5)


class DeleteCopyOfWord(Words, DeleteCopy):
    template, noise = "Delete the word that is there twice.", 3

    @classmethod
    def variations(cls, rng, twice):
        return [[twice[0], twice[1] + 1]]


FAMILIES = [AddWords, DeleteWords, DeleteCopyOfWord]


@pytest.fixture
def device():
    device = PhoneDevice(270, 600, Profile("empty", ()))
    device.phone.storage.create_database(PATH, "CREATE TABLE word (name, points);")
    return device


def hold(device, records):
    with device.database(PATH) as db:
        db.execute("DELETE FROM word")
        db.executemany("INSERT INTO word VALUES (?, ?)", records)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_just_the_expected_records_are_right(device, family, seed):
    task = family(family.sample(ParamRng(seed)))
    task.setup(device)
    assert task.evaluate(device, None) == 0, "nothing was done yet"
    right = task.expected()
    for records, score in (
        (right, 1), (right[::-1], 1), (right[1:], 0), ([*right, right[0]], 0), ([*right, ["more", 1]], 0),
        ([[right[0][0], right[0][1] + 7], *right[1:]], 0), ([], 0),
    ):  # fmt: skip
        hold(device, records)
        assert task.evaluate(device, None) == score


@pytest.mark.parametrize("seed", range(10))
def test_new_records_are_told_whole_and_are_not_there_yet(seed):
    task = AddWords(AddWords.sample(ParamRng(seed)))
    (first, points), (second, others) = task.params["new"]
    assert task.goal == f"Add {first} ({points}); {second} ({others})."
    assert not {first, second} & {name for name, _ in task.params["words"]}
    assert 1 <= len(task.params["words"]) <= AddWords.most


@pytest.mark.parametrize("seed", range(10))
def test_records_to_delete_are_there_among_others(seed):
    task = DeleteWords(DeleteWords.sample(ParamRng(seed)))
    names = [name for name, _ in task.params["words"]]
    assert set(task.params["names"]) <= set(names) and 2 <= len(names) - 2 <= 5
    assert task.goal == f"Delete {', '.join(task.params['names'])}."
    wrong = task.near_miss(random.Random(seed))["names"]
    assert len(wrong) == 2 and set(wrong) <= set(names) and set(wrong) != set(task.params["names"])


@pytest.mark.parametrize("seed", range(10))
def test_one_record_is_there_twice_and_another_only_looks_like_it(seed):
    params = DeleteCopyOfWord.sample(ParamRng(seed))
    twice = params["twice"]
    assert params["words"].count(twice) == 2 and [twice[0], twice[1] + 1] in params["words"]
    assert len(params["words"]) == 5


def test_a_near_miss_is_another_choice():
    for seed in range(10):
        assert another(random.Random(seed), {"a": 1, "b": 2}, "a", [1, 3, 5])["a"] in (3, 5)
