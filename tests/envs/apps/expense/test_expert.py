"""Pro Expense's experts on ledgers that tasks do not draw: long ones, odd amounts, every category."""

import pytest

from coach_gym.envs.apps.expense import expert
from coach_gym.envs.apps.expense.app import CATEGORIES
from coach_gym.envs.apps.expense.world_tasks import (
    ExpenseAddMultiple,
    ExpenseAmountOf,
    ExpenseDeleteDuplicates2,
    ExpenseDeleteMultiple2,
)
from tests.envs.expert_at_work import work

LEDGER = [[f"Item {number:02d}", 100 * number, number % 11 + 1, ""] for number in range(1, 41)]


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_and_a_note_can_be_entered(device, category):
    task = ExpenseAddMultiple({"entries": [], "new": [["Taxi", 1250, category, "late"], ["Tea", 99, category, ""]]})
    task.setup(device)
    work(device, expert.add, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("places", [(0, 1), (0, 39), (11, 12), (12, 25), (38, 40)])
def test_copies_are_found_however_far_apart_they_are(device, places):
    ledger = list(LEDGER)
    twice = ["Twice", 777, 3, ""]
    for place in places:
        ledger.insert(place, twice)
    task = ExpenseDeleteDuplicates2({"twice": twice, "entries": ledger})
    task.setup(device)
    work(device, expert.delete_duplicate, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("names", [["Item 01"], ["Item 40", "Item 01", "Item 20"], ["Item 02", "Item 03"]])
def test_expenses_are_deleted_from_anywhere_in_the_list(device, names):
    task = ExpenseDeleteMultiple2({"names": names, "entries": LEDGER})
    task.setup(device)
    work(device, expert.delete, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("cents, answer", [(5, "0.05"), (100, "1.00"), (123456789, "1234567.89")])
def test_an_amount_is_read_as_it_is_shown(device, cents, answer):
    task = ExpenseAmountOf({"name": "Taxi", "entries": [["Taxi", cents, 1, ""], ["Tea", 700, 1, ""]]})
    task.setup(device)
    assert work(device, expert.amount_of, task.params) == answer
    assert task.evaluate(device, answer) == 1
    for wrong in (f"{answer}0", f"{answer} or 7", "7.00", "", None):
        assert task.evaluate(device, wrong) == 0
