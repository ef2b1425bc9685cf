"""Pro Expense: a ledger of expenses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from coach_gym.envs.phone import epoch
from coach_gym.envs.phone.app import Confirm, DatabaseApp, Screen
from coach_gym.envs.phone.records import Table
from coach_gym.envs.phone.screens.pages import FormPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import DECIMAL, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Chip,
    Column,
    Empty,
    Fab,
    Grid,
    Header,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Text,
    TextField,
)

PACKAGE = "com.arduia.expense"
DATABASE = f"/data/data/{PACKAGE}/databases/accounting.db"
SCHEMA = """
CREATE TABLE expense (
    expense_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT, amount INTEGER NOT NULL,
    category INTEGER NOT NULL, note TEXT, created_date INTEGER NOT NULL, modified_date INTEGER NOT NULL
);
"""
TABLE = Table("expense", "expense_id")
CATEGORIES = {
    1: "Others", 2: "Income", 3: "Food", 4: "Housing", 5: "Social", 6: "Entertainment", 7: "Transportation",
    8: "Clothes", 9: "Health Care", 10: "Education", 11: "Donation",
}  # fmt: skip


def dollars(cents: int) -> str:
    """Returns an amount as the app shows it, e.g. `$12.50`."""
    return f"${cents / 100:.2f}"


class Expense(DatabaseApp):
    """The Pro Expense app."""

    package = PACKAGE
    activity = "com.arduia.expense.ui.MainActivity"
    label = "Pro Expense"
    icon = "cash_multiple"
    color = "#2e7d32"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the ledger."""
        return Log()


class Log(Screen):
    """All expenses, the latest first, with their sum."""

    app: Expense

    def build(self) -> View:
        """Lists the expenses below their sum."""
        rows = self.app.db.execute(
            "SELECT expense_id, name, amount, category FROM expense ORDER BY created_date DESC, expense_id DESC"
        ).fetchall()
        items = [self._item(*row) for row in rows]
        body = ListView(items) if items else Empty("No expenses yet", "cash_remove")
        total = Text(f"Total {dollars(sum(row[2] for row in rows))}", 15, theme.SECONDARY, pad=(16, 2, 16, 8))
        add = Fab("plus", "Add expense", lambda: self.push(Form()), "fb_add")
        return Scaffold("Pro Expense", Column([total, body], flex=1), fab=add)

    def _item(self, id: int, name: str, amount: int, category: int) -> View:
        subtitle = f"{dollars(amount)} {CATEGORIES.get(category, 'Others')}"
        return ListItem(name or "", subtitle, lambda: self.push(Details(id)))


class Details(Screen):
    """A sheet with everything about one expense, to edit or delete it."""

    app: Expense
    dialog = True
    placement = "bottom"

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the expense with its buttons."""
        expense = TABLE.read(self.app.db, self.id) or {"name": "", "amount": 0, "category": 1, "note": ""}
        ask = Confirm("Delete expense?", "", "Delete", self._delete)
        buttons = [
            IconButton("pencil_outline", "Edit", lambda: self.replace(Form(self.id, expense)), "btn_edit"),
            IconButton("delete_outline", "Delete", lambda: self.push(ask), "btn_delete", theme.ERROR),
            IconButton("close", "Close", self.pop, "btn_close"),
        ]
        note = expense["note"]
        return Column(
            [
                Row([Text(expense["name"] or "", 18, bold=True, flex=1), *buttons]),
                Text(f"Amount {dollars(expense['amount'])}", 15),
                Text(f"Category {CATEGORIES.get(expense['category'], 'Others')}", 15),
                Text(f"Note {note}", 15) if note else Space(0),
            ],
            gap=6, pad=(18, 12, 10, 18), bg=theme.SURFACE, radius=16,
        )  # fmt: skip

    def _delete(self) -> None:
        TABLE.delete(self.app.db, self.id)
        self.pop()
        self.notify("Expense deleted")


class Form(FormPage):
    """A new expense, or (with `id`) one to edit, which is stored as `expense`."""

    app: Expense

    def __init__(self, id: int | None = None, expense: Mapping[str, Any] | None = None) -> None:
        super().__init__(id)
        expense = expense or {"name": "", "note": "", "category": 1}
        amount = f"{expense['amount'] / 100:.2f}".rstrip("0").rstrip(".") if "amount" in expense else ""
        self.name, self.amount = TextInput(expense["name"] or ""), TextInput(amount, allowed=DECIMAL)
        self.note, self.category = TextInput(expense["note"] or ""), expense["category"]
        self.opened()

    def build(self) -> View:
        """Shows the fields and the categories."""
        chips = [
            Chip(name, id == self.category, partial(setattr, self, "category", id)) for id, name in CATEGORIES.items()
        ]
        fields = [
            TextField(self.name, "Name", "edt_name"),
            TextField(self.amount, "Amount", "edt_amount"),
            TextField(self.note, "Note", "edt_note"),
            Header("Category"),
            Grid(chips, 3, gap=6),
            Button("Save", self._save, "btn_save"),
        ]
        title = "Add expense" if self.id is None else "Edit expense"
        return Scaffold(title, ListView([Column(fields, gap=10, pad=16)]), on_back=self.pop)

    def values(self) -> dict[str, Any]:
        """Returns the columns that the form shows; the amount is None where none is typed."""
        name, note = self.name.text.strip(), self.note.text
        return {"name": name, "amount": _cents(self.amount.text), "category": self.category, "note": note}

    def _save(self) -> None:
        if not self.name.text.strip() or _cents(self.amount.text) is None:
            self.notify("Enter an amount" if self.name.text.strip() else "Enter a name")
            return
        changes, now = self.changes(), epoch.to_millis(self.now)
        if self.id is None:
            TABLE.insert(self.app.db, {**changes, "modified_date": now, "created_date": now})
        else:
            TABLE.update(self.app.db, self.id, {**changes, "modified_date": now})
        self.pop()


def _cents(text: str) -> int | None:
    """Returns the cents of an amount typed in dollars; None if it is not an amount."""
    try:
        cents = round(float(text.strip().lstrip("$")) * 100)
    except (ValueError, OverflowError):
        return None
    return cents if 0 < cents < 10**12 else None


APP = Expense

__all__ = ["APP", "CATEGORIES", "DATABASE", "Expense", "dollars"]
