"""Environments tell which task a seed draws, before any reset."""

import gymnasium as gym
import pytest

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.envs.suites.in_order import InOrder
from coach_gym.envs.suites.pool import make_pool

SMALL = {"screen_size": (270, 600)}
SEEDS = range(1 << 16, (1 << 16) + 12)


def drawn(env: gym.Env) -> list[str]:
    return [env.reset(seed=seed)[1]["task"] for seed in SEEDS]


@pytest.mark.parametrize(("name", "settings"), [
    ("AndroidWorld-v0", {}), ("AndroidLab-v0", {"split": "train"}), ("AndroidSight-v0", {}),
    ("AndroidWorld-v0", {"split": "train", "unseen": "families"}), ("AndroidWorldAndLab-v0", {"split": "train"}),
])  # fmt: skip
def test_a_seed_starts_the_task_that_was_told(name, settings):
    env = gym.make(name, **SMALL, **settings).unwrapped
    told = [env.task_of(seed) for seed in SEEDS]
    assert drawn(env) == told and len(set(told)) > 1
    assert [env.task_of(seed) for seed in SEEDS] == told, "whatever was reset in between"


@pytest.mark.parametrize("name", ["AndroidWorld-v0", "AndroidWorldAndLab-v0"])
def test_of_a_pool_too(name):
    pool = make_pool(number=8)
    env = gym.make(name, pool=pool, **SMALL).unwrapped
    assert drawn(env) == [env.task_of(seed) for seed in SEEDS]


def test_in_order():
    env = InOrder(gym.make("AndroidWorld-v0", tasks=["ClockTimerEntry", "ContactsAddContact"], **SMALL))
    assert [env.reset(seed=number)[1]["task"] for number in range(5)] == [env.task_of(number) for number in range(5)]


@pytest.mark.parametrize("workers", ["thread", "process"])
def test_vector_environments_tell_it_for_all(workers):
    made = {"vectorization_mode": "vector_entry_point", "workers": workers, "split": "train", **SMALL}
    envs = gym.make_vec("AndroidWorld-v0", num_envs=2, **made)
    told = [envs.task_of(seed) for seed in SEEDS[:4]]
    starts = [envs.reset(seed=[*pair])[1]["task"] for pair in (SEEDS[:2], SEEDS[2:4])]
    assert [task for pair in starts for task in pair] == told
    envs.close()
