"""Bluecoins by touch: what a user books is what stands in the ledger's database."""

from datetime import date

import numpy as np
import pytest

from coach_gym.envs.apps.bluecoins.data import DATABASE, EXPENSE, INCOME, PACKAGE, Transaction, add, read
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

BOOK = (
    Transaction(EXPENSE, 1250, date(2023, 10, 14), "Bakery", "Bread", 2),
    Transaction(EXPENSE, 880, date(2023, 10, 14), "Taxi", "", 4),
    Transaction(INCOME, 123450, date(2023, 9, 30), "Salary", "September", 102),
)


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    for transaction in BOOK:
        add(hands.storage.database(DATABASE), transaction)
    hands.phone.changed()
    return hands


def book(hands):
    return [transaction for _, transaction in read(hands.storage.database(DATABASE))]


def newest(hands):
    return max(read(hands.storage.database(DATABASE)))[1]


def put(hands, hint, text):
    hands.select_text(hint)
    hands.type(text)
    hands.back()


def rows(hands):
    return [element.label for element in hands.elements if element.clickable and element.label.endswith("CNY")]


def test_days_are_shown_with_their_sums_the_latest_first(hands):
    assert rows(hands) == [
        "Taxi, Transportation, -8.80 CNY", "Bakery, Food • Bread, -12.50 CNY",
        "Salary, Salary • September, 1,234.50 CNY",
    ]  # fmt: skip
    assert hands.shows("Sat, October 14, 2023") and hands.shows("-21.30 CNY") and hands.shows("1,234.50 CNY")


def test_the_card_on_top_sums_up_the_current_month(hands):
    texts = [element.label for element in hands.elements]
    assert texts[texts.index("October 2023") :][1:7] == ["Income", "0.00", "Expense", "21.30", "Net", "-21.30"]


def test_search_finds_items_notes_and_categories(hands):
    hands.tap("Search")
    for words, found in (("bread", ["Bakery"]), ("TRANSPORT", ["Taxi"]), ("sal", ["Salary"]), ("boat", [])):
        hands.select_text("Search")
        hands.type(words)
        assert [row.split(", ")[0] for row in rows(hands)] == found
    hands.back()
    hands.back()
    assert len(rows(hands)) == 3


def test_an_expense_is_of_today_unless_another_day_is_chosen(hands):
    hands.tap("Add transaction")
    put(hands, "0.00", "1,512.5")
    hands.tap("Save")
    assert newest(hands) == Transaction(EXPENSE, 151250, date(2023, 10, 15))
    hands.tap("Add transaction")
    put(hands, "0.00", "7")
    hands.tap("October 15, 2023", "Previous month", "08 September 2023", "OK", "Save")
    assert newest(hands) == Transaction(EXPENSE, 700, date(2023, 9, 8))


def test_an_income_has_a_name_a_category_and_notes(hands):
    hands.tap("Add transaction", "Income")
    put(hands, "0.00", "8000")
    put(hands, "Name of income", "October")
    put(hands, "Notes", "bonus")
    hands.tap("Others", "Salary", "Save")
    assert newest(hands) == Transaction(INCOME, 800000, date(2023, 10, 15), "October", "bonus", 102)


@pytest.mark.parametrize("amount", ["", "0", "-5", "1.2.3", "much", "nan", "inf", "1e300"])
def test_what_is_no_amount_is_not_booked(hands, amount):
    hands.tap("Add transaction")
    put(hands, "0.00", amount)
    hands.tap("Save")
    assert len(book(hands)) == 3 and hands.shows("Enter an amount")


def test_the_sign_turns_an_expense_into_an_income(hands):
    hands.tap("Bakery")
    assert hands.find("-").cls == "TextView" and hands.elements[1].label == "Expense"
    hands.tap("-")
    assert hands.shows("+") and hands.elements[1].label == "Income"
    hands.tap("Save")
    assert Transaction(INCOME, 1250, date(2023, 10, 14), "Bakery", "Bread", 101) in book(hands)


def test_a_change_leaves_the_rest_as_it_was(hands):
    hands.tap("Salary")
    put(hands, "0.00", "18250")
    hands.tap("Save")
    assert sorted(book(hands)) == sorted([*BOOK[:2], BOOK[2]._replace(cents=1825000)])


def edit_item(hands):
    put(hands, "Payee or item purchased", "Cab")


def edit_amount(hands):
    put(hands, "0.00", "20")


def edit_notes(hands):
    put(hands, "Notes", "Late")


def edit_day(hands):
    hands.tap("May 3, 2023", "05 May 2023", "OK")


def edit_category(hands):
    hands.tap("Others", "Health")


def edit_kind(hands):
    hands.tap("Income")


@pytest.mark.parametrize("full", [True, False], ids=["full record", "bare record"])
@pytest.mark.parametrize("edit, change", [
    (edit_item, {"itemName": "Cab"}), (edit_amount, {"amount": -20_000_000}), (edit_notes, {"notes": "Late"}),
    (edit_day, {"date": "2023-05-05 07:08:09"}), (edit_category, {"categoryID": 8}),
    (edit_kind, {"amount": 123_456_789_012, "transactionTypeID": 4, "categoryID": 101}),
])  # fmt: skip
def test_an_edit_changes_what_was_edited_and_keeps_time_currency_and_account(edit, change, full):
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(DATABASE)
    odd = {"amount": -123_456_789_012, "date": "2023-05-03 07:08:09", "transactionTypeID": 3, "categoryID": 99}
    for _ in range(2):
        add_record(db, "TRANSACTIONSTABLE", full, **odd)
    hands.phone.changed()
    before = records(db, "TRANSACTIONSTABLE")
    hands.phone.tap(*next(e for e in hands.elements if e.clickable and e.label.endswith("CNY")).center)
    edit(hands)
    hands.tap("Save")
    assert changed(before, records(db, "TRANSACTIONSTABLE")) == [{}, change]


def test_leaving_a_form_books_nothing(hands):
    hands.tap("Bakery")
    put(hands, "0.00", "99")
    hands.back()
    assert sorted(book(hands)) == sorted(BOOK)


def test_deleting_asks_first(hands):
    for answer, left in (("Cancel", 3), ("Delete", 2)):
        hands.tap("Taxi", "Delete", answer)
        assert len(book(hands)) == left
        if answer == "Cancel":
            hands.back()
    assert BOOK[1] not in book(hands)


def test_an_empty_book_says_so(hands):
    for name in ("Taxi", "Bakery", "Salary"):
        hands.tap(name, "Delete", "Delete")
    assert hands.shows("No transactions")


def test_a_snapshot_of_a_half_filled_form_is_exact(hands):
    hands.tap("Bakery")
    put(hands, "Notes", "Rolls")
    hands.tap("Income", "October 14, 2023")
    saved, frame = hands.phone.snapshot(), hands.phone.screenshot()
    for _ in range(2):
        hands.tap("03 October 2023", "OK", "Save")
        assert Transaction(INCOME, 1250, date(2023, 10, 3), "Bakery", "Rolls", 101) in book(hands)
        hands.phone.restore(saved)
        assert sorted(book(hands)) == sorted(BOOK) and np.array_equal(hands.phone.screenshot(), frame)
