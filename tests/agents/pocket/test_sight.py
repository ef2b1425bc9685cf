"""The control of sight: the shipped policy solves by looking what it cannot solve with another instance's picture."""

from collections.abc import Callable

import gymnasium as gym

from coach_gym.agents import GRPOAgent
from coach_gym.agents.evaluation import evaluate
from coach_gym.agents.models.policy import Policy
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.blinding import ShuffledPicture
from coach_gym.envs.vector import AndroidVectorEnv

FAMILIES = ("DrawNameDrawing", "GalleryArrowDirection", "GalleryTallestBar")
EPISODES, ENVS = 24, 8
CHANCE = (1 / 5 + 1 / 4 + 1 / 4) / 3


def make_env() -> AndroidEnv:
    return AndroidEnv("android_sight", screen_size=(270, 600), tasks=FAMILIES)


def make_shuffled() -> ShuffledPicture:
    return ShuffledPicture(make_env(), make_env())


def success(agent: GRPOAgent, make: Callable[[], gym.Env]) -> float:
    envs = AndroidVectorEnv([make] * ENVS)
    rate = evaluate(agent, envs, EPISODES).success_rate
    envs.close()
    return rate


def test_the_shipped_policy_looks() -> None:
    agent = GRPOAgent(Policy.load("pocket"), AndroidVectorEnv([make_env]), max_new_tokens=40, max_prompt_length=4096)
    seen, shuffled = (success(agent, make) for make in (make_env, make_shuffled))
    assert seen > CHANCE + 0.4 and shuffled < CHANCE + 0.3  # 0.3: over three standard deviations of 24
