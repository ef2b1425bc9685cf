"""The scale of latencies, with a policy and a clock whose times are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import latency_ratio
from coach_gym.envs.latency import Latency


class Clock:
    now = 0.0


class Rollout:
    """Two steps on devices that take ten seconds each, after a reset of twenty."""

    def __init__(self, envs, numbers):
        envs.clock.now += 20
        self.envs, self.waiting = envs, [0, 1]

    def step(self, actions):
        self.envs.clock.now += 10 + INFERENCE
        self.waiting.pop()


INFERENCE = 5.0


@pytest.mark.parametrize("ratio", [1.0, 1.7])
def test_devices_take_the_given_multiple_of_inference(monkeypatch, ratio):
    envs = SimpleNamespace(clock=Clock(), close=lambda: None)
    times = iter(np.arange(100) * INFERENCE)
    monkeypatch.setattr(latency_ratio, "slow_envs", lambda *_: envs)
    monkeypatch.setattr(latency_ratio, "Policy", SimpleNamespace(load=lambda _: SimpleNamespace()))
    monkeypatch.setattr(latency_ratio, "TransformersGenerator", lambda _: None)
    monkeypatch.setattr(latency_ratio, "Rollout", Rollout)
    monkeypatch.setattr(latency_ratio, "respond", lambda *_: [])
    monkeypatch.setattr(latency_ratio.time, "thread_time", lambda: next(times))
    found = latency_ratio.calibrated(2, ratio, rollouts=3)
    devices, inference = 3 * (20 + 2 * 10), 3 * 2 * INFERENCE
    assert found.step == pytest.approx(Latency().step * ratio * inference / devices)
    assert found.reset[1] / found.reset[0] == pytest.approx(3)
