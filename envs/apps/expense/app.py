"""Pro Expense: a ledger of what was spent."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.phone import epoch
from coach_gym.envs.phone.app import Confirm, DatabaseApp, Screen
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
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
CATEGORIES = {
    1: "Others", 2: "Income", 3: "Food", 4: "Housing", 5: "Social", 6: "Entertainment", 7: "Transportation",
    8: "Clothes", 9: "Health Care", 10: "Education", 11: "Donation",
}  # fmt: skip


def dollars(cents: int) -> str:
    """An amount as the app shows it, e.g. `$12.50`."""
    return f"${cents / 100:.2f}"


class Expense(DatabaseApp):
    package = PACKAGE
    activity = "com.arduia.expense.ui.MainActivity"
    label = "Pro Expense"
    icon = "cash_multiple"
    color = "#2e7d32"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        return Log()


class Log(Screen):
    """All expenses, the latest first, with their sum."""

    app: Expense

    def build(self) -> View:
        rows = self.app.db.execute(
            "SELECT expense_id, name, amount, category FROM expense ORDER BY created_date DESC, expense_id DESC"
        ).fetchall()
        items = [self._item(*row) for row in rows]
        body = ListView(items) if items else Empty("No expenses yet", "cash_remove")
        total = Text(f"Total {dollars(sum(row[2] for row in rows))}", 15, theme.SECONDARY, pad=(16, 2, 16, 8))
        return Scaffold(
            "Pro Expense", Column([total, body], flex=1), fab=Fab("plus", "Add expense", self._add, "fb_add")
        )

    def _item(self, id: int, name: str, amount: int, category: int) -> View:
        subtitle = f"{dollars(amount)} {CATEGORIES.get(category, 'Others')}"
        return ListItem(name or "", subtitle, partial(self._open, id))

    def _open(self, id: int) -> None:
        self.push(Details(id))

    def _add(self) -> None:
        self.push(Form())


class Details(Screen):
    """A sheet with everything about one expense, to edit or delete it."""

    app: Expense
    dialog = True
    placement = "bottom"

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        row = self.app.db.execute("SELECT name, amount, category, note FROM expense WHERE expense_id = ?", (self.id,))
        name, amount, category, note = row.fetchone() or ("", 0, 1, "")
        buttons = [
            IconButton("pencil_outline", "Edit", self._edit, "btn_edit"),
            IconButton("delete_outline", "Delete", self._ask, "btn_delete", theme.ERROR),
            IconButton("close", "Close", self.pop, "btn_close"),
        ]
        return Column(
            [
                Row([Text(name, 18, bold=True, flex=1), *buttons]),
                Text(f"Amount {dollars(amount)}", 15),
                Text(f"Category {CATEGORIES.get(category, 'Others')}", 15),
                Text(f"Note {note}", 15) if note else Space(0),
            ],
            gap=6, pad=(18, 12, 10, 18), bg=theme.SURFACE, radius=16,
        )  # fmt: skip

    def _edit(self) -> None:
        self.replace(Form(self.id))

    def _ask(self) -> None:
        self.push(Confirm("Delete expense?", "", "Delete", self._delete))

    def _delete(self) -> None:
        self.app.db.execute("DELETE FROM expense WHERE expense_id = ?", (self.id,))
        self.pop()
        self.notify("Expense deleted")


class Form(Screen):
    """A new expense, or (with `id`) one to edit."""

    app: Expense

    def __init__(self, id: int | None = None) -> None:
        super().__init__()
        self.id = id
        self.name, self.amount, self.note = TextInput(), TextInput(), TextInput()
        self.category = 1
        self.loaded = id is None

    def build(self) -> View:
        self._load()
        chips = [Chip(name, id == self.category, partial(self._choose, id)) for id, name in CATEGORIES.items()]
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

    def _load(self) -> None:
        if self.loaded:
            return
        row = self.app.db.execute("SELECT name, amount, category, note FROM expense WHERE expense_id = ?", (self.id,))
        name, amount, self.category, note = row.fetchone()
        self.name.set(name)
        self.amount.set(f"{amount / 100:g}")
        self.note.set(note or "")
        self.loaded = True

    def _choose(self, category: int) -> None:
        self.category = category

    def _save(self) -> None:
        cents = _cents(self.amount.text)
        name = self.name.text.strip()
        if not name or cents is None:
            self.notify("Enter a name" if not name else "Enter an amount")
            return
        now = epoch.to_millis(self.now)
        values = (name, cents, self.category, self.note.text, now)
        if self.id is None:
            self.app.db.execute(
                "INSERT INTO expense(name, amount, category, note, modified_date, created_date) VALUES (?,?,?,?,?,?)",
                (*values, now),
            )
        else:
            self.app.db.execute(
                "UPDATE expense SET name=?, amount=?, category=?, note=?, modified_date=? WHERE expense_id=?",
                (*values, self.id),
            )
        self.pop()


def _cents(text: str) -> int | None:
    """An amount typed in dollars, or None if it is none."""
    try:
        cents = round(float(text.strip().lstrip("$")) * 100)
    except (ValueError, OverflowError):
        return None
    return cents if 0 < cents < 10**12 else None


APP = Expense

__all__ = ["APP", "CATEGORIES", "DATABASE", "Expense", "dollars"]
