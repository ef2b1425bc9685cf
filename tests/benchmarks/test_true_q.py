"""What the commands that measure critics and judges print and write."""

import json
import math

import pytest

from benchmarks import judges, true_q
from benchmarks.judging.measure import Record


def states(agent, seed, setting):
    """States of a critic that ranks well, and of a judge that is right."""
    q = [[0.9, 0.2, 0.1, 0.0], [0.1, 0.8, 0.1, 0.1], [0.5, 0.5, 0.5, 0.5]]
    truth = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]]
    good = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [math.nan] * 4] if setting.solve else [[]] * 3
    return [
        Record("Family", 10 * seed + number, list("abcd"), *each[:1], [0.0] * 4, each[1], each[1], each[2],
               returned=each[1][0], verdict=each[2][0] if setting.solve else None)
        for number, each in enumerate(zip(q, truth, good, strict=True))
    ]  # fmt: skip


@pytest.fixture
def call(monkeypatch, tmp_path, capsys):
    """Runs a command on constructed states and returns its JSON and what it printed."""

    def run(module, *words):
        out = tmp_path / "result.json"
        monkeypatch.setattr(module, "records", states)
        monkeypatch.setattr("sys.argv", [module.__name__, *words, "--json", str(out)])
        module.main()
        return json.loads(out.read_text()), capsys.readouterr().out

    return run


def test_true_q_holds_a_critic_against_measured_q(call):
    result, shown = call(true_q, "--seeds", "0", "1")
    assert result["states"] == 6 and result["headline"]["auc"] == 1.0
    assert {"critic", "shuffled", "log_prob", "state_mean", "again"} == result["rows"].keys()
    assert "embedded phone" in shown and "rerun: python -m benchmarks.true_q --seeds 0 1" in shown


def test_judges_compares_two_agents(call, monkeypatch):
    asked, load = [], judges.load_agent
    monkeypatch.setattr(judges, "load_agent", lambda source: asked.append(source) or load("pocket"))
    result, shown = call(judges, "--agent", "pocket", "--agent", "trained", "--seeds", "0", "1")
    assert asked == ["pocket", "trained"] and result["agents"].keys() == set(asked)
    assert result["headline"]["auc"] == result["headline"]["auc_before"] == 1.0
    assert result["headline"]["prm_accuracy"] == 1.0 and result["agents"]["trained"]["seeds"].keys() == {"0", "1"}
    assert "always_yes" in shown and "rerun: python -m benchmarks.judges --agent pocket" in shown


def test_states_of_a_saved_agent_are_played_measured_and_judged(tmp_path):
    judges.load_agent("pocket").save(tmp_path / "agent")
    agent = judges.load_agent(str(tmp_path / "agent"))
    setting = judges.Setting(["OpenAppTaskEval"], None, instances=1, k=3, hot=2.0, distinct=True)
    found = judges.records(agent, 0, setting)
    assert found and {record.family for record in found} == {"OpenAppTaskEval"}
    for record in found:
        assert {len(each) for each in (record.texts, record.q, record.log_prob, record.truth, record.good)} == {3}
        assert len(set(record.texts[1:])) == 2, "the others were drawn with replacement"
        assert record.verdict in (0.0, 1.0) and record.returned is not None
        assert all(0 <= sure <= 1 for sure in record.verdicts) and (record.verdicts[0] > 0.5) == bool(record.verdict)
        assert all(math.isnan(value) or 0 <= value <= 1 for value in record.truth)
    assert [r.truth for r in judges.records(agent, 0, setting)] == [r.truth for r in found], "a seed repeats its states"
