"""Tables on constructed states."""

import math
from dataclasses import replace

import pytest

from benchmarks.judging import report
from benchmarks.judging.measure import Record


def record(episode, q, truth, good, verdict, family="Family"):
    texts = [f"answer {number}" for number in range(len(q))]
    return Record(
        family, episode, texts, q, [-1.0] * len(q), truth, truth, good, returned=truth[0], verdict=verdict,
        verdicts=[float(value == 1) for value in good],
    )  # fmt: skip


RECORDS = [
    record(0, [0.9, 0.1, 0.2, 0.3], [1.0, 0.0, 0.0, 0.5], [1, 0, 0, 0], 1.0),
    record(0, [0.8, 0.1, 0.2, 0.3], [1.0, 0.0, 0.2, 0.5], [1, 0, 0, 1], 1.0),
    record(1, [0.2, 0.9, 0.1, 0.3], [0.0, 1.0, 0.0, 0.0], [0, 1, 0, 0], 0.0, "Other"),
    record(2, [0.2, 0.3, 0.1, 0.4], [0.0, 0.0, 0.0, 0.0], [math.nan] * 4, 1.0, "Other"),
]


def values(rows, name):
    return {metric: cell["value"] for metric, cell in rows[name].items()}


def test_the_controls_know_nothing_within_a_state():
    rows = report.critics(RECORDS)
    assert values(rows, "critic")["auc"] > 0.9 and values(rows, "again")["auc"] == 1
    for control in ("log_prob", "state_mean"):
        assert (values(rows, control)["auc"], values(rows, control)["cosine"]) == (0.5, 0)
    assert values(rows, "shuffled")["auc"] < values(rows, "critic")["auc"]
    assert values(rows, "shuffled")["spread"] == pytest.approx(values(rows, "critic")["spread"])


def test_steps_of_unknown_truth_are_not_judged():
    rows = report.judges(RECORDS)
    assert values(rows, "prm")["accuracy"] == 1.0
    assert values(rows, "always_yes")["accuracy"] == pytest.approx(2 / 3)
    assert values(rows, "always_yes")["balanced"] == 0.5


def test_good_candidates_come_first():
    rows = report.contrasts(RECORDS)
    assert values(rows, "critic")["auc"] == values(rows, "judge")["auc"] == 1.0
    assert values(report.returns(RECORDS), "critic")["explained_variance"] > 0.8


def test_faults_are_left_out():
    broken = record(3, [1.0] * 4, [math.nan, 1.0, 1.0, 1.0], [math.nan] * 4, None)
    broken.returned = None
    assert report.critics([*RECORDS, broken]) == report.critics(RECORDS)
    assert report.returns([*RECORDS, broken]) == report.returns(RECORDS)
    assert report.critics([broken]) == {}


def test_a_judge_that_was_asked_about_executed_actions_alone_orders_nothing():
    alone = [replace(record, verdicts=[]) for record in RECORDS]
    assert "judge" in report.critics(RECORDS) and "judge" in report.contrasts(RECORDS)
    assert "judge" not in report.critics(alone) and "judge" not in report.contrasts(alone)


def test_families_have_counts(capsys):
    table = report.families(RECORDS)
    assert [table[name]["states"] for name in ("Family", "Other")] == [2, 2]
    assert (table["Other"]["true_no"], table["Family"]["true_yes"]) == (1, 2)
    report.show_families(table)
    report.show("critic", report.critics(RECORDS))
    assert "Other" in capsys.readouterr().out
