"""Forks of an environment in mid-episode: exact, independent, and refused where a device cannot."""

import numpy as np
import pytest

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.blinding import FixedPicture
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.play import play
from coach_gym.envs.vector import AndroidVectorEnv
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

TASKS = ("ContactsAddContact", "SimpleSmsSend", "ClockStopWatchRunning", "RecipeDeleteSingleRecipe", "MarkorCreateNote")


def begin(task, seed=3):
    env = AndroidEnv(screen_size=(270, 600))
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


@pytest.mark.parametrize("leave", [lambda env: None, lambda env: env.close()])
def test_a_snapshot_can_be_restored_after_another_episode_on_a_fork_and_on_another_phone(leave):
    env, actions = begin("ContactsAddContact")
    env.reset(seed=3, options={"task": "ContactsAddContact"})
    for each in (env, env.fork()):
        follow(each, actions[:3])
        kept, then = each.snapshot(), each._observation()
        leave(each)
        each.reset(seed=4)
        assert same(each.restore(kept)[0], then)
        assert follow(each, actions[3:])[-1][1] == 1.0


def test_a_fork_of_a_turned_phone_is_reset_to_an_upright_one():
    device = PhoneDevice(270, 600)
    new = device.digest()
    device.phone.turn(1)
    twin = device.fork()
    assert twin.size == (600, 270)
    twin.reset_state()
    assert twin.size == (270, 600) and twin.digest() == new


def test_the_next_episode_of_a_restored_environment_is_the_same_again():
    env = AndroidEnv(screen_size=(270, 600))
    env.reset(seed=5)
    kept = env.snapshot()
    first = env.reset()[1]["params"]
    env.restore(kept)
    assert env.reset()[1]["params"] == first
    with pytest.raises(UsageError, match="None is of type NoneType; pass what snapshot"):
        env.restore(None)


def test_forking_is_refused_without_an_episode_and_on_other_devices():
    env = AndroidEnv(screen_size=(270, 600))
    with pytest.raises(UsageError, match="call reset"):
        env.fork()
    env = AndroidEnv(screen_size=SIZE, device=FakeDevice, suite=SUITE)
    env.reset(seed=0)
    with pytest.raises(UsageError, match="only the embedded phone"):
        env.snapshot()


def test_an_environment_can_be_made_to_refuse():
    env = AndroidEnv(screen_size=(270, 600), forkable=False)
    env.reset(seed=1)
    for refused in (env.fork, env.snapshot):
        with pytest.raises(UsageError, match="forkable=False"):
            refused()


# ---- vector environments ----

TASK = {"task": "ContactsAddContact"}


def vector(number=2, **options):
    envs = AndroidVectorEnv([lambda: AndroidEnv(screen_size=(270, 600), **options)] * number)
    envs.reset(seed=[3] * number, options=TASK)
    return envs


def test_a_fork_of_a_sub_environment_ends_as_it_does():
    _, actions = begin("ContactsAddContact")
    envs = vector()
    envs.send(actions[:1], [1])
    envs.recv(1)
    (twin,) = envs.fork([1])
    expected = follow(twin, actions[1:])
    for action, (observation, reward, *_) in zip(actions[1:], expected, strict=True):
        envs.send([action], [1])
        (arrival,) = envs.recv(1)
        assert same(arrival.observation, observation) and arrival.reward == reward
    assert arrival.reward == 1.0
    assert len(envs.fork()) == 2


def test_a_sub_environment_returns_to_its_snapshot_even_from_the_end():
    _, actions = begin("ContactsAddContact")
    envs = vector(1)
    (kept,) = envs.snapshot()
    for _ in range(2):
        rewards = [envs.step([action])[1][0] for action in actions]
        assert rewards[-1] == 1.0, "a restored episode ends as it did"
        ((observation, info),) = envs.restore([kept])
        assert info["task"] == "ContactsAddContact" and same(observation, envs.fork()[0]._observation())


def test_a_snapshot_of_another_sub_environment_is_refused():
    envs = vector()
    one, other = envs.snapshot()
    with pytest.raises(UsageError, match="environment 0 did not make this snapshot"):
        envs.restore([other, one])


def test_sub_environments_that_cannot_be_forked_say_so_and_go_on():
    envs = vector(1, forkable=False)
    with pytest.raises(UsageError, match="forkable=False"):
        envs.fork()
    wrapped = AndroidVectorEnv([lambda: FixedPicture(AndroidEnv(screen_size=(270, 600)))])
    with pytest.raises(UsageError, match="environment 0 has no episode"):
        wrapped.fork()
    wrapped.reset(seed=1)
    for refused, reason in ((wrapped.fork, "FixedPicture cannot be forked"), (wrapped.snapshot, "has no snapshots")):
        with pytest.raises(UsageError, match=reason):
            refused()
    for each in (envs, wrapped):
        assert not each.step(["press_home()"])[3].any()


def test_a_sub_environment_in_motion_cannot_be_forked():
    envs = vector(1)
    envs.send(["press_home()"])
    with pytest.raises(UsageError, match="call in progress"):
        envs.fork()
