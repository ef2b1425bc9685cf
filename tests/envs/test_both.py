"""AndroidWorld's and AndroidLab's tasks in one environment."""

from functools import partial

import gymnasium as gym
import pytest

from coach_gym.envs.both import BothBenchmarks
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import UsageError
from coach_gym.envs.profiles import ANDROID_LAB, ANDROID_WORLD
from coach_gym.envs.suites.pool import BENCHMARKS, make_pool
from coach_gym.envs.tuning import require_validation

BOTH, SMALL = "AndroidWorldAndLab-v0", {"screen_size": (270, 600)}
VECTOR = {"vectorization_mode": "vector_entry_point", **SMALL}


@pytest.fixture(scope="module")
def pool():
    return make_pool(number=20)


def test_seeds_decide_between_the_benchmarks(pool):
    env = gym.make(BOTH, pool=pool, **SMALL)
    benchmarks = {task.goal: BENCHMARKS[task.env] for task in pool}
    goals = [env.reset(seed=seed)[0]["goal"] for seed in range(30)]
    assert {benchmarks[goal] for goal in goals} == {"android_world", "android_lab"}
    other = gym.make(BOTH, pool=pool, **SMALL)
    assert [other.reset(seed=seed)[0]["goal"] for seed in reversed(range(30))] == goals[::-1]


def test_a_benchmark_is_drawn_as_often_as_it_has_tasks_in_the_pool(pool):
    world, lab = ([task for task in pool if task.env == env] for env in BENCHMARKS)
    env = gym.make(BOTH, pool=[*world[:1], *lab[:9]], **SMALL)
    assert 2 <= sum(env.reset(seed=seed)[0]["goal"] == world[0].goal for seed in range(60)) <= 14
    with pytest.raises(ValueError, match="none of the 3 tasks of this pool is one of android_lab's"):
        gym.make(BOTH, pool=world[:3], **SMALL)


@pytest.mark.parametrize("make", [gym.make, partial(gym.make_vec, vectorization_mode="vector_entry_point")])
def test_arguments_for_one_benchmark_are_a_dict(make):
    with pytest.raises(TypeError, match="lab=5 is of type int; pass a dict of arguments"):
        make(BOTH, lab=5, **SMALL)


def test_each_benchmark_has_its_own_phone():
    env = gym.make(BOTH, split="train", **SMALL)
    apps = {}
    for seed in range(6):
        _, info = env.reset(seed=seed)
        refused = env.step("open_app(app_name='nothing')")[0]["last_action_error"]
        apps[refused] = info["task"] in env.unwrapped.parts["android_lab"].suite.families
    assert sorted(apps.values()) == [False, True], "one list of installed apps for each benchmark"


def test_a_named_task_decides_by_itself():
    env = gym.make(BOTH, **SMALL)
    for task in ("ClockSwitchAlarm", "ContactsAddContact"):
        assert env.reset(seed=0, options={"task": task})[1]["task"] == task
    with pytest.raises(UsageError, match="neither AndroidWorld nor AndroidLab has a task 'Nothing'"):
        env.reset(options={"task": "Nothing"})


def test_a_device_is_returned_when_the_other_benchmark_has_its_turn():
    lent = []

    class Lent(PhoneDevice):
        def close(self):
            lent.remove(self)

    def lend(profile):
        lent.append(Lent(*SMALL["screen_size"], profile))
        return lent[-1]

    env = BothBenchmarks(
        world={"device": lambda: lend(ANDROID_WORLD)}, lab={"device": lambda: lend(ANDROID_LAB)}, **SMALL
    )
    for task in ("ClockSwitchAlarm", "ContactsAddContact", "ContactsAddContact", "ClockSwitchAlarm"):
        assert "fault" not in env.reset(seed=1, options={"task": task})[1]
        assert len(lent) == 1
    env.close()
    assert not lent


def test_forks_go_their_own_ways():
    env = gym.make(BOTH, **SMALL).unwrapped
    observation, info = env.reset(seed=3)
    twin = env.fork()
    twin.step("press_home()")
    for _ in range(6):
        twin.reset(seed=5)
    assert env.step("wait()")[4]["task"] == info["task"]
    assert twin.step("wait()")[0]["goal"] != observation["goal"]


def test_the_episodes_after_a_fork_are_those_of_an_environment_without_one():
    env, alone = gym.make(BOTH, **SMALL).unwrapped, gym.make(BOTH, **SMALL)
    for each in (env, alone):
        each.reset(seed=3)
        each.reset()
    twin, tasks = env.fork(), set()
    for _ in range(6):
        (observation, info), goal = env.reset(), alone.reset()[0]["goal"]
        assert observation["goal"] == twin.reset()[0]["goal"] == goal
        twin.step("open_app(app_name='Settings')")
        assert env.step("wait()")[0]["ui"] == alone.step("wait()")[0]["ui"]
        tasks.add(info["task"])
    twin.close()
    assert "fault" not in env.step("wait()")[4]
    assert {name for name, part in env.parts.items() if tasks & set(part.suite.families)} == set(env.parts)


@pytest.mark.parametrize("workers", ["thread", "process"])
def test_vector_environments(workers):
    envs = gym.make_vec(BOTH, 2, split="validation", workers=workers, **VECTOR)
    require_validation(envs)
    _, infos = envs.reset(seed=[0, 1])
    alone = gym.make(BOTH, split="validation", **SMALL)
    assert infos["task"].tolist() == [alone.reset(seed=seed)[1]["task"] for seed in (0, 1)]
    envs.close()


def test_what_cannot_be():
    with pytest.raises(ValueError, match="one screen_size for both"):
        gym.make(BOTH, lab={"screen_size": (540, 1200)}, **SMALL)
    with pytest.raises(ValueError, match="2 environments cannot share the device 'emulator-5554'"):
        gym.make_vec(BOTH, 2, lab={"device": "emulator-5554"}, **VECTOR)
