"""Families of the Broccoli recipe app."""

from __future__ import annotations

import random
import sqlite3
from typing import Any, ClassVar

from coach_gym.envs.apps.recipes.app import DATABASE
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.records import AddRecords, DeleteCopy, DeleteRecords, DrawnRecords
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Recipe = list  # [title, description, servings, preparation time, ingredients, directions]: JSON
COLUMNS = ("title", "description", "servings", "preparationTime", "ingredients", "directions")
DESCRIPTIONS = ("Quick and easy", "For guests", "A family dish", "Light and fresh", "Good for winter", "Spicy")
TIMES = ("10 mins", "20 mins", "30 mins", "45 mins", "1 hr", "2 hrs")
INGREDIENTS = ("onion", "garlic", "rice", "beans", "tomato", "butter", "cheese", "pepper", "lemon", "basil", "oil")
DIRECTIONS = ("Mix and bake.", "Cook on low heat.", "Stir well and serve cold.", "Fry and season.", "Boil and drain.")


class CookBookTask(DrawnRecords):
    """A task on a cook book that holds `params["recipes"]` at the start."""

    apps: ClassVar[tuple[str, ...]] = ("Broccoli",)
    database = DATABASE
    given = "recipes"

    @classmethod
    def draw(cls, rng: ParamRng, count: int) -> list[Recipe]:
        """Returns recipes that share no title."""
        return [_recipe(rng, title) for title in words.DISHES.draw_many(rng, count)]

    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Adds the recipes of the start."""
        columns, marks = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
        db.executemany(f"INSERT INTO recipes({columns}) VALUES ({marks})", self.params["recipes"])

    def stored(self, db: sqlite3.Connection) -> list[tuple]:
        """Returns the texts of all recipes."""
        columns = ", ".join(f"coalesce({column}, '')" for column in COLUMNS)
        return db.execute(f"SELECT {columns} FROM recipes").fetchall()


def _recipe(rng: ParamRng, title: str) -> Recipe:
    servings = f"{rng.randint(1, 8)} servings"
    ingredients = ", ".join(rng.sample(INGREDIENTS, 2))
    return [title, rng.choice(DESCRIPTIONS), servings, rng.choice(TIMES), ingredients, rng.choice(DIRECTIONS)]


class RecipeAddSingleRecipe(AddRecords, CookBookTask):
    """One recipe with title, description, servings, time, ingredients and directions."""

    template = "Add this recipe: {spoken}."
    difficulty = "medium"
    budget = 32
    most = 4
    separator = "; then "

    @staticmethod
    def spoken(record: Recipe) -> str:
        """Returns a recipe as goals spell it out."""
        title, description, servings, time, ingredients, directions = record
        return (
            f"title {title}, description {description}, servings {servings}, preparation time {time}, "
            f"ingredients {ingredients}, directions {directions}"
        )

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the last recipe with other servings."""
        *kept, (title, description, servings, time, *rest) = self.params["new"]
        return {**self.params, "new": [*kept, [title, description, "9 servings", time, *rest]]}


class RecipeAddMultipleRecipes(RecipeAddSingleRecipe):
    """Two recipes."""

    template = "Add these recipes: {spoken}."
    difficulty = "hard"
    budget = 64
    count = 2


class RecipeDeleteSingleRecipe(DeleteRecords, CookBookTask):
    """One recipe of a short book."""

    template = "Delete the recipe {names}."
    budget = 14
    noise = (1, 4)


class RecipeDeleteSingleWithRecipeWithNoise(RecipeDeleteSingleRecipe):
    """One recipe of a book that has to be scrolled."""

    budget = 24
    noise = (14, 22)


class RecipeDeleteMultipleRecipes(RecipeDeleteSingleRecipe):
    """Three recipes of a short book."""

    template = "Delete these recipes: {names}."
    budget = 34
    count, noise = 3, (1, 3)


