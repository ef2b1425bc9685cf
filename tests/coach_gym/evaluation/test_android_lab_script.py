"""AndroidLab's own result script on our export: a checkout of it is needed, which COACH_ANDROID_LAB names."""

import importlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.suites.official_lab import checkout
from coach_gym.envs.suites.official_lab.metrics import reasonable_operations
from coach_gym.evaluation.exports import write_android_lab
from coach_gym.evaluation.records import Record
from coach_gym.evaluation.report import Report

pytestmark = pytest.mark.skipif(
    checkout.VARIABLE not in os.environ, reason=f"{checkout.VARIABLE} does not name a checkout of AndroidLab"
)
TOTAL = 6  # tasks of the benchmark, one of which nobody has played
PLAYED = [
    # run, task, the judge's last word, which of a few screens were seen
    (0, "clock_1", {"complete": True, "1": True, "2": False}, [0, 1, 2, 2, 3]),
    (0, "clock_2", {"complete": False, "1": True, "2": False, "judge_page": True}, [0, 0, 1, 1]),
    (0, "zoom_1", {"complete": False}, [0, 1, 2]),
    (0, "setting_3", {"complete": True}, [3, 2]),
    (0, "map_1", {"complete": True, "1": True}, [1]),
    (1, "clock_1", {"complete": False, "1": False, "2": False}, [0, 0, 0, 0]),
    (1, "zoom_1", {"complete": False, "1": True}, [1, 2, 1, 2]),
]


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    """Upstream's script; it reads a file beside it, so it runs in the checkout."""
    jsonlines = pytest.importorskip("jsonlines")
    pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    folder = checkout.find()
    monkeypatch.chdir(folder)
    with checkout.importable(folder):
        sys.modules["jsonlines"] = jsonlines
        sys.modules["evaluation.definition"].detect_answer_test = None  # asks a language model
        yield importlib.import_module("generate_result")
    del sys.modules["generate_result"]


@pytest.fixture
def screens(tmp_path) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.png" for number in range(4)]
    for path in paths:
        Image.fromarray(rng.integers(0, 255, (40, 20, 3), np.uint8)).save(path)
    return paths


def records(screens: list[Path]) -> list[Record]:
    people = json.loads(Path(checkout.LENGTHS).read_text())
    return [
        Record(
            number, run, task, {}, "Do it", "easy", "operation", float(verdict["complete"]), len(seen), seconds=1.0,
            operations=reasonable_operations([np.array(Image.open(screens[screen])) for screen in seen]),
            judged=verdict, judged_steps=len(seen), human_steps=people[task],
        )
        for number, (run, task, verdict, seen) in enumerate(PLAYED)
    ]  # fmt: skip


def lines(path: Path, key: str) -> list[dict]:
    return sorted(map(json.loads, path.read_text().splitlines()), key=lambda line: line[key])


def test_its_table_shows_the_figures_of_our_report(upstream, screens, tmp_path):
    import pandas

    played = records(screens)
    write_android_lab(played, tmp_path / "outputs", "me")
    upstream.output_to_excel(
        SimpleNamespace(output_folder=str(tmp_path / "outputs"), output_excel=tmp_path / "table.xlsx", total_num=TOTAL)
    )
    table = pandas.read_excel(tmp_path / "table.xlsx").set_index("agent_name")
    assert sorted(table.index) == ["me_run0", "me_run1"]
    for run in (0, 1):
        mine = [record for record in played if record.run == run]
        theirs, ours = table.loc[f"me_run{run}"], Report(mine, tasks=TOTAL)
        assert theirs["Total"] == len(mine) and theirs["correct"] == sum(record.success for record in mine)
        assert 100 * theirs["Acc"] == pytest.approx(ours.rows()["all"]["SR"])
        assert theirs["Sum_Partial_Acc"] == pytest.approx(ours.measures()["Sub-SR"])
        assert theirs["Sum_RRR"] == pytest.approx(ours.measures()["RRR"])
        # upstream divides by all tasks, our report by those that were played
        ratio = theirs["Sum_reasonable_operation_ratio"] * TOTAL / len(mine)
        assert ratio == pytest.approx(ours.measures()["ROR"])


def test_its_files_are_ours_when_it_judges_the_same_episodes(upstream, screens, tmp_path):
    """Upstream's measures of the same verdicts and screens, app by app, against the files that we write."""
    task_module, theirs = sys.modules["evaluation.task"], tmp_path / "theirs"
    theirs.mkdir()
    first = [(record, seen) for record, (run, _, _, seen) in zip(records(screens), PLAYED, strict=True) if run == 0]
    for app in sorted({record.task.split("_")[0] for record, _ in first}):
        mine = [(record, seen) for record, seen in first if record.task.startswith(app)]
        names = {record.task: record.goal for record, _ in mine}
        config = SimpleNamespace(
            APP=app, output_dir=str(theirs), task_name=names, metrics_type=dict.fromkeys(names, "operation"),
            get_tasks=list, get_metrics=dict,
        )  # fmt: skip
        judge = task_module.Evaluation_Task(config, {}, None, detail=True)
        for record, seen in mine:
            task = {"task_id": record.task}
            judge.add_metrics(task, [{}] * record.steps, [str(screens[screen]) for screen in seen], record.judged)
            judge.save_single(task, record.judged)
        judge.print_metric()
    write_android_lab([record for record, _ in first], tmp_path / "ours", "me")
    for name, key in (("results.jsonl", "task_id"), ("total.jsonl", "App")):
        found, expected = lines(tmp_path / "ours/me_run0" / name, key), lines(theirs / name, key)
        assert len(found) == len(expected)
        for mine, wanted in zip(found, expected, strict=True):
            assert mine.keys() == wanted.keys()
            for field, value in wanted.items():
                assert mine[field] == (pytest.approx(value) if isinstance(value, float) else value), (mine, field)
