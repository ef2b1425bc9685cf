"""Forks of an environment in mid-episode: exact, independent, and refused where a device cannot."""

import numpy as np
import pytest

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.play import play
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

TASKS = ("ContactsAddContact", "SimpleSmsSend", "ClockStopWatchRunning", "RecipeDeleteSingleRecipe", "MarkorCreateNote")


def begin(task, seed=3):
    env = AndroidEnv(screen_size=(270, 600), split="all")
    observation, info = env.reset(seed=seed, options={"task": task})
    return env, play(env, observation, info).actions


def same(one, other):
    return all(np.array_equal(one[key], other[key]) for key in one)


def follow(env, actions):
    return [env.step(action)[:4] for action in actions]


@pytest.mark.parametrize("task", TASKS)
def test_a_fork_at_any_step_ends_as_its_original_does(task):
    env, actions = begin(task)
    env.reset(seed=3, options={"task": task})
    for step, action in enumerate(actions):
        twin = env.fork()
        ends = follow(twin, actions[step:])
        assert ends[-1][1:3] == (1.0, True)
        observation = env.step(action)[0]
        assert same(observation, ends[0][0])
    assert env._over


def test_neither_of_a_fork_and_its_original_influences_the_other():
    env, actions = begin("ContactsAddContact")
    env.reset(seed=3, options={"task": "ContactsAddContact"})
    follow(env, actions[:3])
    twin = env.fork()
    assert follow(env, actions[3:])[-1][1] == 1.0
    assert twin.step("finished(content='')")[1] == 0.0, "the original's contact was saved on the fork too"
    kept = env.fork()
    twin.reset(seed=4)
    assert same(env._observation(), kept._observation())


def test_a_fork_can_begin_episodes_of_its_own():
    env = AndroidEnv(screen_size=(270, 600))
    env.reset(seed=1)
    twin = env.fork()
    assert same(twin.reset(seed=8)[0], AndroidEnv(screen_size=(270, 600)).reset(seed=8)[0])


def test_a_snapshot_can_be_restored_again_and_again():
    env, actions = begin("MarkorCreateNote")
    start, _ = env.reset(seed=3, options={"task": "MarkorCreateNote"})
    kept = env.snapshot()
    ends = []
    for _ in range(3):
        observation, info = env.restore(kept)
        assert same(observation, start) and info["task"] == "MarkorCreateNote"
        ends.append(follow(env, actions))
    assert all(end[-1][1] == 1.0 for end in ends)
    assert all(same(one[0], other[0]) for one, other in zip(ends[0], ends[2], strict=True))


def test_the_next_episode_of_a_restored_environment_is_the_same_again():
    env = AndroidEnv(screen_size=(270, 600))
    env.reset(seed=5)
    kept = env.snapshot()
    first = env.reset()[1]["params"]
    env.restore(kept)
    assert env.reset()[1]["params"] == first


def test_forking_is_refused_without_an_episode_and_on_other_devices():
    env = AndroidEnv(screen_size=(270, 600))
    with pytest.raises(UsageError, match="call reset"):
        env.fork()
    env = AndroidEnv(screen_size=SIZE, device=FakeDevice, suite=SUITE)
    env.reset(seed=0)
    with pytest.raises(UsageError, match="only the embedded phone"):
        env.snapshot()
