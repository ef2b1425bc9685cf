"""Which answers the questions about books accept."""

import pytest

from coach_gym.envs.apps.cantook import lab_tasks as cantook


@pytest.mark.parametrize(
    "read, right, wrong",
    [
        (3, ("37.5%", "37.5", "37.5 %", "37.5 percent"), ("37", "38%", "0.375", "62.5%", "37.5% or 50%")),
        (4, ("50.0%", "50%", "50", "50 percent."), ("5", "500", "49.9%", "half")),
    ],
)
def test_shares_of_a_book(read, right, wrong, accepts):
    book = ["The Red Door", "Ada Moon", "Novels", [f"{n}." for n in range(8)], read]
    accepts(cantook.CantookProgressOf({"title": "The Red Door", "other": "", "books": [book]}), right, wrong)


def test_numbers_of_books(accepts):
    books = [[f"The Book {n}", "Ada Moon", "Novels", ["One."], 0] for n in range(3)]
    params = {"title": "", "author": "Ada Moon", "other": "Bo Vale", "books": books}
    accepts(cantook.CantookBooksByAuthor(params), ("3", "3 books", "3."), ("2", "33", "3 songs", "3 or 4", "13"))
