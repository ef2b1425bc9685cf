"""Families that begin with a note in Markor whose lines belong into another app."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.apps.expense import world_tasks as expense
from coach_gym.envs.apps.expense.app import CATEGORIES
from coach_gym.envs.apps.markor.app import NOTEBOOK
from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

LABELS = ("Title", "Description", "Servings", "Preparation time", "Ingredients", "Directions")
MARKS = ("Reimbursable", "Deductible", "Shared", "Business")


class ExpenseAddMultipleFromMarkor(expense.ExpenseAddMultiple):
    """Add those expenses of a long note that carry a mark."""

    apps = ("Markor", "Pro Expense")
    template = (
        "The note {note} in Markor lists expenses: name, amount, category and remark. Enter those with the remark "
        "{mark} into Pro Expense, with name, amount and category."
    )
    difficulty = "hard"
    budget = 50

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a long note in which two expenses carry the mark."""
        mark, *others = rng.sample(MARKS, len(MARKS))
        drawn = cls.draw(rng, rng.randint(10, 16))
        new, listed, ledger = drawn[:2], drawn[:-3], drawn[-3:]
        marks = [mark, mark, others[0], *(rng.choice([*others, "-"]) for _ in listed[3:])]
        lines = [
            f"{name} | ${cents / 100:.2f} | {CATEGORIES[category]} | {remark}"
            for (name, cents, category, _), remark in zip(listed, marks, strict=True)
        ]
        order = rng.sample(range(len(lines)), len(lines))
        new = [listed[i] for i in order if i < len(new)]
        files = {"note": "my_expenses.txt", "lines": [lines[i] for i in order]}
        return {**files, "mark": mark, "other": others[0], "new": new, "entries": ledger}

    @property
    def goal(self) -> str:
        """The instruction, with the name of the note and the mark."""
        return self.template.format(**self.params)

    def setup(self, device: Device) -> None:
        """Writes the ledger and the note."""
        super().setup(device)
        device.write(f"{NOTEBOOK}/{self.params['note']}", "\n".join(self.params["lines"]).encode())

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another mark."""
        return {**self.params, "mark": self.params["other"]}


class RecipeAddMultipleRecipesFromMarkor(recipes.RecipeAddMultipleRecipes):
    """Add all recipes of a note; another note holds others."""

    apps = ("Markor", "Broccoli")
    template = "Add the recipes in the note {note} of Markor to Broccoli."
    budget = 72

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two recipes for the note, two for another note, and a book."""
        drawn = cls.draw(rng, 7)
        new, other, book = drawn[:2], drawn[2:4], drawn[4:]
        return {
            "note": "recipes.txt",
            "other": "old_recipes.txt",
            "new": new,
            "noted": new,
            "old": other,
            "recipes": book,
        }

    @property
    def goal(self) -> str:
        """The instruction, with the name of the note."""
        return self.template.format(**self.params)

    def setup(self, device: Device) -> None:
        """Writes the book and both notes."""
        super().setup(device)
        for name, listed in ((self.params["note"], self.params["noted"]), (self.params["other"], self.params["old"])):
            device.write(f"{NOTEBOOK}/{name}", "\n\n".join(map(_card, listed)).encode())

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the other note."""
        return {**self.params, "note": self.params["other"]}


def _card(recipe: recipes.Recipe) -> str:
    return "\n".join(f"{label}: {text}" for label, text in zip(LABELS, recipe, strict=True))


class RecipeAddMultipleRecipesFromMarkor2(RecipeAddMultipleRecipesFromMarkor):
    """Add those recipes of a long note that take a given time."""

    template = "Add those recipes of the note {note} in Markor that take {time} to prepare to Broccoli."

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a long note in which two recipes take the time asked for."""
        time, *others = rng.sample(recipes.TIMES, len(recipes.TIMES))
        drawn = cls.draw(rng, rng.randint(9, 13))
        noted, book, old = drawn[:-3], drawn[-3:-1], drawn[-1:]
        for i, recipe in enumerate(noted):
            recipe[3] = time if i < 2 else others[0] if i == 2 else rng.choice(others)
        noted = rng.sample(noted, len(noted))
        return {
            "note": "recipes.txt", "other": "old_recipes.txt", "time": time, "other_time": others[0],
            "new": [recipe for recipe in noted if recipe[3] == time], "noted": noted, "old": old, "recipes": book,
        }  # fmt: skip

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another time."""
        return {**self.params, "time": self.params["other_time"]}


TASKS: tuple[type[Task], ...] = (
    ExpenseAddMultipleFromMarkor, RecipeAddMultipleRecipesFromMarkor, RecipeAddMultipleRecipesFromMarkor2,
)  # fmt: skip
