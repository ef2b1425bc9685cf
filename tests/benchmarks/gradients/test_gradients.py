"""Gradient estimates and their noise, on a policy whose gradient is known, and from end to end."""

import json
import sys

import numpy as np
import pytest
import torch

from benchmarks.gradients import __main__ as command
from benchmarks.gradients import draws as drawing
from benchmarks.gradients.draws import Draws, Played, Sketch
from benchmarks.gradients.estimators import DRAWS, ESTIMATORS, Estimator, estimates
from benchmarks.gradients.noise import across, figures, intervals, sums

PROBABILITIES = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
Q = torch.tensor([[0.9, 0.4, 0.1], [0.2, 0.8, 0.5]])
"""Of three actions in two states. The policy has a logit for each."""
GRADIENTS = torch.eye(3) - PROBABILITIES[:, None]
GRADIENT = (PROBABILITIES[..., None] * Q[..., None] * GRADIENTS).sum(1)


def toy(instances, group, seed=0):
    """Episodes of a single state, whose outcomes are drawn anew in each measurement of an action."""
    generator = torch.Generator().manual_seed(seed)
    episodes = []
    for instance in range(instances):
        state = instance % 2
        for _ in range(group):
            which = torch.multinomial(PROBABILITIES[state], DRAWS, replacement=True, generator=generator)
            measured, again = torch.bernoulli(Q[state].expand(2, 3), generator=generator)
            told = {"measured": measured[which], "again": again[which], "critic": Q[state][which], "judge": -which}
            padded = torch.zeros(3, 6)
            padded[:, 3 * state : 3 * state + 3] = GRADIENTS[state]
            episodes.append(Played(instance, float(told["measured"][0]), [Draws(padded, which, told)]))
    return episodes


PLAYED = toy(instances=1500, group=4)
EXPECTED = GRADIENT.flatten() / 2  # half of the episodes are in each state


@pytest.mark.parametrize("estimator", [each for each in ESTIMATORS if each.unbiased], ids=lambda each: each.label)
def test_what_uses_measurements_is_right_on_average(estimator):
    rows = estimates(estimator, PLAYED)
    error = rows.std(0) / len(PLAYED) ** 0.5
    assert ((rows.mean(0) - EXPECTED).abs() < 4 * error + 1e-6).all()


def test_a_mean_of_all_candidates_shrinks_the_gradient():
    shrunk = estimates(Estimator("", 4, "mean"), PLAYED)
    torch.testing.assert_close(shrunk, 0.75 * estimates(Estimator("", 4, "leave_one_out"), PLAYED))


def test_more_candidates_have_less_noise():
    noise = [estimates(Estimator("", k, "leave_one_out"), PLAYED).var(0).sum() for k in (2, 4, 8, 16)]
    assert noise == sorted(noise, reverse=True) and noise[0] > 2 * noise[-1]


def test_baselines_of_one_candidate_are_what_their_names_say():
    first, second, alone = toy(1, 2) + toy(2, 1)[1:]
    alone.instance = 7
    played = [first, second, alone]
    gradient = first.states[0].gradients[first.states[0].which[0]]
    mean = np.mean([each.outcome for each in played])
    for baseline, value in {"none": 0.0, "constant": mean, "group": second.outcome}.items():
        row = estimates(Estimator("", 1, baseline), [first, second, alone])[0]
        torch.testing.assert_close(row, (first.outcome - value) * gradient, check_dtype=False)
    value = first.states[0].q["again"][1:].mean()
    torch.testing.assert_close(estimates(Estimator("", 1, "state"), played)[0], (first.outcome - value) * gradient)


def test_a_sketch_keeps_products():
    rng = torch.Generator().manual_seed(1)
    one, other = torch.randn(2, 100_000, generator=rng)
    other += 0.5 * one
    sketch = Sketch(100_000)
    assert sketch(one) @ sketch(other) == pytest.approx(float(one @ other), rel=0.05)
    assert sketch(one) @ sketch(one) == pytest.approx(float(one @ one), rel=0.05)
    torch.testing.assert_close(sketch(one + other), sketch(one) + sketch(other))


def test_noise_signal_and_agreement_of_known_gradients():
    rng = np.random.default_rng(0)
    signal, other = np.eye(40)[:2]
    instances = np.repeat(np.arange(400), 4)
    noise = rng.normal(size=(1600, 40)) * 0.5  # of squared norm 10
    truth = sums(signal + noise, signal + noise, instances)
    weights = np.ones(400)
    found = figures(truth, truth, True, weights)
    assert found["noise"] == pytest.approx(10, rel=0.05) and found["signal"] == pytest.approx(0.1, rel=0.15)
    assert found["agreement"] == 1
    slanted = signal + other + rng.normal(size=(1600, 40)) * 0.5
    found = figures(sums(slanted, signal + noise, instances), truth, False, weights)
    assert found["agreement"] == pytest.approx(0.5, abs=0.06) and found["signal"] == pytest.approx(0.2, rel=0.15)


def test_an_instance_is_never_multiplied_by_itself():
    assert across(np.diag([1.0, 2.0, 3.0]), np.ones(3)) == 0
    products = np.array([[50.0, 1.0, 2.0], [1.0, 70.0, 3.0], [2.0, 3.0, 90.0]])
    assert across(products, np.ones(3)) == pytest.approx(2)
    assert across(products, np.array([2, 1, 0])) == pytest.approx(1)  # as a bootstrap draws instances


def test_episodes_that_share_a_baseline_are_one_estimate():
    rng = np.random.default_rng(0)
    instances = np.repeat(np.arange(400), 4)
    shared = np.repeat(rng.normal(size=(400, 40)), 4, axis=0) * 0.5  # does not average out within a group
    rows = np.eye(40)[0] + shared
    truth = sums(np.tile(np.eye(40)[0], (1600, 1)), np.tile(np.eye(40)[0], (1600, 1)), instances)
    found = figures(sums(rows, rows, instances, group=True), truth, True, np.ones(400))
    assert found["noise"] == pytest.approx(4 * 10, rel=0.15)


def test_intervals_hold_the_value_and_noise_is_compared_with_the_reference():
    rng = np.random.default_rng(0)
    instances = np.arange(60)
    rows = {scale: np.eye(20)[0] + rng.normal(size=(60, 20)) * scale for scale in (0.2, 0.4)}
    truth = sums(rows[0.2], rows[0.2], instances)
    by_name = {str(scale): sums(each, rows[0.2], instances) for scale, each in rows.items()}
    found = intervals(by_name, truth, dict.fromkeys(by_name, True), "0.2", draws=200)
    assert found["0.2"]["noise"]["value"] == 1 and found["0.4"]["noise"]["value"] == pytest.approx(4, rel=0.3)
    for row in found.values():
        for each in row.values():
            assert each["low"] <= each["value"] + 1e-9 and each["value"] <= each["high"] + 1e-9


@pytest.mark.slow
def test_the_command_measures_real_gradients(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(drawing, "TASKS", ("TasksDeleteTask",))
    monkeypatch.setattr(
        sys, "argv", ["gradients", "--instances", "1", "--group", "2", "--json", str(tmp_path / "found.json")]
    )
    command.main()
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["episodes"] == 2 and found["instances"] == 1 and set(found["rows"]) == {e.label for e in ESTIMATORS}
    assert "rerun: python -m benchmarks.gradients" in capsys.readouterr().out
