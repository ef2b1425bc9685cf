"""What no model can read, and policies that cannot speak, are told in a sentence."""

import re

import numpy as np
import pytest
import torch

from coach_gym.agents import GRPOAgent
from coach_gym.agents.playing.rollout import Rollout, whole_text
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


class Odd(ButtonEnv):
    """Answers a call by what a function makes of the right answer."""

    def __init__(self, method, change):
        super().__init__()
        self.method, self.change = method, change

    def _answered(self, method, answer):
        return self.change(*answer) if method == self.method else answer

    def reset(self, **kwargs):
        return self._answered("reset", super().reset(**kwargs))

    def step(self, action):
        return self._answered("step", super().step(action))


@pytest.mark.parametrize(("method", "change", "told"), [
    ("step", lambda o, r, t, tr, i: (o, r, t, i), "step returned 4 values, not an observation, reward, terminated"),
    ("step", lambda *answer: None, "step returned a NoneType"),
    ("step", lambda o, r, t, tr, i: (o, None, t, tr, i), "the reward None is of type NoneType, not a number"),
    ("step", lambda o, r, t, tr, i: (o, "0.5", t, tr, i), "the reward '0.5' is of type str"),
    ("step", lambda o, r, t, tr, i: (o, np.ones(2), t, tr, i), "the reward array.* is of type ndarray"),
    ("step", lambda o, r, t, tr, i: (o, r, np.ones(2, bool), tr, i), "terminated=array.* is of type ndarray"),
    ("step", lambda o, r, t, tr, i: (o, r, "False", tr, i), "terminated='False' is of type str, not a bool"),
    ("step", lambda o, r, t, tr, i: (o, r, t, tr, None), "the info is of type NoneType, not a dict"),
    ("step", lambda o, r, t, tr, i: (o, r, True, tr, {"is_success": "no"}), "is_success'.='no' is no verdict"),
    ("step", lambda o, r, t, tr, i: (o, r, True, tr, {"is_success": np.nan}), "is_success'.=nan is no verdict"),
    ("reset", lambda o, i: o, "reset returned a dict, not an observation and an info"),
    ("reset", lambda o, i: None, "reset returned a NoneType"), ("reset", lambda o, i: (o, i, 0), "returned 3 values"),
    ("reset", lambda o, i: (o, [1]), "the info is of type list, not a dict"),
    ("reset", lambda o, i: (o, {"params": None}), "params'.=None is no dict"),
])  # fmt: skip
def test_a_malformed_answer_is_a_fault_of_its_episode(method, change, told):
    envs = AndroidVectorEnv([lambda: Odd(method, change), ButtonEnv])
    rollout, finished = Rollout(envs, [0, 1]), []
    while rollout.waiting:
        finished += rollout.step(["a"] * len(rollout.waiting)).finished
    odd, right = (attempt.episode for attempt in sorted(finished, key=lambda attempt: attempt.index))
    assert re.search(told, odd.fault) and not odd.learnable
    assert right.fault is None and right.learnable
    envs.close()


def test_scalars_of_numpy_and_torch_are_numbers():
    def change(observation, reward, terminated, truncated, info):
        verdict = {name: np.bool_(value) for name, value in info.items()}
        return observation, torch.tensor(reward), np.bool_(terminated), np.array(truncated), verdict

    envs = AndroidVectorEnv([lambda: Odd("step", change)])
    (attempt,) = Rollout(envs, [0]).step(["z"]).finished
    assert attempt.episode.fault is None and attempt.episode.outcome == 0.0
    envs.close()


def test_names_of_tasks_are_texts():
    envs = AndroidVectorEnv([lambda: Odd("reset", lambda seen, info: (seen, {"task": ("a", 1)}))])
    assert Rollout(envs, [0]).waiting[0].episode.task == "('a', 1)"
    envs.close()
