"""Experts of the Pro Expense app."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.expense.app import CATEGORIES
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Pro Expense"


@expert("ExpenseAddSingle", "ExpenseAddMultiple")
def add(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds one expense after the other."""
    yield from s.open(APP)
    for name, cents, category, note in p["new"]:
        yield s.tap("Add expense")
        yield from s.fill("Name", name)
        yield from s.fill("Amount", f"{cents / 100:g}")
        if note:
            yield from s.fill("Note", note)
        if CATEGORIES[category] != "Others":
            yield from s.scroll_to(CATEGORIES[category])
            yield s.tap(CATEGORIES[category])
        yield from s.scroll_to("Save")
        yield s.tap("Save")


@expert("ExpenseDeleteSingle", "ExpenseDeleteMultiple", "ExpenseDeleteMultiple2")
def delete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Deletes the expenses by name."""
    yield from s.open(APP)
    for name in p["names"]:
        yield from s.scroll_to(name)
        yield from _delete(s, s.find(name))


@expert("ExpenseDeleteDuplicates", "ExpenseDeleteDuplicates2")
def delete_duplicate(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the whole list, since the copies need not be on the same page."""
    yield from s.open(APP)
    seen: Counter[str] = Counter()
    last: list[str] = []
    while True:
        rows = _rows(s)
        overlap = next(n for n in range(min(len(rows), len(last)), -1, -1) if last[len(last) - n :] == rows[:n])
        seen.update(rows[overlap:])
        twice = [row for row in rows if seen[row] > 1]
        if twice:
            yield from _delete(s, s.find(twice[0]))
            break
        last, before = rows, s.text
        yield s.scroll("down")
        if s.text == before:
            break


@expert("ExpenseChangeAmount")
def change_amount(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the expense and types the amount."""
    yield from s.open(APP)
    yield s.tap(p["name"])
    yield s.tap("Edit")
    yield from s.refill("Amount", p["amount"])
    yield from s.scroll_to("Save")
    yield s.tap("Save")


@expert("ExpenseAmountOf")
def amount_of(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the amount in the list."""
    yield from s.open(APP)
    yield from s.scroll_to(p["name"])
    amount = s.find(p["name"]).label.split(", ")[1].split(" ")[0]
    yield s.finish(amount.lstrip("$"))


def _delete(s: Screen, row: Element) -> Iterator[str]:
    yield s.tap(row)
    yield s.tap("Delete")
    yield s.tap(lambda element: element.label == "Delete" and element.cls == "Button")


def _rows(s: Screen) -> list[str]:
    """Returns the rows on the screen, in order."""
    return [element.label for element in s.elements if element.clickable and ", $" in element.label]
