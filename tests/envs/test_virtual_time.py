"""Time that is skipped and not waited for."""

import time
from functools import partial
from itertools import islice

import gymnasium as gym
import numpy as np
import pytest

from coach_gym.envs.errors import UsageError
from coach_gym.envs.latency import Latency
from coach_gym.envs.virtual_time import VirtualClock, VirtualTimeEnv

COMPUTING = 0.5
"""Seconds that a test computes itself, at most."""


def make(devices: int = 3, latency: Latency | None = None, seed: int = 0) -> VirtualTimeEnv:
    return VirtualTimeEnv([partial(gym.make, "CartPole-v1")] * devices, latency or Latency(), VirtualClock(), seed)


def test_the_clock_counts_computing_and_skips_waits():
    clock = VirtualClock()
    began = time.perf_counter()
    clock.wait_until(1000.0)
    assert 1000.0 <= clock.now < 1000.0 + COMPUTING and clock.waited == pytest.approx(1000.0, abs=COMPUTING)
    computed = time.thread_time()
    while time.thread_time() - computed < 0.05:
        pass
    assert clock.now >= 1000.05 and time.perf_counter() - began < 60
    before = clock.waited
    clock.wait_until(5.0)  # is past
    assert clock.waited == before
    now = clock.now
    time.sleep(0.2)  # is not computing
    assert clock.now - now < 0.1


def test_step_and_reset_wait_for_the_slowest():
    envs = make()
    envs.reset(seed=0)
    resets = envs.busy.copy()
    assert (resets >= 20).all() and resets.max() <= envs.clock.now < resets.max() + COMPUTING
    begun = envs.clock.now
    envs.step([0] * 3)
    taken = envs.busy - resets
    assert (taken > 0).all() and taken.max() <= envs.clock.now - begun < taken.max() + COMPUTING
    envs.close()


def test_recv_waits_for_the_fastest_and_nobody_else():
    envs = make(latency=Latency(reset=(20.0, 200.0)))
    envs.send_reset(range(3), [4, 5, 6])
    moments = {env_id: envs._held[env_id][0] for env_id in range(3)}
    order = sorted(moments, key=moments.__getitem__)
    for rank, env_id in enumerate(order):
        (arrival,) = envs.recv(1)
        assert arrival.env_id == env_id and set(envs.pending) == set(order[rank + 1 :])
        assert moments[env_id] <= envs.clock.now < moments[env_id] + COMPUTING
        assert envs.busy == pytest.approx(np.minimum(list(moments.values()), envs.clock.now), abs=COMPUTING)
    envs.close()


def test_recv_of_nothing_waits_for_nothing():
    envs = make()
    envs.send_reset()
    waited = envs.clock.waited
    assert envs.recv(0) == [] and envs.clock.waited == waited
    assert len(envs.recv(2)) == 2 and len(envs.recv(9)) == 1
    with pytest.raises(UsageError, match="no call is in progress"):
        envs.recv()
    envs.close()


def test_what_is_under_way_cannot_be_asked_again():
    envs = make()
    envs.send_reset([1])
    with pytest.raises(UsageError, match="environment 1 has a call in progress"):
        envs.send_reset([1])
    envs.recv(1)
    assert envs.pending == ()
    envs.close()


def test_busy_adds_up_to_what_devices_have_worked():
    envs = make(devices=2)
    envs.send_reset([0], [7])
    envs.recv()
    seconds = [envs.busy[0]]
    for _ in range(4):
        envs.send([0], [0])
        envs.recv()
        seconds.append(envs.busy[0] - sum(seconds))
    assert envs.busy[1] == 0 and (np.array(seconds) > 0).all()
    assert envs.clock.waited == pytest.approx(envs.busy[0], abs=COMPUTING)
    envs.close()


def latencies(envs: VirtualTimeEnv, env_id: int, seed: int) -> list[float]:
    """Of the reset and of two steps of an episode."""
    before = envs.busy[env_id]
    envs.send_reset([env_id], [seed])
    envs.recv()
    totals = [envs.busy[env_id]]
    for _ in range(2):
        envs.send([0], [env_id])
        envs.recv()
        totals.append(envs.busy[env_id])
    envs.send_reset([env_id])  # gives the episode up
    envs.recv()
    return list(np.diff([before, *totals]).round(6))


def test_an_episode_has_the_same_latencies_on_any_device_and_after_anything():
    one, two, other = make(), make(), make(seed=1)
    first = latencies(one, 0, 42)
    latencies(two, 2, 41)
    assert latencies(two, 2, 42) == first
    assert latencies(one, 1, 42) != first  # another attempt at the same instance
    assert latencies(other, 0, 42) != first
    for envs in (one, two, other):
        envs.close()


def test_draws_are_the_latencys():
    envs = make(devices=1)
    resets, steps = (list(islice(draws, 2000)) for draws in envs._episode(1, 3))
    assert np.mean(resets) == pytest.approx(40, rel=0.05) and np.mean(steps) == pytest.approx(4.9, rel=0.15)
    envs.close()


def test_no_time_passes_while_the_clock_is_stopped():
    clock = VirtualClock()
    begun = clock.now
    with clock.stopped():
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass
    assert clock.now - begun < 0.1
