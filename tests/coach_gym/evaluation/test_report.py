"""Reports count right, and upstream's own scripts read the exports."""

import csv
import gzip
import io
import json
import math
import pickle

import pytest

from coach_gym.envs.suites.official_lab.metrics import operation_ratio
from coach_gym.evaluation.exports import write_android_lab, write_android_world
from coach_gym.evaluation.records import Record
from coach_gym.evaluation.report import Report


def record(number, score, run=0, task="clock_1", difficulty="easy", kind="operation", **more):
    values = {"params": {"seed": 30}, "goal": "Do it", "steps": 4, "seconds": 2.0, "operations": 0.5}
    return Record(number, run, task, difficulty=difficulty, kind=kind, score=score, **{**values, **more})


RECORDS = [
    record(0, 1.0), record(1, 0.0, task="zoom_1", difficulty="hard", kind="query"), record(2, None, task="map_1"),
    record(3, 1.0, run=1), record(4, 1.0, run=1, task="zoom_1", difficulty="hard", kind="query"),
    record(5, None, run=1, task="map_1", fault="gone"),
]  # fmt: skip


def test_rates_and_their_spread_over_runs():
    rows = Report(RECORDS, tasks=3).rows()
    assert rows["all"] == {"SR": 75.0, "spread": pytest.approx(math.sqrt(1250)), "episodes": 4}
    assert rows["easy"] == {"SR": 100.0, "spread": 0.0, "episodes": 2}
    assert rows["hard"] == rows["query"] == {"SR": 50.0, "spread": pytest.approx(math.sqrt(5000)), "episodes": 2}
    assert "medium" not in rows


def test_faults_and_silence_count_nowhere_else():
    measures = Report(RECORDS, tasks=4).measures()
    assert (measures["faults"], measures["without a verdict"], measures["not played"]) == (1, 1, 2)
    assert measures["ROR"] == 50.0 and measures["steps"] == 4


def test_android_labs_measures():
    judged = [
        record(0, 1.0, judged={"complete": True, "1": True}, judged_steps=4, human_steps=2),
        record(1, 0.0, task="zoom_1", judged={"complete": False, "1": True, "2": False}, judged_steps=4, human_steps=2),
    ]
    measures = Report(judged, tasks=4).measures()
    assert measures["Sub-SR"] == pytest.approx(100 * 1.5 / 4) and measures["RRR"] == pytest.approx(50.0)


def test_the_ratio_of_operations_leaves_out_the_last_pair():
    """Upstream drops the last screen but divides by the number of all pairs."""
    assert operation_ratio([]) == 1.0
    assert operation_ratio([True]) == 1.0
    assert operation_ratio([True, False, True]) == pytest.approx(2 / 3)


def test_json_and_csv_hold_every_episode():
    report = Report(RECORDS, tasks=3, agent="me", env="AndroidLab-v0", source="official")
    found = json.loads(report.to_json())
    assert len(found["records"]) == 6 and found["success"]["all"]["SR"] == 75.0
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [row["score"] for row in rows] == ["1.0", "0.0", "", "1.0", "1.0", ""]
    assert "me on AndroidLab-v0 (official tasks)" in str(report) and "75.0" in str(report)


def test_one_run_has_no_spread():
    found = json.loads(Report(RECORDS[:2], tasks=3).to_json())
    assert found["success"]["all"]["spread"] is None


def test_android_worlds_checkpoint_has_what_process_episodes_aggregates(tmp_path):
    write_android_world(RECORDS, tmp_path, "me")
    assert sorted(path.name for path in tmp_path.iterdir())[:2] == ["clock_1_0.pkl.gz", "clock_1_1.pkl.gz"]
    with gzip.open(tmp_path / "map_1_1.pkl.gz") as file:
        (failed,) = pickle.load(file)
    assert failed["exception_info"] == "gone" and math.isnan(failed["is_successful"])
    with gzip.open(tmp_path / "zoom_1_1.pkl.gz") as file:
        (solved,) = pickle.load(file)
    wanted = {"task_template": "zoom_1", "instance_id": 1, "is_successful": 1.0, "episode_length": 4, "run_time": 2.0}
    assert wanted.items() <= solved.items() and solved["exception_info"] is None


def test_android_labs_files_have_what_its_table_sums_up(tmp_path):
    judged = [
        record(0, 1.0, judged={"complete": True, "1": True}, judged_steps=4, human_steps=2),
        record(1, 0.0, task="clock_2", judged={"complete": False, "1": True, "2": False}),
        record(2, 0.0, task="zoom_1", judged={"complete": False}),
    ]
    write_android_lab(judged, tmp_path, "me")
    totals = [json.loads(line) for line in (tmp_path / "me_run0/total.jsonl").read_text().splitlines()]
    assert [(t["App"], t["Total"], t["Complete_Correct"]) for t in totals] == [("clock", 2, 1), ("zoom", 1, 0)]
    assert totals[0]["Sum_Partial_Acc"] == 1.5 and totals[0]["Sum_RRR"] == 0.5
    assert totals[0]["Sum_reasonable_operation_ratio"] == 1.0
    with pytest.raises(ValueError, match="suite='official'"):
        write_android_lab([record(0, 1.0)], tmp_path)
