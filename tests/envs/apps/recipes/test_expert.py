"""Broccoli's experts on books that tasks do not draw."""

import pytest

from coach_gym.envs.apps.recipes import expert
from coach_gym.envs.apps.recipes.world_tasks import (
    RecipeDeleteDuplicateRecipes3,
    RecipeDeleteMultipleRecipesWithConstraint,
    RecipeServingsOf,
)
from tests.envs.expert_at_work import work


def recipe(title, servings="2 servings", ingredients="rice, beans", directions="Boil."):
    return [title, "Good", servings, "10 mins", ingredients, directions]


BOOK = [recipe(f"Dish {number:02d}") for number in range(25)]


@pytest.mark.parametrize("place", [0, 2, 4])
def test_the_copy_is_told_from_those_that_only_look_like_it(device, place):
    alike = [recipe("Soup", directions=f"Cook {number} minutes.") for number in range(4)]
    twice = alike[1]
    alike.insert(place, twice)
    task = RecipeDeleteDuplicateRecipes3({"twice": twice, "recipes": [*BOOK, *alike]})
    task.setup(device)
    work(device, expert.delete_exact_copy, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("count", [1, 3, 5])
def test_all_recipes_with_an_ingredient_go_and_those_with_a_longer_word_stay(device, count):
    book = [
        recipe(f"Dish {number}", ingredients="oil, garlic" if number < count else "olive oil, rice")
        for number in range(6)
    ]
    task = RecipeDeleteMultipleRecipesWithConstraint({"ingredient": "oil", "recipes": book})
    task.setup(device)
    work(device, expert.delete_all_with, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("name", ["Dish 00", "Dish 24"])
def test_servings_are_read_from_the_page_of_the_recipe(device, name):
    book = [recipe(title, f"{number + 1} servings") for number, (title, *_) in enumerate(BOOK)]
    task = RecipeServingsOf({"name": name, "recipes": book})
    task.setup(device)
    answer = work(device, expert.servings_of, task.params)
    assert answer == str(int(name[-2:]) + 1)
    assert [task.evaluate(device, each) for each in (answer, f"{answer} servings", "7", f"{answer}0")] == [1, 1, 0, 0]
