"""Bluecoins: a book of expenses and income."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Any

from coach_gym.envs.apps.bluecoins.data import (
    CATEGORIES,
    CURRENCY,
    DATABASE,
    EXPENSE,
    INCOME,
    PACKAGE,
    SCHEMA,
    SIGNS,
    TABLE,
    TYPES,
    Transaction,
    add,
    by_day,
    change,
    day_text,
    money,
    read,
)
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Screen
from coach_gym.envs.phone.screens.pages import FormPage, SearchPage
from coach_gym.envs.phone.screens.pickers import DatePicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Card,
    Chip,
    Column,
    Empty,
    Fab,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Text,
    TextField,
)

COLORS = {EXPENSE: "#c5221f", INCOME: "#188038"}
ITEM_HINTS = {EXPENSE: "Payee or item purchased", INCOME: "Name of income"}
MOST_CENTS = 10**13


class Bluecoins(DatabaseApp):
    """The Bluecoins app."""

    package = PACKAGE
    activity = "com.rammigsoftware.bluecoins.ui.activities.main.MainActivity"
    label = "Bluecoins"
    icon = "piggy_bank_outline"
    color = "#0277bd"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the book."""
        return Book()


class Book(SearchPage):
    """All transactions day by day, the latest first, with the sums of the current month on top."""

    app: Bluecoins

    def build(self) -> View:
        """Lists the transactions below their days."""
        found = read(self.app.db, self.words.strip())
        rows: list[View] = [] if self.searching else [self._month([each for _, each in found])]
        for day, group in by_day(found):
            rows.append(_day_header(day, [each for _, each in group]))
            rows += [self._row(id, each) for id, each in group]
        rows.append(Space(80))  # the last row can be moved out from under the button
        body = ListView(rows) if found else Empty("No transactions", "cash_remove")
        add = Fab("plus", "Add transaction", lambda: self.push(Form()))
        return Scaffold(
            self.title_or_field("Bluecoins", "search_src_text"), body, actions=[self.search_button()], fab=add
        )

    def _month(self, transactions: list[Transaction]) -> View:
        today = self.local_now.date()
        month = [each for each in transactions if (each.day.year, each.day.month) == (today.year, today.month)]
        sums = {kind: sum(each.cents for each in month if each.kind == kind) for kind in TYPES}
        cells = [_sum(TYPES[kind], sums[kind], COLORS[kind]) for kind in (INCOME, EXPENSE)]
        cells.append(_sum("Net", sums[INCOME] - sums[EXPENSE], theme.TEXT))
        heading = Text(f"{today:%B %Y}", 14, theme.PRIMARY, bold=True)
        return Column([Card([heading, Row(cells)])], pad=(12, 4, 12, 4))

    def _row(self, id: int, transaction: Transaction) -> View:
        below = transaction.category_name
        if transaction.notes and transaction.notes != transaction.title:
            below += f" • {transaction.notes}"
        amount = Text(money(transaction.signed), 15, COLORS[transaction.kind], bold=True)
        return ListItem(transaction.title, below, lambda: self.push(Form(id, transaction)), trailing=amount)


def _day_header(day: date, transactions: list[Transaction]) -> View:
    """Returns the heading of a day with what was spent and received."""
    sums = [(kind, sum(each.signed for each in transactions if each.kind == kind)) for kind in (INCOME, EXPENSE)]
    totals = [Text(money(total), 13, COLORS[kind]) for kind, total in sums if total]
    heading = Text(f"{day:%a}, {day_text(day)}", 13, theme.SECONDARY, bold=True, flex=1)
    return Row([heading, *totals], gap=10, pad=(16, 10, 16, 10), bg=theme.SURFACE_VARIANT)


def _sum(label: str, cents: int, color: str) -> View:
    amount = Text(f"{cents / 100:,.2f}", 14, color, bold=True, align="center", max_lines=1)
    return Column([Text(label, 12, theme.SECONDARY, align="center"), amount], flex=1, gap=2)


