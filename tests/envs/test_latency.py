"""The model of slow devices: its moments, its tail, its seeds; and an environment that takes that long."""

from itertools import islice

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from coach_gym.envs.latency import Latency, SlowEnv

DRAWS = 40_000


def steps(latency: Latency, seed: int = 0, number: int = DRAWS) -> np.ndarray:
    return np.fromiter(islice(latency.steps(np.random.default_rng(seed)), number), float)


def test_usual_steps_have_the_mean_and_the_variation_asked_for():
    drawn = steps(Latency(step=4.0, variation=0.6, stalls=0.0))
    assert drawn.mean() == pytest.approx(4.0, rel=0.02)
    assert drawn.std() / drawn.mean() == pytest.approx(0.6, rel=0.05)
    assert drawn.min() > 0
    assert np.log(drawn).std() == pytest.approx(np.sqrt(np.log(1.36)), rel=0.02)  # log-normal


def test_the_share_and_the_length_of_stalls():
    usual, stalling = steps(Latency(stalls=0.0), seed=1), steps(Latency(stalls=0.03, stall=30.0), seed=1)
    assert (stalling > 30.0).mean() == pytest.approx(0.03, rel=0.1)
    assert stalling.mean() - usual.mean() == pytest.approx(0.9, rel=0.2)


def test_resets_are_uniform():
    drawn = np.fromiter(islice(Latency(reset=(20.0, 60.0)).resets(np.random.default_rng(0)), DRAWS), float)
    assert drawn.min() >= 20 and drawn.max() <= 60
    assert drawn.mean() == pytest.approx(40, rel=0.01) and drawn.std() == pytest.approx(40 / np.sqrt(12), rel=0.02)


def test_scaling_scales_every_draw():
    latency, half = Latency(), Latency().scaled(0.5)
    np.testing.assert_allclose(steps(half, number=1000), steps(latency, number=1000) / 2)
    assert half.reset == (10.0, 30.0)


def test_a_seed_repeats_its_draws():
    assert np.array_equal(steps(Latency(), 3, 50), steps(Latency(), 3, 50))
    assert not np.array_equal(steps(Latency(), 3, 50), steps(Latency(), 4, 50))


@pytest.fixture
def slept(monkeypatch):
    sleeps: list[float] = []
    monkeypatch.setattr("coach_gym.envs.latency.time.sleep", sleeps.append)
    return sleeps


def test_a_slow_environment_sleeps_as_long_as_a_device_takes(slept):
    latency = Latency(step=1.0, reset=(2.0, 3.0))
    env = SlowEnv(gym.make("CartPole-v1"), latency, seed=5)
    plain = gym.make("CartPole-v1")
    assert np.array_equal(env.reset(seed=0)[0], plain.reset(seed=0)[0])
    for _ in range(5):
        assert np.array_equal(env.step(1)[0], plain.step(1)[0])
    again = SlowEnv(gym.make("CartPole-v1"), latency, seed=5)
    again.reset(seed=1)
    for _ in range(5):
        again.step(0)
    assert len(slept) == 12 and slept[:6] == slept[6:]
    assert 2 <= slept[0] <= 3 and len(set(slept[:6])) == 6


def test_a_slow_environment_is_one_as_gymnasium_understands_it(slept):
    env = SlowEnv(gym.make("CartPole-v1").unwrapped, Latency(), 0)
    env.unwrapped.spec = None  # a wrapper cannot be made again by its id
    check_env(env, skip_render_check=True)
    assert slept


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, True, "5", None])
@pytest.mark.parametrize("name", ["step", "variation", "stalls", "stall", "least", "most"])
def test_numbers_that_are_no_latencies_are_refused(name, wrong):
    settings = {name: wrong}
    if name in ("least", "most"):
        settings = {"reset": (wrong, 60.0) if name == "least" else (0.0, wrong)}
    with pytest.raises((TypeError, ValueError), match=f"{name}=.*pass"):
        Latency(**settings)


def test_shares_and_orders_of_latencies_are_checked():
    with pytest.raises(ValueError, match="stalls=1.5 is a share"):
        Latency(stalls=1.5)
    with pytest.raises(ValueError, match="in this order"):
        Latency(reset=(60.0, 20.0))
