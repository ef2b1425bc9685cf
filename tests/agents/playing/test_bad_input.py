"""What no model can read, and policies that cannot speak, are told in a sentence."""

import re

import numpy as np
import pytest

from coach_gym.agents import GRPOAgent
from coach_gym.agents.playing.rollout import whole_text
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv


@pytest.fixture(scope="module")
def agent():
    return GRPOAgent(tiny.policy(), None, max_new_tokens=3)


@pytest.fixture
def seen():
    return ButtonEnv().reset(seed=0)[0]


@pytest.mark.parametrize("wrong, told", [
    (None, "of type NoneType"), ([], "of type list"), ({}, "has no 'goal'"), ({"goal": "a"}, "has no 'screenshot'"),
    ({"goal": 5, "screenshot": None}, "goal.*=5 is no text"), ({"goal": None, "screenshot": None}, "=None is no text"),
])  # fmt: skip
def test_what_is_no_observation(agent, wrong, told):
    with pytest.raises((TypeError, ValueError), match=f"{told}.*; pass"):
        agent.predict(wrong)


def test_halves_of_characters_are_read_as_unknown_ones(agent, seen):
    assert whole_text("a\ud800b") == "a\ufffdb" and whole_text("\ud83d\ude00") == "😀" and whole_text("中") == "中"
    for key in ("goal", "ui", "last_action_error"):
        agent.predict({**seen, key: "a\ud800b"})


def test_goals_have_a_limit(agent, seen):
    with pytest.raises(ValueError, match="the goal has 1200000 characters, more than 32768"):
        agent.predict({**seen, "goal": "ab " * 400_000})


@pytest.mark.parametrize("screen", [
    np.zeros((56, 84, 3)), np.zeros((56, 84), np.uint8), np.zeros((0, 0, 3), np.uint8), np.zeros((56, 84, 4), np.uint8),
])  # fmt: skip
def test_what_is_no_screenshot(agent, seen, screen):
    with pytest.raises(ValueError, match="screenshot.*the agent needs uint8"):
        agent.predict({**seen, "screenshot": screen})


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_policy_of_weights_that_are_no_numbers(seen, deterministic):
    spoiled = GRPOAgent(tiny.policy(), None, max_new_tokens=3)
    for parameter in spoiled.policy.model.parameters():
        parameter.data.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="probabilities are not numbers.*earlier checkpoint"):
        spoiled.predict(seen, deterministic=deterministic)


class Wrong(ButtonEnv):
    """Shows something else than its space says in the second state of the episodes of some seeds."""

    def __init__(self, key, value):
        super().__init__(steps=3)
        self.key, self.value = key, value

    def step(self, action):
        observation, *rest = super().step("abc"[["red", "green", "blue"].index(self.colour)])
        broken = self.np_random_seed % 3 == 0
        if broken and self.value is None:
            del observation[self.key]
        elif broken:
            observation[self.key] = self.value
        return observation, *rest


@pytest.mark.parametrize(("key", "value", "told"), [
    ("screenshot", np.zeros((5, 5, 3), np.uint8), r"screenshot is \(5, 5, 3\) of uint8"),
    ("screenshot", np.zeros((56, 84, 3)), "screenshot is .* of float64"), ("ui", 5, "ui is of type int"),
    ("ui", "x" * 2000, "ui is of type str with 2000 characters"), ("ui", None, "lacks keys, or has too many: ui"),
])  # fmt: skip
def test_an_observation_of_wrong_shape_is_a_fault_of_its_episode(key, value, told):
    envs = AndroidVectorEnv([lambda: Wrong(key, value)] * 3)
    envs.reset(seed=0)
    _, rewards, _, truncated, infos = envs.step(["a"] * 3)
    assert truncated.tolist() == [True, False, False] and rewards.tolist() == [0, 0, 0]
    assert infos["_fault"].tolist() == [True, False, False]
    assert re.search(told, infos["fault"][0])
    envs.close()
