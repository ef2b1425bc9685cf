"""Cantook's experts on long shelves, and what its tasks refuse."""

import pytest

from coach_gym.envs.apps.cantook import lab_expert as expert
from coach_gym.envs.apps.cantook import lab_tasks as families
from coach_gym.envs.apps.cantook.data import DATABASE
from tests.envs.expert_at_work import work

SHELF = [
    [f"The Book {number:02d}", f"Author {number % 3}", "Novels", ["Text."] * 8, number % 8] for number in range(15)
]
TITLES = ["The Book 00", "The Book 14"]


def begun(family, device, **params):
    task = family({"title": TITLES[0], "books": SHELF, **params})
    task.setup(device)
    return task


@pytest.mark.parametrize("title", TITLES)
def test_a_book_is_marked_as_read_wherever_it_stands(device, title):
    task = begun(families.CantookMarkAsRead, device, title=title)
    assert task.evaluate(device, None) == 0
    work(device, expert.mark_as_read, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("title", TITLES)
def test_a_book_is_deleted_wherever_it_stands(device, title):
    task = begun(families.CantookDeleteBook, device, title=title)
    work(device, expert.delete_book, task.params)
    assert task.evaluate(device, None) == 1
    with device.database(DATABASE) as db:
        db.execute("DELETE FROM books WHERE id = 8")
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("title", ["The Book 03", "The Book 12"])
def test_progress_is_read_in_per_cent(device, title):
    task = begun(families.CantookProgressOf, device, title=title)
    answer = work(device, expert.progress_of, task.params)
    assert answer == f"{int(title[-2:]) % 8 * 12.5:.1f}%"
    share = answer.removesuffix("%")
    right = {answer, share, f"{share} percent", f"{share} %"}
    for each in (*right, "51", f"{share}1", f"about {share}", "", None):
        assert task.evaluate(device, each) == float(each in right), each


@pytest.mark.parametrize("author", ["Author 0", "Author 2"])
def test_books_of_an_author_are_counted(device, author):
    task = begun(families.CantookBooksByAuthor, device, author=author)
    assert work(device, expert.books_by, task.params) == "5"
    for answer, score in (("5", 1), ("5 books", 1), ("Five", 0), ("15", 0), ("", 0)):
        assert task.evaluate(device, answer) == score


def test_one_of_several_files_is_imported(device):
    files = {f"book_{number}.epub": [f"New {number}", "Ann", "Poetry", ["Text."], 0] for number in range(3)}
    task = begun(families.CantookImportBook, device, title="New 1", file="book_1.epub", files=files)
    work(device, expert.import_book, task.params)
    assert task.evaluate(device, None) == 1
    other = families.CantookImportBook({**task.params, "title": "New 2"})
    assert other.evaluate(device, None) == 0


@pytest.mark.parametrize("name", ["Favorites", "A b c", "Ünï 7"])
def test_a_collection_is_created_under_its_name_and_no_other(device, name):
    task = begun(families.CantookCreateCollection, device, name=name)
    work(device, expert.create_collection, task.params)
    assert task.evaluate(device, None) == 1
    for harm in ("INSERT INTO collections(name) VALUES ('more')", "UPDATE collections SET name = lower(name) || '!'",
                 "DELETE FROM collections"):  # fmt: skip
        solved = device.snapshot()
        with device.database(DATABASE) as db:
            db.execute(harm)
        assert task.evaluate(device, None) == 0
        device.restore(solved)
