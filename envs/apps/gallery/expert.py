"""Experts of the families that begin in Simple Gallery Pro.

No screen text says what a picture shows. The experts open it as an agent must, but take its text from the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.expense import expert as expense
from coach_gym.envs.apps.markor import expert as markor
from coach_gym.envs.apps.recipes import expert as recipes
from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]
APP = "Simple Gallery Pro"


def look_at(s: Screen, name: str) -> Iterator[str]:
    """Opens a picture of DCIM on the whole screen."""
    yield from s.open(APP)
    yield s.tap("DCIM")
    yield from s.scroll_to(name)
    yield s.tap(name)


@expert("SaveCopyOfReceiptTaskEval")
def save_copy(s: Screen, p: Params) -> Iterator[str]:
    """Copies a picture to the downloads."""
    yield from look_at(s, p["file_name"])
    yield s.tap("More options")
    yield s.tap("Copy to")
    yield s.tap("Other folder")
    yield from s.follow("Download", "OK")


@expert("MarkorTranscribeReceipt")
def transcribe_receipt(s: Screen, p: Params) -> Iterator[str]:
    """Looks at the receipt and types its lines into a note."""
    yield from look_at(s, "receipt.png")
    yield from s.open("Markor")
    yield from markor.new_note(s, p["file_name"])
    yield from s.fill(markor.EDITOR, p["text"])
    yield s.tap("Save")


@expert("ExpenseAddMultipleFromGallery")
def add_expenses(s: Screen, p: Params) -> Iterator[str]:
    """Looks at the picture and adds its expenses."""
    yield from look_at(s, "expenses.jpg")
    yield from expense.add(s, p)


@expert("RecipeAddMultipleRecipesFromImage")
def add_recipes(s: Screen, p: Params) -> Iterator[str]:
    """Looks at the picture and adds its recipes."""
    yield from look_at(s, "recipes.jpg")
    yield from recipes.add(s, p)
