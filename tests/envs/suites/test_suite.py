"""Suites: families by name, their instances, their experts, and where they are loaded from."""

from datetime import date, time

import pytest

from coach_gym.envs.errors import UsageError
from coach_gym.envs.profiles import ANDROID_LAB, ANDROID_WORLD, Profile
from coach_gym.envs.suites.experts import app_expert
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.official_world.experts import (
    ADAPTED,
    OFFICIAL,
    _records,
    day_named,
    official_expert,
    time_named,
)
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.screen import Screen
from coach_gym.envs.tasks.task import Task


class Add(Task):
    apps, template, budget = ("Tasks",), "Add {number} and {other}.", 3

    @classmethod
    def sample(cls, rng):
        return {"number": rng.randrange(10), "other": rng.randrange(10)}

    def evaluate(self, device, answer):
        return 0.0


class Subtract(Add):
    template = "Subtract {number} from {other}."


MINE = Suite("sums", "mine", {"Add": Add, "Subtract": Subtract})


def test_some_families_keep_the_order_in_which_they_are_named():
    assert list(MINE.only(["Subtract", "Add"]).families) == ["Subtract", "Add"]
    assert MINE.only(None) is MINE and MINE.only([]).families == {}


def test_an_unknown_family_is_told_with_those_that_there_are():
    with pytest.raises(UsageError, match=r"no task 'Multiply' among the 2 tasks of this sums suite \(mine; split"):
        MINE.family("Multiply")
    with pytest.raises(UsageError, match="Multiply"):
        MINE.only(["Multiply"])


def test_an_instance_follows_its_seed_or_its_parameters():
    assert MINE.instance("Add", params_seed=3).params == MINE.instance("Add", params_seed=3).params
    assert len({MINE.instance("Add", params_seed=seed).goal for seed in range(20)}) > 5
    assert MINE.instance("Add", {"number": 1, "other": 2}).goal == "Add 1 and 2."


def test_missing_parameters_are_told_with_an_example():
    with pytest.raises(UsageError, match=r"params of Add lack \['other'\]; an example of all it needs: .*'other'"):
        MINE.instance("Add", {"number": 1})


def test_an_expert_is_found_in_the_apps_of_the_phone():
    suite = load_suite("android_world")
    assert suite.expert("ContactsAddContact") is app_expert(ANDROID_WORLD, "ContactsAddContact")
    with pytest.raises(KeyError):
        MINE.expert("Add")


def test_a_suite_may_find_its_experts_itself():
    def expert(screen, params):
        yield screen.finish()

    assert Suite("sums", "mine", {"Add": Add}, find_expert={"Add": expert}.__getitem__).expert("Add") is expert


def test_only_the_apps_of_the_phone_are_looked_through():
    import sys

    nothing = Profile("empty", ())
    before = set(sys.modules)
    with pytest.raises(KeyError):
        app_expert(nothing, "NoSuchFamily")
    assert set(sys.modules) == before


@pytest.mark.parametrize(
    ("benchmark", "profile"), [("android_world", ANDROID_WORLD), ("android_lab", ANDROID_LAB)], ids=str
)
def test_each_benchmark_has_its_phone(benchmark, profile):
    suite = load_suite(benchmark)
    assert (suite.benchmark, suite.source, suite.profile) == (benchmark, "builtin", profile)
    labels = {app.label for app in profile.phone(270, 600).apps.values()} | {"Pixel Launcher"}
    for name, family in suite.families.items():
        assert set(family.apps) <= labels, name


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("android_moon",), "benchmark 'android_moon' is unknown; choose one of android_world, android_lab"),
        (("android_world", "mine"), "suite='mine' is unknown; choose 'builtin' or 'official'"),
        (("android_sight", "official"), "there is no official suite of them"),
        (("android_lab", "builtin", "lab"), "checkout='lab' is of the official suite; pass suite='official' with it"),
    ],
)
def test_what_cannot_be_loaded_is_told(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        load_suite(*arguments)


def test_loading_is_cheap_to_repeat_and_gives_equal_suites():
    assert load_suite("android_world").families == load_suite("android_world", "builtin").families


def test_official_experts_take_upstreams_parameters():
    screen = Screen()
    screen.update({"ui": ""})
    actions = official_expert("OpenAppTaskEval")(screen, {"app_name": "dialer"})
    assert "Phone" in next(iter(actions)), "upstream's name of the app is not ours"
    assert official_expert("NotesMeetingAttendeeCount") is OFFICIAL["NotesMeetingAttendeeCount"]
    with pytest.raises(KeyError):
        official_expert("NoSuchTask")


def test_every_adapted_task_has_a_family_of_the_same_name():
    assert set(ADAPTED) <= set(load_suite("android_world").families)
    assert not set(ADAPTED) & set(OFFICIAL), "one of the two is never used"


@pytest.mark.parametrize(
    ("text", "day"),
    [("October 9 2023", (2023, 10, 9)), ("February 29 2024", (2024, 2, 29)), ("May 01 2023", (2023, 5, 1))],
)
def test_upstreams_days_are_parsed(text, day):
    assert day_named(text) == date(*day)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("16:15", (16, 15)), ("4pm", (16, 0)), ("8:00pm", (20, 0)), ("12am", (0, 0)), ("12:30 pm", (12, 30)),
        ("9", (9, 0)),
    ],
)
def test_upstreams_times_are_parsed(text, at):
    assert time_named(text) == time(*at)


def test_upstreams_notes_are_tables_or_blocks():
    table = "name|amount\nBread|$2.50\nMilk|$1\n"
    assert _records(table) == [{"name": "Bread", "amount": "$2.50"}, {"name": "Milk", "amount": "$1"}]
    blocks = "Recipe: Soup\nservings: 2\n\nRecipe: Pie\nservings: 4\n\n"
    assert _records(blocks) == [{"title": "Soup", "servings": "2"}, {"title": "Pie", "servings": "4"}]
