"""What the benchmark of measured Q says of critics that are known."""

import json

import pytest
import torch

from benchmarks import true_q

TRUTH = [torch.tensor([0.0, 1.0, 0.5, 0.5]), torch.tensor([0.2, 0.2, 0.9, 0.2])]


def test_a_perfect_critic_agrees_in_everything():
    found = true_q.agreement(TRUTH, TRUTH)
    for name in ("correlation", "ordered", "cosine", "explained_variance"):
        assert found[name] == pytest.approx(1.0), name


def test_a_critic_that_is_upside_down_orders_nothing_right():
    found = true_q.agreement([1 - q for q in TRUTH], TRUTH)
    assert found["ordered"] == 0 and found["cosine"] == pytest.approx(-1.0)


def test_a_value_function_tells_nothing_within_a_state():
    found = true_q.agreement([q.mean().expand(4) for q in TRUTH], TRUTH)
    assert (found["cosine"], found["ordered"], found["spread"]) == (0.0, 0.5, 0.0)


def test_states_with_a_fault_are_left_out():
    broken = torch.tensor([float("nan"), 1.0, 1.0, 1.0])
    assert true_q.agreement([*TRUTH, TRUTH[0]], [*TRUTH, broken]) == true_q.agreement(TRUTH, TRUTH)


@pytest.mark.slow
def test_it_runs_and_writes_what_it_promises(tmp_path, monkeypatch, capsys):
    out = tmp_path / "true_q.json"
    monkeypatch.setattr("sys.argv", ["true_q", "--episodes", "2", "--k", "2", "--repeats", "1", "--json", str(out)])
    true_q.main()
    results = json.loads(out.read_text())
    assert "correlation" in results["headline"] and results["runs"][0]["states"] > 2
    assert "embedded phone" in capsys.readouterr().out
