"""Bluecoins' experts read days off the book, and work on transactions of any day."""

from datetime import date, timedelta

import pytest

from coach_gym.envs.apps.bluecoins import lab_expert as expert
from coach_gym.envs.apps.bluecoins import lab_tasks as families
from coach_gym.envs.apps.bluecoins.data import EXPENSE, INCOME, day_text
from tests.envs.expert_at_work import work

TODAY = date(2023, 10, 15)


def entry(number, days=None, kind=EXPENSE, cents=None):
    day = TODAY - timedelta(days=number if days is None else days)
    return [kind, cents or 1000 + number, day.isoformat(), f"Item {number:02d}", "", 1 if kind == EXPENSE else 101]


BOOK = [entry(number) for number in range(30)]


@pytest.mark.parametrize("label, form, day", [
    ("Sun, October 15, 2023", "%a, %B %d, %Y", TODAY), ("May 3, 2024", "%B %d, %Y", date(2024, 5, 3)),
    ("October 2023", "%B %d, %Y", None), ("", "%B %d, %Y", None),
])  # fmt: skip
def test_dates_are_told_from_other_texts(label, form, day):
    assert expert._date(label, form) == day


@pytest.mark.parametrize("amount, cents", [("-1,234.50 CNY", -123450), ("0.07 CNY", 7), ("12", 1200)])
def test_amounts_are_read_in_hundredths(amount, cents):
    assert expert._cents(amount) == cents


@pytest.mark.parametrize("days", [0, 7, 29])
def test_what_was_spent_on_a_day_leaves_out_what_was_received(device, days):
    extra = [entry(50, days, cents=250_000), entry(51, days, INCOME, 99_900)]
    day = TODAY - timedelta(days=days)
    params = {"day": day.isoformat(), "date": day_text(day), "other": "", "entries": [*BOOK, *extra]}
    task = families.BluecoinsSpentOnDay(params)
    task.setup(device)
    answer = work(device, expert.spent_on_day, task.params)
    assert answer == f"{2510 + days / 100:,.2f} CNY" and task.evaluate(device, answer) == 1
    assert task.evaluate(device, "999.00") == 0


@pytest.mark.parametrize("number", [0, 15, 29])
@pytest.mark.parametrize("amount", ["7", "0.05", "12345.67"])
def test_the_amount_of_any_transaction_is_changed(device, number, amount):
    task = families.BluecoinsChangeAmount({"item": f"Item {number:02d}", "amount": amount, "entries": BOOK})
    task.setup(device)
    work(device, expert.amend_item, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("day", [date(2023, 9, 30), date(2022, 12, 31), date(2024, 2, 29)])
def test_a_transaction_is_moved_to_another_year(device, day):
    task = families.BluecoinsMoveTransaction({"item": "Item 03", "day": day.isoformat(), "entries": BOOK[:6]})
    task.setup(device)
    work(device, expert.amend_item, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("number", [0, 29])
def test_one_transaction_is_deleted(device, number):
    task = families.BluecoinsDeleteTransaction({"item": f"Item {number:02d}", "entries": BOOK})
    task.setup(device)
    work(device, expert.delete_transaction, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("kind", ["expense", "income"])
def test_an_expense_and_an_income_are_told_apart(device, kind):
    task = families.BluecoinsAddTransaction({"kind": kind, "amount": "512.5", "item": "Rent", "entries": BOOK[:2]})
    task.setup(device)
    work(device, expert.add_transaction, task.params)
    assert task.evaluate(device, None) == 1
    other = "income" if kind == "expense" else "expense"
    assert families.BluecoinsAddTransaction({**task.params, "kind": other}).evaluate(device, None) == 0