class Form(FormPage):
    """A new transaction, or (with `id`) one to change."""

    app: Bluecoins

    def __init__(self, id: int | None = None, transaction: Transaction | None = None) -> None:
        super().__init__(id)
        kind, cents, day, item, notes, category = transaction or (EXPENSE, 0, None, "", "", 1)
        self.day: date | None = day
        self.kind, self.category = kind, category if category in CATEGORIES[kind] else min(CATEGORIES[kind])
        self.amount = TextInput(f"{cents / 100:.2f}" if transaction else "")
        self.item, self.notes = TextInput(item), TextInput(notes)
        self.opened()

    def build(self) -> View:
        """Shows type, amount, item, day, category and notes."""
        day = self.day or self.local_now.date()
        picker = DatePicker(day, partial(setattr, self, "day"))
        chips = [Chip(name, kind == self.kind, partial(self._turn, kind)) for kind, name in TYPES.items()]
        rows = [
            Row([Space(flex=1), *chips, Space(flex=1)], gap=10, pad=(16, 4, 16, 8)),
            self._amount(),
            Column([TextField(self.item, ITEM_HINTS[self.kind], "item_name_tv")], pad=(16, 8, 16, 2)),
            ListItem(day_text(day), on_tap=lambda: self.push(picker), leading=Icon("calendar"), min_height=46),
            ListItem(
                CATEGORIES[self.kind][self.category], on_tap=self._choose_category, leading=Icon("shape_outline"),
                min_height=46,
            ),
            Column([TextField(self.notes, "Notes", "notes_tv")], pad=(16, 4, 16, 16)),
        ]  # fmt: skip
        actions = [IconButton("check", "Save", self._save, "menu_save", theme.PRIMARY)]
        if self.id is not None:
            ask = Confirm("Delete transaction?", "", "Delete", self._delete)
            actions.insert(0, IconButton("delete_outline", "Delete", lambda: self.push(ask), "menu_delete"))
        return Scaffold(TYPES[self.kind], ListView(rows), self.pop, actions)

    def _amount(self) -> View:
        """Returns sign, amount and currency; touching the sign turns an expense into an income, and back."""
        color = COLORS[self.kind]
        other = INCOME if self.kind == EXPENSE else EXPENSE
        sign = Text(
            SIGNS[self.kind], 24, color, bold=True, id="sign_tv", on_tap=partial(self._turn, other), width=40,
            height=theme.TOUCH, align="center",
        )  # fmt: skip
        currency = partial(self.notify, f"All accounts are kept in {CURRENCY}")
        field = TextField(
            self.amount, "0.00", "amount_tv", flex=1, color=color, bold=True, on_long=partial(self.focus, self.amount)
        )
        return Row(
            [
                sign,
                field,
                Text(CURRENCY, 16, theme.SECONDARY, bold=True, pad=(10, 10, 10, 10), on_tap=currency),
            ],
            gap=4, pad=(16, 4, 16, 4),
        )  # fmt: skip

    def _turn(self, kind: int) -> None:
        if kind != self.kind:
            self.kind, self.category = kind, min(CATEGORIES[kind])

    def _choose_category(self) -> None:
        names = CATEGORIES[self.kind]
        self.push(Choice("Category", list(names.values()), self._chose_category, names[self.category]))

    def _chose_category(self, name: str) -> None:
        self.category = next(id for id, each in CATEGORIES[self.kind].items() if each == name)

    def values(self) -> dict[str, Any]:
        """Returns the fields of the transaction; the amount is None where none is typed."""
        texts = {"item": self.item.text.strip(), "notes": self.notes.text.strip()}
        cents = _cents(self.amount.text)
        return {"kind": self.kind, "cents": cents, "day": self.day, "category": self.category, **texts}

    def _save(self) -> None:
        changes = self.changes()
        if "cents" in changes and changes["cents"] is None:
            self.notify("Enter an amount")
            return
        if self.id is None:
            now = self.local_now
            add(self.app.db, Transaction(**{**changes, "day": self.day or now.date()}), now.time())
        else:
            change(self.app.db, self.id, changes)
        self.pop()

    def _delete(self) -> None:
        TABLE.delete(self.app.db, self.id)
        self.pop()


def _cents(text: str) -> int | None:
    """Returns the cents of a typed amount; None if it is not an amount."""
    try:
        cents = round(float(text.strip().replace(",", "")) * 100)
    except (ValueError, OverflowError):
        return None
    return cents if 0 < cents < MOST_CENTS else None


APP = Bluecoins
