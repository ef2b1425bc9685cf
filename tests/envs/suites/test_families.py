"""Every task family: its expert solves it, and its check has teeth.

Three instances of each by default; `COACH_SEEDS=20` in the environment plays twenty, on more screens.
"""

import json
import os
import random
import string
from functools import lru_cache

import pytest

from coach_gym.actions import Action, format_action, parse_action
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.play import play

SEEDS = range(int(os.environ.get("COACH_SEEDS", "3")))
SCREENS = [(270, 600), (360, 640), (1080, 2400)]
CHANGES = ("click", "long_press", "type", "drag", "press_enter")  # kinds that can change more than the view

SUITES = {name: load_suite(name) for name in ("android_world", "android_lab", "android_sight")}
FAMILIES = {name: family for suite in SUITES.values() for name, family in suite.families.items()}
PAIRS = [pytest.param(suite, name, id=name) for suite in SUITES for name in SUITES[suite].families]


@lru_cache
def environment(benchmark, screen=SCREENS[0]):
    return AndroidEnv(benchmark, screen_size=screen)


def begin(benchmark, name, seed, screen=SCREENS[0]):
    env = environment(benchmark, screen)
    observation, info = env.reset(seed=seed, options={"task": name})
    assert "fault" not in info, info["fault"]
    return env, observation, info


def replay(env, actions):
    """Reward and info at the end of a fixed list of actions."""
    reward, info = 0.0, {}
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
    assert "fault" not in info, info["fault"]
    return reward


def story(shown):
    """What an expert did, for a failed test to tell."""
    told = [f"{action.splitlines()}   {observation['last_action_error']}" for observation, action in shown.steps]
    return "\n".join(["the expert did:", *told, f"and the last info was {shown.info}"])


def solve(benchmark, name, seed, screen=SCREENS[0]):
    env, observation, info = begin(benchmark, name, seed, screen)
    shown = play(env, observation, info)
    solved = shown.info.get("is_success", False)
    assert solved, f"seed {seed}: {observation['goal']}\n{story(shown)}"
    return env, shown


def test_no_family_is_in_two_suites_and_each_has_its_expert():
    assert len(FAMILIES) == sum(len(suite.families) for suite in SUITES.values())
    for suite in SUITES.values():
        assert all(callable(suite.expert(name)) for name in suite.families)


def test_families_describe_themselves():
    for name, family in FAMILIES.items():
        assert family.difficulty in ("easy", "medium", "hard"), name
        assert family.kind in ("operation", "query"), name
        assert family.apps and family.budget > 0, name


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_the_expert_solves_it_within_the_budget(benchmark, name):
    for seed in SEEDS:
        _, shown = solve(benchmark, name, seed)
        errors = [observation["last_action_error"] for observation, _ in shown.steps]
        assert not any(errors), story(shown)


@pytest.mark.parametrize("screen", SCREENS[1:] if len(SEEDS) > 3 else SCREENS[1:2], ids=str)
@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_the_expert_solves_it_on_another_screen(benchmark, name, screen):
    solve(benchmark, name, 0, screen)


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_the_goal_is_told_whole(benchmark, name):
    fields = [field for _, field, _, _ in string.Formatter().parse(FAMILIES[name].template) if field]
    for seed in SEEDS:
        _, observation, info = begin(benchmark, name, seed)
        assert "{" not in observation["goal"] and observation["goal"].strip()
        params = {field: info["params"].get(field) for field in fields}
        assert all(value in observation["goal"] for value in params.values() if isinstance(value, str))


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_doing_nothing_scores_nothing(benchmark, name):
    family = FAMILIES[name]
    for seed in SEEDS:
        env, observation, _ = begin(benchmark, name, seed)
        reward = replay(env, ["finished()"])
        assert reward == (1.0 if family.holds_at_start else 0.0), observation["goal"]


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_an_episode_that_nobody_finishes_scores_nothing(benchmark, name):
    env, observation, info = begin(benchmark, name, SEEDS[0])
    assert replay(env, ["press_home()"] * info["budget"]) == 0.0, observation["goal"]


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_a_near_miss_scores_nothing(benchmark, name):
    for seed in SEEDS:
        env, observation, info = begin(benchmark, name, seed)
        wrong = FAMILIES[name](info["params"]).near_miss(random.Random(seed))
        if wrong is not None:
            shown = play(env, observation, info, wrong)
            assert shown.actions and parse_action(shown.actions[-1])[1].kind == "finished", story(shown)
            assert shown.reward == 0.0, f"{wrong} passed for {dict(info['params'])}\n{story(shown)}"
        else:
            unsaved(benchmark, name, seed)


def unsaved(benchmark, name, seed):
    """The expert's actions without the last that changes anything must score nothing."""
    family = FAMILIES[name]
    assert family.kind == "operation" and not family.holds_at_start, f"{name} needs a near_miss(): nothing to leave out"
    _, shown = solve(benchmark, name, seed)
    kinds = [parse_action(text)[1].kind for text in shown.actions]
    last = max(index for index, kind in enumerate(kinds) if kind in CHANGES)
    env, observation, _ = begin(benchmark, name, seed)
    kept = shown.actions[:last] + shown.actions[last + 1 :]
    assert replay(env, kept) == 0.0, (
        f"seed {seed}: {observation['goal']}\n{shown.actions[last]!r} was left out and the check did not notice; if it "
        f"changes nothing, give {name} a near_miss()\n{story(shown)}"
    )


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_an_instance_is_its_parameters(benchmark, name):
    """They survive being written to a file as JSON, and prepare the same phone again."""
    env, observation, info = begin(benchmark, name, 0)
    params = json.loads(json.dumps(dict(info["params"])))
    assert params == dict(info["params"])
    before = env.unwrapped._device.phone.storage.snapshot()
    again, _ = env.reset(seed=99, options={"task": name, "params": params})
    assert again["goal"] == observation["goal"] and again["ui"] == observation["ui"]
    assert env.unwrapped._device.phone.storage.snapshot() == before


@pytest.mark.parametrize(("benchmark", "name"), PAIRS)
def test_hostile_answers_score_nothing_and_break_nothing(benchmark, name):
    if FAMILIES[name].kind != "query":
        return
    for answer in ("", "\n", "0" * 5000, "'; DROP TABLE x; --", "{answer}", "∞", "1e999", "nan", "-"):
        env, _, _ = begin(benchmark, name, 0)
        assert replay(env, [format_action(Action("finished", content=answer))]) == 0.0, repr(answer)
