"""Families that begin with a picture in Simple Gallery Pro: receipts, and lists to copy into another app."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, ClassVar

from coach_gym.envs.apps.expense import world_tasks as expense
from coach_gym.envs.apps.expense.app import CATEGORIES
from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.file_tree import Tree, read_tree
from coach_gym.envs.tasks.pictures import text_picture
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, slugs

DCIM, DOWNLOAD = "/sdcard/DCIM", "/sdcard/Download"
HEADER = "Date, Item, Amount"
SHOPS = ("Corner Electronics", "Harbour Hardware", "Old Town Stationers", "The Cable Shop", "Northside Computers")
ITEMS = (
    "USB Cable", "Desk Lamp", "Keyboard", "Wireless Mouse", "Webcam", "Printer Paper", "Phone Case", "Battery Pack",
    "Monitor Stand", "Headphones", "Memory Card", "Power Strip",
)  # fmt: skip
NOTES = ("Paid in cash", "Paid by card", "Shared with a friend", "Keep the receipt", "Monthly")


def receipt(rng: ParamRng, count: int) -> list[str]:
    """Draws the lines of a receipt: shop, header and `count` transactions."""
    days = sorted(date(2023, 1, 1) + timedelta(rng.randrange(280)) for _ in range(count))
    lines = [f"{day}, {item}, ${_price(rng)}" for day, item in zip(days, rng.sample(ITEMS, count), strict=True)]
    return [rng.choice(SHOPS), HEADER, *lines]


def _price(rng: ParamRng) -> str:
    return f"{rng.randint(400, 14_999) / 100:.2f}"


def write_pictures(device: Device, pictures: Mapping[str, list[str]]) -> None:
    """Writes pictures of lines of text, by name, into DCIM."""
    for name, lines in pictures.items():
        device.write(f"{DCIM}/{name}", text_picture(lines, name))


class SaveCopyOfReceiptTaskEval(Task):
    """Copy one of several pictures to another folder; the original must stay."""

    apps = ("Simple Gallery Pro",)
    template = "In Simple Gallery Pro, save a copy of {file_name}, which is in DCIM, in Download under the same name."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to four receipts, the first of which is to be copied."""
        names = [f"receipt_{slug}.jpg" for slug in slugs(rng, rng.randint(2, 4))]
        return {"file_name": names[0], "pictures": {name: receipt(rng, 1) for name in rng.sample(names, len(names))}}

    def setup(self, device: Device) -> None:
        """Puts the pictures into DCIM."""
        write_pictures(device, self.params["pictures"])
        self.before = read_tree(device, DCIM)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the copy alone in Download, and DCIM untouched."""
        name = self.params["file_name"]
        copied = read_tree(device, DOWNLOAD) == {name: self.before[name]}
        return float(copied and read_tree(device, DCIM) == self.before)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another picture."""
        others = [name for name in self.params["pictures"] if name != self.params["file_name"]]
        return {**self.params, "file_name": rng.choice(sorted(others))}


class MarkorTranscribeReceipt(markor.NotesTask):
    """Type the transactions of a receipt into a note."""

    apps: ClassVar[tuple[str, ...]] = ("Simple Gallery Pro", "Markor")
    template = (
        "Look at receipt.png in Simple Gallery Pro (folder DCIM) and create the note {file_name} in Markor with its "
        'transactions: first the header "Date, Item, Amount", then one transaction a line as on the receipt.'
    )
    difficulty = "hard"
    budget = 24

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the receipt, older ones, and notes that exist."""
        lines = receipt(rng, rng.randint(1, 4))
        old = {f"receipt_{slug}.png": receipt(rng, 2) for slug in slugs(rng, rng.randint(0, 2))}
        files = markor.notes(rng, 1, 4)["files"]
        return {
            "file_name": "receipt.md", "text": "\n".join(lines[1:]), "files": files,
            "pictures": {**old, "receipt.png": lines},
        }  # fmt: skip

    def setup(self, device: Device) -> None:
        """Writes the notes and the pictures."""
        super().setup(device)
        write_pictures(device, self.params["pictures"])

    def expected(self, tree: Tree) -> Tree:
        """Adds the note with the receipt's lines."""
        return {**tree, self.params["file_name"]: self.params["text"].encode()}

    def normal(self, data: bytes) -> bytes:
        """Drops spaces around commas and empty lines."""
        lines = [[field.strip() for field in line.split(b",")] for line in data.splitlines() if line.strip()]
        return b"\n".join(b", ".join(fields) for fields in lines)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with one digit more."""
        return self.but(text=self.params["text"] + "9")


class ExpenseAddMultipleFromGallery(expense.ExpenseAddMultiple):
    """Add the three expenses of a picture; older pictures show others."""

    apps = ("Simple Gallery Pro", "Pro Expense")
    template = "Add the expenses in the picture expenses.jpg to Pro Expense. It is in Simple Gallery Pro, folder DCIM."
    difficulty = "hard"
    budget = 70

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws new expenses for the picture, and others for older pictures and the ledger."""
        drawn = [[name, cents, category, rng.choice(NOTES)] for name, cents, category, _ in cls.draw(rng, 12)]
        new, ledger, *older = (drawn[i : i + 3] for i in range(0, 12, 3))
        pictures = {f"old_expenses_{i}.jpg": _table(rows) for i, rows in enumerate(older[: rng.randint(1, 2)])}
        return {"new": new, "entries": ledger, "pictures": {**pictures, "expenses.jpg": _table(new)}}

    def setup(self, device: Device) -> None:
        """Writes the ledger and the pictures."""
        super().setup(device)
        write_pictures(device, self.params["pictures"])


def _table(entries: list[expense.Entry]) -> list[str]:
    lines = []
    for name, cents, category, note in entries:
        lines += [f"Expense: {name}", f"  Amount: ${cents / 100:.2f}", f"  Category: {CATEGORIES[category]}"]
        lines += [f"  Note: {note}", ""]
    return lines[:-1]


class RecipeAddMultipleRecipesFromImage(recipes.RecipeAddMultipleRecipes):
    """Add the two recipes of a picture."""

    apps = ("Simple Gallery Pro", "Broccoli")
    template = "Add the recipes in the picture recipes.jpg to Broccoli. It is in Simple Gallery Pro, folder DCIM."
    budget = 72

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws recipes, and writes the new ones into a picture."""
        params = super().sample(rng)
        return {**params, "pictures": {"recipes.jpg": [line for recipe in params["new"] for line in _card(recipe)]}}

    def setup(self, device: Device) -> None:
        """Writes the recipes and the picture."""
        super().setup(device)
        write_pictures(device, self.params["pictures"])


def _card(recipe: recipes.Recipe) -> list[str]:
    labels = ("Recipe", "  Description", "  Servings", "  Preparation time", "  Ingredients", "  Directions")
    return [*(f"{label}: {text}" for label, text in zip(labels, recipe, strict=True)), ""]


TASKS: tuple[type[Task], ...] = (
    SaveCopyOfReceiptTaskEval, MarkorTranscribeReceipt, ExpenseAddMultipleFromGallery,
    RecipeAddMultipleRecipesFromImage,
)  # fmt: skip