class RecipeDeleteMultipleRecipesWithNoise(RecipeDeleteMultipleRecipes):
    """Three recipes of a book that has to be scrolled."""

    difficulty = "medium"
    budget = 60
    noise = (14, 20)


class RecipeDeleteMultipleRecipesWithConstraint(CookBookTask):
    """All recipes with an ingredient, which only the recipes' own pages show."""

    template = "Delete every recipe that has {ingredient} among its ingredients."
    difficulty = "hard"
    budget = 50

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws five or six recipes, of which two use the ingredient."""
        drawn = cls.draw(rng, rng.randint(5, 6))
        ingredient, *others = rng.sample(INGREDIENTS, len(INGREDIENTS))
        for i, recipe in enumerate(drawn):
            recipe[4] = ", ".join([ingredient, others[0]] if i < 2 else rng.sample(others, 2))
        return {"ingredient": ingredient, "recipes": rng.sample(drawn, len(drawn))}

    def expected(self) -> list[Recipe]:
        """Returns the recipes without the ingredient."""
        return [recipe for recipe in self.params["recipes"] if self.params["ingredient"] not in recipe[4].split(", ")]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns an ingredient of a recipe that has to stay."""
        other = self.expected()[0][4].split(", ")
        return {**self.params, "ingredient": next(i for i in other if i != self.params["ingredient"])}


class RecipeDeleteDuplicateRecipes(DeleteCopy, CookBookTask):
    """One of two equal recipes."""

    template = "One recipe is in the book twice. Delete one of the two copies."
    budget = 14
    noise = 4


class RecipeDeleteDuplicateRecipes2(RecipeDeleteDuplicateRecipes):
    """The same in a book that has to be scrolled."""

    difficulty = "medium"
    budget = 30
    noise = 16


class RecipeDeleteDuplicateRecipes3(RecipeDeleteDuplicateRecipes2):
    """The same where other recipes share title and description and differ in the rest."""

    template = (
        "One recipe is in the book twice, word for word; others only look like it in the list. "
        "Delete one of the two copies."
    )
    difficulty = "hard"
    budget = 50

    @classmethod
    def variations(cls, rng: ParamRng, twice: Recipe) -> list[Recipe]:
        """Returns three recipes of the same title and description that differ below."""
        title, description, *_ = twice
        return [[title, description, f"{10 + i} servings", *_recipe(rng, title)[3:]] for i in range(3)]


class RecipeServingsOf(CookBookTask):
    """The servings of a recipe."""

    template = "How many servings does the recipe {name} make? Answer with the number."
    kind = "query"
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to six recipes, each for another number of people, and picks one."""
        drawn = cls.draw(rng, rng.randint(3, 6))
        for i, recipe in enumerate(drawn):
            recipe[2] = f"{i + 1} servings"
        rng.shuffle(drawn)
        return {"name": drawn[0][0], "recipes": rng.sample(drawn, len(drawn))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the number; the book must not have changed."""
        servings = next(recipe[2] for recipe in self.params["recipes"] if recipe[0] == self.params["name"])
        right = (answer or "").strip() in (servings, servings.split(" ")[0])
        return super().evaluate(device, answer) * float(right)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another recipe."""
        return {**self.params, "name": next(r[0] for r in self.params["recipes"] if r[0] != self.params["name"])}


TASKS: tuple[type[Task], ...] = (
    RecipeAddSingleRecipe, RecipeAddMultipleRecipes, RecipeDeleteSingleRecipe, RecipeDeleteSingleWithRecipeWithNoise,
    RecipeDeleteMultipleRecipes, RecipeDeleteMultipleRecipesWithNoise, RecipeDeleteMultipleRecipesWithConstraint,
    RecipeDeleteDuplicateRecipes, RecipeDeleteDuplicateRecipes2, RecipeDeleteDuplicateRecipes3, RecipeServingsOf,
)  # fmt: skip
