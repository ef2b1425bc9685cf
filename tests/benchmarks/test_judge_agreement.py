"""Agreement of judges with the rules: episodes have the truth that their players stand for, and counting is right."""

import json
import sys

import pytest

from benchmarks import judge_agreement
from benchmarks.judge_agreement import Claims, compare, record, wilson
from tests.agents.judging.scripted_server import said, serving
from tests.agents.judging.test_verifiers import NO, YES


def test_agreement_of_a_known_table():
    truth = [1.0] * 6 + [0.0] * 4
    verdicts = [1.0, 1.0, 1.0, 1.0, 0.0, None, 0.0, 0.0, 1.0, None]
    found = compare(truth, verdicts)
    assert found["agreement"] == 6 / 8 and found["silent"] == pytest.approx(0.2)
    assert found["kappa"] == pytest.approx((0.75 - (5 * 5 + 3 * 3) / 64) / (1 - (5 * 5 + 3 * 3) / 64))
    assert found["table"] == {
        "solved": {"solved": 4, "failed": 1, "silent": 1}, "failed": {"solved": 1, "failed": 2, "silent": 1},
    }  # fmt: skip


def test_wilsons_interval():
    """Figures of R's binom.confint(92, 100, methods="wilson")."""
    assert wilson(92, 100) == pytest.approx((0.8501, 0.9589), abs=2e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(10, 10)
    assert high == pytest.approx(1.0) and 0.7 < low < 0.75


def test_a_judge_that_never_answers_agrees_in_nothing():
    found = compare([1.0, 0.0], [None, None])
    assert found["silent"] == 1.0 and found["agreement"] != found["agreement"]


def test_experts_succeed_and_mistaken_ones_fail_and_both_claim_success():
    episodes = record(["experts", "mistaken"], seed=0, number=12)
    for player, episode in episodes:
        assert episode.outcome == float(player == "experts"), (player, episode.task)
    assert Claims().verify([episode for _, episode in episodes]) == [1.0] * 12


def test_a_served_judge_is_compared_with_the_rules(monkeypatch, tmp_path, capsys):
    """One that looks for the expert's verdict in nothing but the goal cannot agree more than by chance."""
    path = tmp_path / "agreement.json"
    with serving(lambda number, request: YES if len(said(request)) % 2 else NO) as server:
        words = ["judge_agreement", "--judges", "claims", f"openai:coin@{server.url}", "--episodes", "8"]
        monkeypatch.setattr(sys, "argv", [*words, "--players", "experts", "mistaken", "--json", str(path)])
        judge_agreement.main()
    result, shown = json.loads(path.read_text()), capsys.readouterr().out
    assert result["judges"]["claims"]["all"]["agreement"] == 0.5
    assert result["judges"]["claims"]["all"]["table"]["failed"] == {"solved": 4, "failed": 0, "silent": 0}
    assert all(name.isidentifier() for name in result["headline"])
    assert "rerun: python -m benchmarks.judge_agreement" in shown and "mistaken" in shown
