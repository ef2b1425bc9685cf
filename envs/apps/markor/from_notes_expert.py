"""Experts of the tasks that begin with a note in Markor: they read it and type its contents elsewhere."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.expense import expert as expense
from coach_gym.envs.apps.markor import expert as markor
from coach_gym.envs.apps.recipes import expert as recipes
from coach_gym.envs.tasks.screen import Screen, expert


@expert("ExpenseAddMultipleFromMarkor")
def add_marked_expenses(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the note and adds the expenses with the mark."""
    text = yield from _read(s, p["note"])
    ids = {name: id for id, name in expense.CATEGORIES.items()}
    rows = [line.split(" | ") for line in text.splitlines()]
    new = [
        (name, round(100 * float(amount.lstrip("$"))), ids[category], "")
        for name, amount, category, remark in rows
        if remark == p["mark"]
    ]
    yield from expense.add(s, {"new": new})


@expert("RecipeAddMultipleRecipesFromMarkor", "RecipeAddMultipleRecipesFromMarkor2")
def add_noted_recipes(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the note and adds its recipes, or those that take the time asked for."""
    text = yield from _read(s, p["note"])
    cards = [dict(line.split(": ", 1) for line in card.splitlines()) for card in text.split("\n\n")]
    wanted = [card for card in cards if p.get("time") in (None, card["Preparation time"])]
    yield from recipes.add(s, {"new": [tuple(card[field] for field in recipes.FIELDS) for card in wanted]})


def _read(s: Screen, name: str) -> Generator[str, None, str]:
    """Opens a note and returns its text."""
    yield from s.open("Markor")
    yield from markor.open_note(s, name)
    return s.find(markor.EDITOR).value
