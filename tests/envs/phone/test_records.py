"""Records of apps' tables: read whole, written only where they change."""

import sqlite3

import pytest

from coach_gym.envs.phone.records import Table
from tests.envs.records import add_record, changed, records

NOTES = Table("notes", "_id")
SCHEMA = """
CREATE TABLE notes (_id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, stars INTEGER DEFAULT 3, pic BLOB)
"""


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute(SCHEMA)
    return db


def test_a_new_record_gets_the_defaults_of_what_is_not_given(db):
    assert NOTES.insert(db, {"title": "One"}) == 1
    assert NOTES.insert(db, {"title": "Two", "stars": 5, "body": ""}) == 2
    assert NOTES.read(db, 1) == {"_id": 1, "title": "One", "body": None, "stars": 3, "pic": None}
    assert NOTES.read(db, 2) == {"_id": 2, "title": "Two", "body": "", "stars": 5, "pic": None}


@pytest.mark.parametrize("id", [None, 0, 99])
def test_a_record_that_is_not_there_is_empty_and_changing_it_does_nothing(db, id):
    add_record(db, "notes")
    before = records(db, "notes")
    assert NOTES.read(db, id) == {}
    NOTES.update(db, id, {"title": "New"})
    NOTES.delete(db, id)
    assert records(db, "notes") == before


@pytest.mark.parametrize("change", [{}, {"title": "New"}, {"body": None}, {"stars": -1, "pic": b"\x00\xff"}])
def test_only_the_columns_that_are_given_change_in_that_record(db, change):
    for _ in range(3):
        add_record(db, "notes")
    before = records(db, "notes")
    NOTES.update(db, 2, change)
    assert changed(before, records(db, "notes")) == [{}, change, {}]


def test_deleting_removes_one_record(db):
    for _ in range(3):
        add_record(db, "notes")
    before = records(db, "notes")
    NOTES.delete(db, 2)
    assert records(db, "notes") == [before[0], before[2]]


def test_values_reach_the_database_as_values_and_never_as_sql(db):
    id = NOTES.insert(db, {"title": "'); DROP TABLE notes; --"})
    NOTES.update(db, id, {"body": "x' WHERE 1=1; --"})
    (note,) = records(db, "notes")
    assert (note["title"], note["body"]) == ("'); DROP TABLE notes; --", "x' WHERE 1=1; --")
