"""Each agent solves the button environment with a tiny model, in seconds."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent, evaluate
from coach_gym.agents.training.online import OnlineAgent
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import trained_critic, warm_policy

CRITIC = {"critic_learning_rate": 2e-3, "critic_warmup_ratio": 0.0, "critic_epochs": 2}


def buttons(**kwargs) -> gym.vector.VectorEnv:
    return SyncVectorEnv([lambda: ButtonEnv(**kwargs)] * 8)


def success(agent: OnlineAgent, envs: gym.vector.VectorEnv) -> float:
    return evaluate(agent, envs, 24, deterministic=True).success_rate


def test_coach_reads_the_goal():
    """The critic is pre-trained on labelled samples, as in the paper; the policy is right half of the time."""
    policy, envs = warm_policy(), buttons()
    agent = CoachAgent(
        policy, envs, 5e-4, critic=trained_critic(policy), critic_learning_rate=3e-4,
        batch_size=16, mini_batch_size=4, max_new_tokens=3, stats_window_size=32, seed=0, malformed_is_worthless=False,
    )  # fmt: skip
    successes = []
    agent.learn(256, callback=lambda *_: successes.append(np.mean(agent.ep_success_buffer)))
    assert successes[1] < 0.75
    assert np.mean(agent.ep_success_buffer) > 0.8
    assert success(agent, envs) == 1.0


@pytest.mark.parametrize(
    ("method", "learning_rate", "arguments"),
    [
        (CoachAgent, 2e-3, {**CRITIC, "malformed_is_worthless": False}),  # the answers are letters
        (PPOAgent, 2e-3, {"critic_learning_rate": 1e-3}),
        (GRPOAgent, 2e-3, {}),
        (RLOOAgent, 2e-3, {}),
        (FilteredCloningAgent, 2e-3, {"replay": 32, "mini_batch_size": 8}),
    ],
)
def test_from_scratch_without_a_trained_critic(method, learning_rate, arguments):
    """With one colour, the agent only has to learn which of three answers is rewarded."""
    envs = buttons(colours=["red"])
    agent = method(warm_policy(), envs, learning_rate, batch_size=16, max_new_tokens=3, seed=0, **arguments)
    agent.learn(256)
    assert success(agent, envs) == 1.0
    assert np.mean(list(agent.ep_success_buffer)[-32:]) > 0.75
