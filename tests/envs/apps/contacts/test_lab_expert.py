"""Experts of AndroidLab's Contacts families where there are more people than fit on the screen."""

import pytest

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.apps.contacts.lab_tasks import LABELS, cards
from coach_gym.envs.suites.play import play
from coach_gym.envs.tasks.words import ParamRng

PEOPLE = sorted(cards(ParamRng(5), 16), key=lambda person: person["name"])
EVERY_THIRD = range(0, len(PEOPLE), 3)


@pytest.fixture(scope="module", params=[(270, 600), (360, 640)], ids=str)
def env(request):
    return AndroidEnv("android_lab", screen_size=request.param, max_steps=60)


def solve(env, task, **params):
    observation, info = env.reset(options={"task": task, "params": {"people": PEOPLE, **params}})
    shown = play(env, observation, info)
    assert shown.reward == 1.0, shown.actions


@pytest.mark.parametrize("place", EVERY_THIRD)
def test_anybody_is_found_by_name(env, place):
    name = PEOPLE[place]["name"]
    solve(env, "ContactsEmailOf", name=name)
    solve(env, "ContactsCompanyOf", name=name)
    solve(env, "ContactsAddNote", name=name, note="Likes tea.")
    solve(env, "ContactsChangeEmail", name=name, email="new@tulip.org")
    solve(env, "ContactsSetLabel", name=name, label="School", labels=["Clients", "School"])


@pytest.mark.parametrize("place", EVERY_THIRD)
def test_anybody_is_found_by_number(env, place):
    solve(env, "ContactsDeleteByNumber", name=PEOPLE[place]["name"], number=PEOPLE[place]["number"])


@pytest.mark.parametrize("label", LABELS)
def test_any_label_can_be_given(env, label):
    solve(env, "ContactsSetLabel", name=PEOPLE[0]["name"], label=label, labels=list(LABELS))


def test_colleagues_are_counted(env):
    people = [{**person, "company": "Oak Motors" if number < 3 else "Elm"} for number, person in enumerate(PEOPLE)]
    solve(env, "ContactsCountAtCompany", people=people, company="Oak Motors", count=3, other="Elm")


@pytest.mark.parametrize("number", ["+12015550123", "5550100"])
def test_a_new_person_comes_into_a_long_list(env, number):
    solve(env, "ContactsAddColleague", name="Mia Nord", company="Elm Books", number=number)
    solve(env, "ContactsAddWithEmail", name="Mia Nord", number=number, email="mia@elm.org")
