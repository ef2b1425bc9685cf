"""Joplin's tables by themselves: notes, notebooks, and the copy of the notes that the search reads."""

import random
import sqlite3
from datetime import datetime, timedelta

import pytest

from coach_gym.envs.apps.joplin import data

NOW = datetime(2023, 10, 15, 15, 34)
WORDS = ("apple", "Banana", "CHERRY", "date's", "é", "50%", "_")


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(data.SCHEMA)
    return db


def copies(db):
    return db.execute("SELECT id, title, body, parent_id, is_todo, todo_completed FROM notes_normalized").fetchall()


def test_ids_are_different_and_the_same_for_the_same_history():
    histories = []
    for _ in range(2):
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(data.SCHEMA)
        book = data.create_folder(db, "Work", NOW)
        histories.append([book, *(data.create(db, book, "Same", "", NOW) for _ in range(5))])
    assert histories[0] == histories[1] and len(set(histories[0])) == 6
    assert all(len(id) == 32 for id in histories[0])


def test_notebooks_count_their_notes_and_are_sorted_by_title(db):
    books = {title: data.create_folder(db, title, NOW) for title in ("work", "Home", "attic")}
    for _ in range(3):
        data.create(db, books["Home"], "A", "", NOW)
    assert [(title, count) for _, title, count in data.folders(db)] == [("attic", 0), ("Home", 3), ("work", 0)]
    assert data.folder_title(db, books["work"]) == "work" and data.folder_title(db, "none") == ""


def test_the_note_changed_last_comes_first(db):
    ids = [data.create(db, "book", str(number), "", NOW + timedelta(minutes=number)) for number in range(4)]
    assert [note.title for note in data.notes(db)] == ["3", "2", "1", "0"]
    data.update(db, ids[1], NOW + timedelta(hours=1), body="new")
    assert [note.title for note in data.notes(db, "book")] == ["1", "3", "2", "0"]
    assert data.notes(db, "other") == [] and data.note(db, ids[1]).body == "new"


@pytest.mark.parametrize("seed", range(6))
def test_the_copy_for_the_search_follows_every_change(db, seed):
    rng = random.Random(seed)
    for number in range(40):
        notes = data.notes(db)
        if not notes or rng.random() < 0.4:
            texts = [" ".join(rng.choices(WORDS, k=3)) for _ in range(2)]
            data.create(db, rng.choice("xy"), *texts, NOW + timedelta(minutes=number), rng.random() < 0.5)
        elif rng.random() < 0.3:
            data.delete(db, rng.choice(notes).id, NOW)
        else:
            changes = {"title": rng.choice(WORDS), "body": rng.choice(WORDS), "parent_id": "z", "todo_completed": 7}
            column = rng.choice(list(changes))
            data.update(db, rng.choice(notes).id, NOW, **{column: changes[column]})
    columns = "id, title, body, parent_id, is_todo, todo_completed"
    stored = db.execute(f"SELECT {columns} FROM notes WHERE deleted_time = 0").fetchall()
    lower = str.maketrans({chr(letter): chr(letter + 32) for letter in range(65, 91)})
    expected = [(id, title.translate(lower), body.translate(lower), *rest) for id, title, body, *rest in stored]
    assert sorted(copies(db)) == sorted(expected)


@pytest.mark.parametrize("query, titles", [
    ("apple", {"One", "Two"}), ("APPLE pie", {"One"}), ("pie apple", {"One"}), ("app", {"One", "Two"}),
    ("two", {"Two"}), ("%", {"Three"}), ("_", set()), ("zebra", set()), ("", set()), ("  ", set()),
])  # fmt: skip
def test_a_search_wants_every_word_in_title_or_text(db, query, titles):
    for title, body in (("One", "An apple\npie"), ("Two", "Apples"), ("Three", "50% of it")):
        data.create(db, "book", title, body, NOW)
    assert {note.title for note in data.search(db, query)} == titles


def test_the_order_is_the_one_that_is_set(db):
    for number, (title, todo, done) in enumerate((("b", False, False), ("C", True, True), ("a", True, False))):
        data.create(db, "book", title, "", NOW + timedelta(minutes=number), todo, done)

    def order(**settings):
        for key, value in settings.items():
            data.change_setting(db, getattr(data, key), value)
        return "".join(note.title for note in data.listed(db))

    assert order() == "aCb"
    assert order(REVERSE="0") == "abC", "open to-dos stay on top"
    assert order(TO_DOS_FIRST="0") == "bCa"
    assert order(SORT_FIELD="title") == "abC"
    assert order(SHOWS_DONE="0") == "ab"


def test_notebooks_stand_below_the_one_they_are_in(db):
    work = data.create_folder(db, "Work", NOW)
    plans = data.create_folder(db, "Plans", NOW, work)
    data.create_folder(db, "Old", NOW, plans)
    data.create_folder(db, "Home", NOW, "lost")
    assert [(title, depth) for _, title, _, depth in data.tree(db)] == [
        ("Home", 0), ("Work", 0), ("Plans", 1), ("Old", 2),
    ]  # fmt: skip
    assert len(data.below(db, work)) == 3 and len(data.below(db, plans)) == 2


def test_the_trash_gives_back_until_it_is_emptied(db):
    work = data.create_folder(db, "Work", NOW)
    plans = data.create_folder(db, "Plans", NOW, work)
    ids = [data.create(db, book, title, "", NOW) for book, title in ((work, "A"), (plans, "B"), (plans, "C"))]
    data.delete(db, ids[0], NOW)
    data.restore(db, ids[0], NOW)
    assert data.note(db, ids[0]).folder == work and copies(db)[-1][0] == ids[0]
    data.delete_folder(db, work, NOW)
    assert data.folders(db) == data.notes(db) == copies(db) == []
    data.restore(db, ids[1], NOW)
    assert [(title, count) for _, title, count in data.folders(db)] == [(data.RESTORED, 1)]
    data.empty_trash(db)
    assert data.trash(db) == [] and [note.title for note in data.notes(db)] == ["B"]


def test_a_copy_has_a_title_of_its_own(db):
    id = data.create(db, "book", "Plan", "text", NOW, todo=True)
    for _ in range(2):
        data.duplicate(db, id, NOW)
    assert [(note.title, note.body, note.todo) for note in data.notes(db)] == [
        ("Plan", "text", True), ("Plan (1)", "text", True), ("Plan (2)", "text", True),
    ]  # fmt: skip
