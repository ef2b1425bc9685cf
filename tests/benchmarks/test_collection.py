"""The collection benchmark on two devices: what each method plays, and how its times are evaluated."""

import gymnasium as gym
import pytest
from gymnasium.vector import SyncVectorEnv

from benchmarks import collection
from benchmarks.demo import TASKS
from benchmarks.latency_ratio import make_env


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collection, "EPISODES", 2)
        patch.setattr(collection, "BATCHES", 1)
        return {way: collection.measure(way, 2, 0) for way in collection.WAYS}


def test_every_way_is_timed_on_devices_that_work(rows):
    for row in rows.values():
        mean, least, most = row["waits"]
        assert row["steps"] >= 2 and 0 <= least <= mean <= most < 1
        assert row["seconds"] > 40 and row["steps_per_s"] == row["steps"] / row["seconds"]


def test_devices_wait_least_where_events_drive(rows):
    waits = {way: row["waits"][0] for way, row in rows.items()}
    assert waits["event-driven"] < min(waits[way] for way in collection.LOCKSTEP)
    assert max(waits[way] for way in collection.LOCKSTEP) < waits["serial"]


def test_the_speedup_is_over_the_better_lockstep_of_the_same_seed():
    seconds = {"lockstep, autoreset": (9.0, 6.0), "lockstep, reset together": (8.0, 7.0), "event-driven": (4.0, 2.0)}
    rows = [
        {"way": way, "devices": 8, "seed": seed, "seconds": one}
        for way, both in seconds.items()
        for seed, one in enumerate(both)
    ]
    assert collection.speedup(rows, "event-driven", 8) == pytest.approx((2.5, 0.5**0.5))


def test_the_loop_on_gymnasiums_vector_environment():
    """Like AsyncVectorEnv, but in one process: it resets in the next step, which belongs to no episode."""
    taken = []

    class Counting(gym.Wrapper):
        def step(self, action):
            taken.append(action)
            return super().step(action)

    envs = SyncVectorEnv([lambda: Counting(make_env())] * 2)
    rate = collection.play_async_vector_env(collection.make_agent(None, 0, reward_model=None), envs, episodes=3)
    assert rate > 0 and len(taken) >= 3 and all(taken)
    envs.close()


def test_environments_that_sleep_are_the_demos(monkeypatch):
    slept = []
    monkeypatch.setattr("coach_gym.envs.latency.time.sleep", slept.append)
    env = collection.make_slow_env(0, scale=0.1)
    observation, info = env.reset(seed=1)
    env.step("wait()")
    env.close()
    assert info["task"] in TASKS and observation["goal"]
    assert 2 <= slept[0] <= 6 and len(slept) == 2
