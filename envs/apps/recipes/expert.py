"""Experts of the Broccoli recipe app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Broccoli"
FIELDS = ("Title", "Description", "Servings", "Preparation time", "Ingredients", "Directions")


@expert("RecipeAddSingleRecipe", "RecipeAddMultipleRecipes")
def add(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds one recipe after the other."""
    yield from s.open(APP)
    for recipe in p["new"]:
        yield s.tap("New recipe")
        for field, text in zip(FIELDS, recipe, strict=True):
            yield from s.scroll_to(field)
            yield from s.fill(field, text)
        yield s.tap("Save")


@expert(
    "RecipeDeleteSingleRecipe",
    "RecipeDeleteSingleWithRecipeWithNoise",
    "RecipeDeleteMultipleRecipes",
    "RecipeDeleteMultipleRecipesWithNoise",
)
def delete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Deletes the recipes by title."""
    yield from s.open(APP)
    for name in p["names"]:
        yield from s.scroll_to(name)
        yield from _delete(s, s.find(name))


@expert("RecipeDeleteMultipleRecipesWithConstraint")
def delete_all_with(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens one recipe after the other and looks at its ingredients."""
    yield from s.open(APP)
    titles: dict[str, None] = {}
    yield from s.sweep(lambda: titles.update(dict.fromkeys(row.label for row in rows(s))))
    for title in titles:
        yield from s.follow(title)
        yield from show_below(s, "Ingredients")
        if p["ingredient"] in below(s, "Ingredients").split(", "):
            yield from delete_open(s)
        else:
            yield s.tap("Navigate up")


@expert("RecipeDeleteDuplicateRecipes", "RecipeDeleteDuplicateRecipes2")
def delete_duplicate(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Copies stand next to each other: the list is sorted by title."""
    yield from s.open(APP)
    while True:
        labels = [row.label for row in rows(s)]
        twice = [label for label in labels if labels.count(label) > 1]
        before = s.text
        if twice:
            yield from _delete(s, s.find(twice[0]))
            break
        yield s.scroll("down")
        if s.text == before:
            break


@expert("RecipeDeleteDuplicateRecipes3")
def delete_exact_copy(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens all that look alike and deletes the one that was seen before."""
    yield from s.open(APP)
    while not (alike := [row.label for row in rows(s) if [r.label for r in rows(s)].count(row.label) > 1]):
        yield s.scroll("down")
    yield s.tap("Search")
    yield s.type(alike[0].split(", ")[0])
    yield s.back()  # puts the keyboard away
    seen: set[str] = set()
    for place in range(len(rows(s))):
        yield s.tap(rows(s)[place])
        if s.text in seen:
            yield from delete_open(s)
            break
        seen.add(s.text)
        yield s.tap("Navigate up")


@expert("RecipeServingsOf")
def servings_of(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Opens the recipe and reads how many it serves."""
    yield from s.open(APP)
    yield from s.scroll_to(p["name"])
    yield s.tap(p["name"])
    yield s.finish(below(s, "Servings").split(" ")[0])


def rows(s: Screen) -> list[Element]:
    """Returns the recipes on the page."""
    return [element for element in s.elements if element.clickable and ", " in element.label]


def show_below(s: Screen, heading: str) -> Iterator[str]:
    """Scrolls to what stands below a heading of the open recipe."""
    yield from s.scroll_to(heading)
    if s.elements[-1].label == heading:
        yield s.scroll("down")


def below(s: Screen, heading: str) -> str:
    """Returns what stands below a heading of the open recipe."""
    labels = [element.label for element in s.elements]
    return labels[labels.index(heading) + 1]


def _delete(s: Screen, row: Element) -> Iterator[str]:
    yield s.tap(row)
    yield from delete_open(s)


def delete_open(s: Screen) -> Iterator[str]:
    """Deletes the recipe that is open."""
    yield s.tap("More options")
    yield s.tap("Delete")
    yield s.tap("Delete")
