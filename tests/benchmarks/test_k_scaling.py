"""The benchmark of k on two devices: the same episodes for every k, and how times are evaluated."""

import pytest

from benchmarks import k_scaling
from benchmarks.latency_ratio import calibrated
from coach_gym.envs.latency import Latency


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_scaling, "CANDIDATES", (1, 3))
        return k_scaling.measure(Latency().scaled(0.01), [0], iterations=2, devices=2)


def test_every_k_plays_the_same_episodes(rows):
    assert [row["k"] for row in rows] == [1, 3, 1, 3]
    assert rows[0]["steps"] == rows[1]["steps"] and rows[2]["steps"] == rows[3]["steps"]
    assert all(0 <= row["wait"] < row["seconds"] and 0 < row["rollout"] < row["seconds"] for row in rows)


def test_ratios_are_of_whole_iterations_of_the_same_seed():
    made = [{"seed": seed, "k": k, "seconds": s} for seed, k, s in ((0, 1, 2), (0, 4, 3), (1, 1, 4), (1, 4, 8))]
    assert k_scaling.ratios(made, 1) == (1.0, 0.0)
    assert k_scaling.ratios(made, 4) == pytest.approx((1.75, 0.3535534))


def test_all_variants_train(rows):
    for arguments in k_scaling.VARIANTS.values():
        training = k_scaling.Training(2, Latency().scaled(0.01), seed=0, devices=1, **arguments)
        assert training.iterate()["steps"] >= 1
        training.envs.close()


def test_the_latency_is_scaled_to_the_ratio():
    latency = calibrated(2, ratio=2.0, rollouts=1)
    assert 0 < latency.step < 4 and latency.stall / latency.step == pytest.approx(7.5)
