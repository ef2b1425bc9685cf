"""Training on the very instances that a benchmark tests is warned of, by any road to `learn`."""

import warnings
from copy import deepcopy

import gymnasium as gym
import pytest

import coach_gym  # noqa: F401
from coach_gym.agents import FilteredCloningAgent
from coach_gym.agents.training.overlap import warn_of_tests
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv


def spec(name, **settings):
    made = deepcopy(gym.spec(name))
    made.kwargs |= settings
    return made


def test_learn_warns_of_androidlabs_official_tasks():
    envs = gym.vector.SyncVectorEnv([lambda: ButtonEnv(steps=2)] * 2)
    envs.spec = spec("AndroidLab-v0", suite="official")
    agent = FilteredCloningAgent(tiny.policy(), envs, batch_size=2, max_new_tokens=2)
    with pytest.warns(UserWarning, match="trains on the 138 instances that it tests; train on a pool"):
        agent.learn(2, callback=lambda *_: False)


@pytest.mark.parametrize("settings", [{"suite": "official"}, {"lab": {"suite": "official"}}])
def test_also_beside_androidworlds(settings):
    with pytest.warns(UserWarning, match="trains on the 138 instances"):
        warn_of_tests(spec("AndroidWorldAndLab-v0", **settings))


def test_other_tasks_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_tests(spec("AndroidLab-v0", pool="pool.jsonl"))
        warn_of_tests(spec("AndroidWorld-v0", suite="official"))
        warn_of_tests(spec("AndroidWorldAndLab-v0", world={"suite": "official"}))
        warn_of_tests(None)
