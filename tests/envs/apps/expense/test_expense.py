"""Pro Expense by touch: what a user does is what stands in the ledger's database."""

import numpy as np
import pytest

from coach_gym.envs.apps.expense.app import DATABASE, PACKAGE
from coach_gym.envs.phone import epoch
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import compress, parse_ui
from tests.envs.hands import Hands
from tests.envs.records import add_record, changed, records


@pytest.fixture(params=[(270, 600), (540, 1200), (1080, 2400), (800, 1280)], ids=str)
def phone(request) -> Phone:
    phone = world_phone(*request.param)
    phone.launch(PACKAGE)
    return phone


def elements(phone):
    return parse_ui(compress(phone.ui()))


def tap(phone, label):
    found = [e for e in elements(phone) if label in (e.label, e.hint)]
    assert found, f"{label!r} is not among {[e.label for e in elements(phone)]}"
    phone.tap(*found[-1].center)


def enter(phone, field, text):
    tap(phone, field)
    phone.type(text)
    phone.key("BACK")


def rows(phone):
    return phone.storage.database(DATABASE).execute("SELECT name, amount, category, note FROM expense").fetchall()


def add(phone, name="Taxi", amount="12.5", category="Transportation"):
    tap(phone, "Add expense")
    enter(phone, "Name", name)
    enter(phone, "Amount", amount)
    tap(phone, category)
    tap(phone, "Save")


def test_adding_stores_cents_category_and_the_phones_time(phone):
    before = epoch.to_millis(phone.now)
    add(phone)
    assert rows(phone) == [("Taxi", 1250, 7, "")]
    created = phone.storage.database(DATABASE).execute("SELECT created_date FROM expense").fetchone()[0]
    assert before <= created <= epoch.to_millis(phone.now)
    assert any(e.label == "Taxi, $12.50 Transportation" for e in elements(phone))
    assert any(e.label == "Total $12.50" for e in elements(phone))


@pytest.mark.parametrize("name, amount", [("", "5"), ("Taxi", ""), ("Taxi", "free"), ("Taxi", ".")])
def test_incomplete_entries_are_not_saved_and_say_why(name, amount):
    phone = world_phone(540, 1200)
    phone.launch(PACKAGE)
    tap(phone, "Add expense")
    enter(phone, "Name", name)
    enter(phone, "Amount", amount)
    tap(phone, "Save")
    assert rows(phone) == [] and any(e.label.startswith("Enter") for e in elements(phone))


def test_editing_keeps_what_is_not_changed(phone):
    add(phone)
    tap(phone, "Taxi, $12.50 Transportation")
    tap(phone, "Edit")
    field = next(e for e in elements(phone) if e.hint == "Amount")
    Hands(None, phone=phone).select_text(field)
    phone.type("20")
    phone.key("BACK")
    tap(phone, "Save")
    assert rows(phone) == [("Taxi", 2000, 7, "")]


@pytest.mark.parametrize("full", [True, False], ids=["full record", "bare record"])
@pytest.mark.parametrize("field, text, change", [
    ("Name", "Cab", {"name": "Cab"}), ("Amount", "20", {"amount": 2000}), ("Note", "Late", {"note": "Late"}),
    ("Category", "Food", {"category": 3}), ("Category", "Others", {"category": 1}),
])  # fmt: skip
def test_an_edit_changes_one_column_and_the_time_of_the_change(field, text, change, full):
    phone = world_phone(540, 1200)
    db = phone.storage.database(DATABASE)
    for _ in range(2):
        add_record(db, "expense", full, name="Taxi ", amount=1234567, category=12, created_date=1, modified_date=2)
    phone.launch(PACKAGE)
    before = records(db, "expense")
    tap(phone, "Taxi , $12345.67 Others")
    tap(phone, "Edit")
    if field == "Category":
        tap(phone, text)
    else:
        Hands(None, phone=phone).select_text(next(e for e in elements(phone) if e.hint == field))
        phone.type(text)
        phone.key("BACK")
    tap(phone, "Save")
    edited = [row["modified_date"] != 2 for row in records(db, "expense")].index(True)
    time = records(db, "expense")[edited]["modified_date"]
    expected = [{}, {}]
    expected[edited] = {**change, "modified_date": time}
    assert changed(before, records(db, "expense")) == expected


def test_deleting_asks_first(phone):
    add(phone)
    tap(phone, "Taxi, $12.50 Transportation")
    tap(phone, "Delete")
    tap(phone, "Cancel")
    assert len(rows(phone)) == 1
    tap(phone, "Delete")
    tap(phone, "Delete")
    assert rows(phone) == [] and any(e.label == "No expenses yet" for e in elements(phone))


def test_leaving_the_form_saves_nothing(phone):
    tap(phone, "Add expense")
    enter(phone, "Name", "Taxi")
    phone.key("BACK")
    assert rows(phone) == [] and len(phone.stack) == 1


def test_a_snapshot_in_the_middle_of_typing_is_exact(phone):
    tap(phone, "Add expense")
    tap(phone, "Name")
    phone.type("Tax")
    saved, frame, text = phone.snapshot(), phone.screenshot(), compress(phone.ui())
    phone.type("i")
    phone.key("BACK")
    enter(phone, "Amount", "3")
    tap(phone, "Save")
    phone.restore(saved)
    assert rows(phone) == [] and np.array_equal(phone.screenshot(), frame) and compress(phone.ui()) == text
