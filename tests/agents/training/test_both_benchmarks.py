"""One training on tasks of AndroidWorld and AndroidLab together."""

import gymnasium as gym
import pytest

import coach_gym  # noqa: F401  (registers the ids)
from coach_gym.agents import CoachAgent, GRPOAgent
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.pool import make_pool
from tests.agents import tiny

SMALL = {"batch_size": 8, "max_new_tokens": 4, "learning_rate": 1e-4, "seed": 0}


@pytest.fixture
def envs():
    made = gym.make_vec(
        "AndroidWorldAndLab-v0", 4, vectorization_mode="vector_entry_point", pool=make_pool(number=40), max_steps=2,
        screen_size=(112, 168),
    )  # fmt: skip
    yield made
    made.close()


def benchmarks(groups):
    families = {name: load_suite(name).families for name in ("android_world", "android_lab")}
    return [[next(name for name in families if each.task in families[name]) for each in group] for group in groups]


def learned_from(agent):
    seen = []
    train = agent.train
    agent.train = lambda groups: seen.extend(groups) or train(groups)
    agent.learn(16)
    return seen


def test_the_coach_learns_from_both_at_once(envs):
    agent = CoachAgent(tiny.policy(), envs, k=2, critic_learning_rate=1e-3, malformed_is_worthless=False, **SMALL)
    agent.critic.value_head.weight.data.normal_()
    before = agent.policy.model.lm_head.weight.clone()
    groups = learned_from(agent)
    assert {name for group in benchmarks(groups) for name in group} == {"android_world", "android_lab"}
    assert agent.n_updates == 1 and bool((agent.policy.model.lm_head.weight != before).any())


def test_the_episodes_of_a_group_attempt_one_instance(envs):
    groups = learned_from(GRPOAgent(tiny.policy(), envs, group_size=4, **SMALL))
    assert all(len({each.goal for each in group}) == 1 for group in groups)
    assert {group[0] for group in benchmarks(groups)} == {"android_world", "android_lab"}
