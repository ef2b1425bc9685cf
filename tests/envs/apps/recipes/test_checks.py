"""What the instances of recipe families look like."""

from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.tasks.words import ParamRng


def test_the_exact_copy_is_one_and_the_others_only_look_like_it():
    params = recipes.RecipeDeleteDuplicateRecipes3.sample(ParamRng(7))
    twice = params["twice"]
    alike = [recipe for recipe in params["recipes"] if recipe[:2] == twice[:2]]
    assert len(alike) == 5 and alike.count(twice) == 2
