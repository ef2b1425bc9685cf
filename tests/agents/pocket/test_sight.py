"""The control of sight: shipped policies solve by looking what they cannot solve with another instance's picture."""

from collections.abc import Callable
from functools import partial
from statistics import fmean

import gymnasium as gym
import pytest

from coach_gym.agents import GRPOAgent
from coach_gym.agents.evaluation import evaluate
from coach_gym.agents.models.policy import Policy
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.blinding import ShuffledPicture
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.vector import AndroidVectorEnv

SEEN = ("DrawNameDrawing", "GalleryArrowDirection", "GalleryTallestBar")
TAUGHT = (
    *SEEN, "DrawInColorOfPicture", "GalleryReadClock", "OsmAndSideOfRiver", "SettingsSwitchBySign", "SmsColorOfPicture",
)  # fmt: skip
EPISODES, ENVS = 24, 8


def make_env(families: tuple[str, ...]) -> AndroidEnv:
    return AndroidEnv("android_sight", screen_size=(270, 600), tasks=families)


def make_shuffled(families: tuple[str, ...]) -> ShuffledPicture:
    return ShuffledPicture(make_env(families), make_env(families))


def success(agent: GRPOAgent, make: Callable[[], gym.Env]) -> float:
    envs = AndroidVectorEnv([make] * ENVS)
    rate = evaluate(agent, envs, EPISODES).success_rate
    envs.close()
    return rate


@pytest.mark.parametrize(("name", "families", "gain"), [("pocket", SEEN, 0.4), ("pocket-sight", TAUGHT, 0.45)])
def test_a_shipped_policy_looks(name: str, families: tuple[str, ...], gain: float) -> None:
    chance = fmean(load_suite("android_sight").families[family].chance for family in families)
    envs = AndroidVectorEnv([partial(make_env, families)])
    agent = GRPOAgent(Policy.load(name), envs, max_new_tokens=40, max_prompt_length=4096)
    seen, shuffled = (success(agent, partial(make, families)) for make in (make_env, make_shuffled))
    assert seen > chance + gain and shuffled < chance + 0.3  # 0.3: over three standard deviations of 24
