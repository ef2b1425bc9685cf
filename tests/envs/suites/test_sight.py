"""The suite that must be looked at: what the screen text says never tells the answer, and small pictures do.

Two instances of each family by default; `COACH_SEEDS=20` in the environment plays twenty.
"""

import os
from collections import Counter
from functools import lru_cache

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.play import play
from coach_gym.envs.tasks.words import ParamRng

SEEDS = range(int(os.environ.get("COACH_SEEDS", "2")))
FAMILIES = load_suite("android_sight").families
SCREEN, ENOUGH = (270, 600), (168, 336)


def decides(family):
    """Whether one look at an instance tells which of the options is right."""
    return any(hasattr(family, name) for name in ("right", "wanted"))


@lru_cache
def environment():
    return AndroidEnv("android_sight", screen_size=SCREEN)


def instance(name, seed):
    _, info = environment().reset(seed=seed, options={"task": name})
    return FAMILIES[name](info["params"])


def played(task, params=None):
    """What the expert did on an instance."""
    env = environment()
    observation, info = env.reset(options={"task": task.name, "params": dict(params or task.params)})
    shown = play(env, observation, info)
    assert shown.reward == 1.0, f"{shown.actions} on {params or task.params}"
    return shown


def up_to_the_decision(one, other):
    """Pairs of observations of two episodes, the last of which led to different actions."""
    pairs = []
    for (seen, action), (seen_there, action_there) in zip(one.steps, other.steps, strict=False):
        pairs.append((seen, seen_there))
        if action != action_there:
            return pairs
    raise AssertionError(f"the same actions solve both: {one.actions}")


def small(screenshot):
    return np.asarray(Image.fromarray(screenshot).resize(ENOUGH, Image.Resampling.BOX), int)


class Blurred(gym.ObservationWrapper):
    """Shows what is left of a screenshot that was scaled to the size that is said to be enough."""

    def observation(self, observation):
        image = Image.fromarray(observation["screenshot"]).resize(ENOUGH, Image.Resampling.BOX)
        return {**observation, "screenshot": np.asarray(image.resize(SCREEN, Image.Resampling.BILINEAR))}


def test_there_are_enough_families_of_both_kinds_in_many_apps():
    kinds = [family.kind for family in FAMILIES.values()]
    assert len(FAMILIES) >= 12 and kinds.count("query") >= 4 and kinds.count("operation") >= 4
    assert len({app for family in FAMILIES.values() for app in family.apps}) >= 5


@pytest.mark.parametrize("name", FAMILIES)
def test_guessing_does_not_do(name):
    assert 0 < FAMILIES[name].chance <= 0.5


@pytest.mark.parametrize("name", FAMILIES)
def test_the_text_does_not_tell(name):
    """What is seen changes places: no text changes, and other actions are right."""
    for seed in SEEDS:
        task = instance(name, seed)
        one, other = played(task), played(task, task.swapped())
        for seen, seen_there in up_to_the_decision(one, other):
            assert seen["goal"] == seen_there["goal"] and seen["ui"] == seen_there["ui"]


@pytest.mark.parametrize("name", FAMILIES)
def test_no_list_of_files_tells(name):
    """Names, sizes and dates of all files are the same when what they show changes places."""
    for seed in SEEDS:
        task, listings = instance(name, seed), []
        for params in (task.params, task.swapped()):
            environment().reset(options={"task": name, "params": dict(params)})
            storage = environment()._device.phone.storage
            paths = sorted(storage.files_below("/storage/emulated/0"))
            listings.append([(path, storage.size(path), storage.modified(path)) for path in paths])
        assert listings[0] == listings[1]


def decision(task):
    """Which of the options is right: the answer of a question, or the place of what is asked for."""
    if hasattr(task, "right"):
        return task.right
    return list(task.params["pictures"]).index(task.wanted)


@pytest.mark.parametrize("name", [name for name in FAMILIES if decides(FAMILIES[name])])
def test_saying_always_the_same_does_not_do(name):
    family = FAMILIES[name]
    decisions = Counter(str(decision(family(family.sample(ParamRng(seed))))) for seed in range(300))
    assert len(decisions) == round(1 / family.chance)
    assert max(decisions.values()) / 300 <= family.chance + 0.1


@pytest.mark.parametrize("name", FAMILIES)
def test_what_solves_one_instance_does_not_solve_the_other(name):
    for seed in SEEDS:
        task = instance(name, seed)
        env, actions, rewards = environment(), played(task).actions, []
        env.reset(options={"task": name, "params": task.swapped()})
        for action in actions:
            _, reward, terminated, truncated, _ = env.step(action)
            rewards.append(reward)
            if terminated or truncated:
                break
        assert not any(rewards)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_difference_is_plain_on_a_small_screenshot(name):
    for seed in SEEDS:
        task = instance(name, seed)
        pairs = up_to_the_decision(played(task), played(task, task.swapped()))
        differing = [
            (np.abs(small(one["screenshot"]) - small(other["screenshot"])).max(axis=-1) > 64).sum()
            for one, other in pairs
        ]
        assert max(differing) >= 50, f"only {max(differing)} pixels of {ENOUGH} differ"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_small_screenshot_is_enough_to_solve_it(name):
    env = Blurred(environment())
    for seed in SEEDS:
        observation, info = env.reset(seed=seed, options={"task": name})
        assert play(env, observation, info).reward == 1.0
