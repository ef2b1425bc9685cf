"""Experts of Bluecoins."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.tasks.pickers import pick_date
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Bluecoins"
NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
TODAY = date(2024, 5, 10)  # of the benchmark's phone
Day = tuple[date, list[str], list[str]]
"""A day of the book on the screen: the date, its sums, the labels of its transactions."""


# questions


@expert("bluecoins_1")
def spent_today(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads what was spent on the day."""
    yield from _spent(s, TODAY)


@expert("bluecoins_2")
def reason(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the notes of the transaction."""
    yield from s.open(APP)
    _, _, rows = yield from _day(s, date(2024, 5, 3))
    row = next(row for row in rows if row.endswith("-388.88 CNY"))
    yield s.finish(row.split(" • ")[1].split(", ")[0])


@expert("bluecoins_3")
def spent_on_monday(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads what was spent on the day."""
    yield from _spent(s, date(2024, 5, 6))


@expert("bluecoins_4")
def transactions_on_monday(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Counts the transactions of the day."""
    yield from s.open(APP)
    _, _, rows = yield from _day(s, date(2024, 5, 6))
    yield s.finish(f"{NUMBERS[len(rows)]} transactions")


@expert("bluecoins_5")
def taxis_this_week(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Searches for the rides and adds up those since Sunday."""
    yield from s.open(APP)
    yield s.tap("Search")
    yield s.type("Taxi")
    sunday = TODAY - timedelta(days=TODAY.isoweekday() % 7)
    spent = sum(_cents(sums[0]) for day, sums, _ in _days(s) if sunday <= day < sunday + timedelta(days=7))
    yield s.finish(f"{-spent / 100:,.2f} CNY")


@expert("BluecoinsSpentOnDay")
def spent_on_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads what was spent on the day."""
    yield from _spent(s, date.fromisoformat(p["day"]))


# new transactions


@expert("bluecoins_6")
def book_expense(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Books an expense of today."""
    yield from _book(s, amount="512")


@expert("bluecoins_7")
def book_salary(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Books an income of today with notes."""
    yield from _book(s, kind="Income", amount="8000", notes="salary")


@expert("bluecoins_8")
def book_for_tomorrow(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Books an expense of another day."""
    yield from _book(s, amount="768", day=date(2024, 5, 11))


@expert("bluecoins_9")
def book_red_packet(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Books an income of another day with notes."""
    yield from _book(s, kind="Income", amount="3.14", notes="Weixin red packet", day=date(2024, 3, 8))


@expert("bluecoins_10")
def book_meal(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Books an expense of another day with notes."""
    yield from _book(s, amount="256", notes="eating", day=date(2024, 5, 14))


@expert("BluecoinsAddTransaction")
def add_transaction(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Books an expense or an income of today."""
    yield from _book(s, kind=p["kind"].title(), amount=p["amount"], item=p["item"])


# changes


@expert("bluecoins_11")
def change_amount(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Changes the amount of the day's expense."""
    yield from _amend(s, date(2024, 5, 15), "-", amount="500")


@expert("bluecoins_12")
def move_income(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Changes amount and day of an income."""
    yield from _amend(s, date(2024, 5, 12), "", amount="18250", day=date(2024, 5, 10))


@expert("bluecoins_13")
def turn_into_income(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Turns the day's expense into an income, with notes."""
    yield from _amend(s, date(2024, 5, 13), "-", kind="Income", notes="Gift")


@expert("bluecoins_14")
def turn_into_expense(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Turns the day's income into an expense, with amount and notes."""
    yield from _amend(s, date(2024, 5, 2), "", kind="Expense", amount="520", notes="Wrong Operation")


@expert("bluecoins_15")
def move_expense(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Changes amount, day and notes of an expense."""
    changes = {"amount": "936.02", "notes": "Grocery Shopping", "day": date(2024, 5, 13)}
    yield from _amend(s, date(2024, 5, 12), "-", **changes)


@expert("BluecoinsChangeAmount", "BluecoinsMoveTransaction")
def amend_item(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Changes the amount or the day of the item."""
    yield from s.open(APP)
    yield from s.scroll_to(p["item"])
    yield s.tap(p["item"])
    changes = {"day": date.fromisoformat(p["day"])} if "day" in p else {"amount": p["amount"]}
    yield from _fill_in(s, **changes)
    yield s.tap("Save")


@expert("BluecoinsDeleteTransaction")
def delete_transaction(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the item and deletes it."""
    yield from s.open(APP)
    yield from s.scroll_to(p["item"])
    yield s.tap(p["item"])
    yield s.tap("Delete")
    yield s.tap(lambda element: element.label == "Delete" and element.cls == "Button")


# working the app


def _spent(s: Screen, day: date) -> Iterator[str]:
    """Answers what was spent on a day."""
    yield from s.open(APP)
    _, sums, _ = yield from _day(s, day)
    yield s.finish(next(amount for amount in sums if amount.startswith("-")).lstrip("-"))


def _book(s: Screen, **fields: Any) -> Iterator[str]:
    """Makes a transaction."""
    yield from s.open(APP)
    yield s.tap("Add transaction")
    yield from _fill_in(s, **fields)
    yield s.tap("Save")


def _amend(s: Screen, booked: date, sign: str, **fields: Any) -> Iterator[str]:
    """Changes the only transaction of a day with that sign: `-` for expenses, nothing for income."""
    yield from s.open(APP)
    _, _, rows = yield from _day(s, booked)
    row = next(row for row in rows if row.split(", ")[2].startswith("-") == bool(sign))
    yield s.tap(row)
    yield from _fill_in(s, **fields)
    yield s.tap("Save")


def _fill_in(
    s: Screen, kind: str = "", amount: str = "", item: str = "", notes: str = "", day: date | None = None
) -> Iterator[str]:
    """Fills in the fields that are given."""
    if kind and not s.find(partial(_is_type, kind)).selected:
        yield s.tap(partial(_is_type, kind))
    if amount:
        yield from s.refill("0.00", amount)
    if item:
        yield from s.refill(_is_item, item)
    if day is not None:
        yield s.tap(_is_date)
        yield from pick_date(s, day)
    if notes:
        yield from s.refill("Notes", notes)


def _day(s: Screen, day: date) -> Generator[str, None, Day]:
    """Shows a day at the top of the list, and reads it."""
    heading = f"{day:%a}, {day:%B} {day.day}, {day.year}"
    yield from s.scroll_to(lambda element: element.label == heading)
    found = s.find(lambda element: element.label == heading)
    for area in s.find_all(lambda element: element.scrollable):
        yield s.drag(found, (area.center[0], area.bounds[1] + found.center[1] - found.bounds[1]))
    return next(shown for shown in _days(s) if shown[0] == day)


def _days(s: Screen) -> list[Day]:
    """Returns the days on the screen from top to bottom."""
    days: list[Day] = []
    sums: list[str] = []
    rows: list[str] = []
    for element in s.elements:
        if (day := _date(element.label, "%a, %B %d, %Y")) is not None:
            sums, rows = [], []
            days.append((day, sums, rows))
        elif element.label.endswith(" CNY"):
            (rows if element.clickable else sums).append(element.label)
    return days


def _date(label: str, form: str) -> date | None:
    try:
        return datetime.strptime(label, form).date()
    except ValueError:
        return None


def _cents(amount: str) -> int:
    return round(100 * float(amount.removesuffix(" CNY").replace(",", "")))


def _is_type(kind: str, element: Element) -> bool:
    return element.label == kind and element.cls == "Button"


def _is_item(element: Element) -> bool:
    return element.hint in ("Payee or item purchased", "Name of income")


def _is_date(element: Element) -> bool:
    return _date(element.label, "%B %d, %Y") is not None
