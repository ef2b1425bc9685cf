"""Task families: their names, goals and parameters."""

import doctest

import pytest

from coach_gym.envs.tasks import screen, task
from coach_gym.envs.tasks.task import Params, Task
from coach_gym.envs.tasks.words import ParamRng


class Count(Task):
    apps = ("Files",)
    template = "Count to {number}."
    budget = 3

    def evaluate(self, device, answer):
        return float(answer == str(self.params["number"]))


class Renamed(Count):
    name = "CountAgain"


@pytest.mark.parametrize("module", [task, screen], ids=["task", "screen"])
def test_the_examples_of_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


def test_a_family_is_named_like_its_class_unless_it_says_otherwise():
    assert (Count.name, Renamed.name) == ("Count", "CountAgain")
    assert type("Third", (Renamed,), {}).name == "Third", "a name is not inherited"


def test_a_goal_is_its_template_with_the_parameters():
    assert Count({"number": 3}).goal == "Count to 3."


def test_a_family_without_anything_random_has_one_instance():
    assert Count.sample(ParamRng(0)) == {}


def test_an_instance_keeps_parameters_of_its_own():
    given = {"number": 3}
    instance = Count(given)
    given["number"] = 4
    assert instance.params == {"number": 3}


def test_a_family_that_evaluates_nothing_cannot_be_made():
    class Unfinished(Task):
        apps, template, budget = ("Files",), "Do nothing.", 1

    with pytest.raises(TypeError, match="evaluate"):
        Unfinished({})


def test_params_are_a_mapping_that_gymnasium_keeps_whole():
    params = Params({"number": 3})
    assert not isinstance(params, dict) and dict(params) == {"number": 3}
