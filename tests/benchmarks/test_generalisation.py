"""The benchmark of generalisation, with players that need no model."""

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks import generalisation
from benchmarks.generalisation import RandomTouches, Row, Share, rows
from coach_gym.actions import parse_action
from coach_gym.envs.suites import apart
from coach_gym.envs.suites.load import BUILTIN, load_suite
from coach_gym.envs.suites.splits import SELECTIONS, Selection

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "generalisation.md").read_text()


@pytest.mark.parametrize(
    ("solved", "episodes", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (95, 100, 0.8882, 0.9785)]
)
def test_intervals_are_wilsons(solved, episodes, low, high):
    assert Share(solved, episodes).interval == pytest.approx((low, high), abs=2e-4)


def test_every_kind_has_a_row_and_training_stands_beside_the_same_families():
    suite = load_suite("android_world")
    found = list(rows(suite, "test", None))
    assert [row.name for row in found] == [
        "training, for unseen instances", "unseen instances", "training, for unseen words", "unseen words",
        "unseen families", "unseen apps",
    ]  # fmt: skip
    assert found[0].families == found[1].families and found[2].families == found[3].families
    for row in found:
        assert suite.of(row.selection.split, row.selection.unseen, row.families).families.keys() == set(row.families)


def test_kinds_that_a_suite_lacks_and_tasks_that_are_not_asked_for_are_left_out(capsys):
    found = list(rows(load_suite("android_sight"), "validation", ["GalleryReadClock"]))
    assert found[:2] == [
        Row("training, for unseen instances", Selection("train"), ("GalleryReadClock",)),
        Row("unseen instances", Selection("validation"), ("GalleryReadClock",)),
    ]
    assert [row.name for row in found[2:]] == ["unseen families"]
    words = rows(load_suite("android_world"), "test", None, ["words"])
    assert [row.name for row in words] == ["training, for unseen words", "unseen words"]
    shown = capsys.readouterr().out
    assert re.search(r"unseen words +none of the tasks", shown)
    assert re.search(r"unseen apps +this suite has none", shown)


def test_random_touches_hit_what_can_be_touched_and_end():
    ui = '<Button text="Save" bounds="[10,10][30,30]" clickable="true"/>'
    actions, _ = RandomTouches(0).predict({"ui": [ui] * 200 + [""]})
    kinds = [parse_action(action)[1].kind for action in actions]
    assert 5 < kinds[:200].count("finished") < 40 and kinds[-1] == "finished"
    assert {action for action in actions if "click" in action} == {"click(start_box='(20,20)')"}


@pytest.fixture
def call(monkeypatch, tmp_path, capsys):
    def run(words):
        monkeypatch.setattr(generalisation, "load_player", lambda *_: RandomTouches(1))
        monkeypatch.setattr(sys, "argv", ["x", *words.split(), "--json", str(tmp_path / "result.json")])
        generalisation.main()
        return capsys.readouterr().out, json.loads((tmp_path / "result.json").read_text())

    return run


def test_the_command_warns_of_choosing_by_test_alone(call, monkeypatch):
    monkeypatch.setattr(generalisation, "rows", lambda *_: [])
    warned = {split: "do not choose settings" in call(f"--split {split}")[0] for split in ("validation", "test")}
    assert warned == {"validation": False, "test": True}


def test_the_command_measures_all_players_on_the_same_instances(call):
    shown, result = call("--benchmark android_lab --tasks SettingsDarkTheme ClockAddCity --episodes 1 --split test")
    assert "rerun: python -m benchmarks.generalisation --benchmark android_lab" in shown
    assert len(result["rows"]) == 6 and len(result["headline"]) == 6 * 4
    for row in result["rows"]:
        assert row["controls"]["expert"]["solved"] == row["controls"]["expert"]["episodes"] == 1
        assert row["controls"]["random"]["episodes"] == 1
    assert result["headline"]["expert_unseen_words"] == 1.0


def test_several_policies_play_the_same_instances_and_the_headline_has_before_and_after(call, monkeypatch):
    monkeypatch.setattr(generalisation, "rows", lambda *_: [Row("unseen apps", Selection("test", "apps"), ("A",))])
    monkeypatch.setattr(generalisation, "expert_success", lambda *_: Share(4, 4))
    monkeypatch.setattr(generalisation, "AndroidEnv", lambda **_: None)
    solved = iter([1, 0, 2, 1, 4, 2, 0])  # greedy and sampled of three policies, then random touches
    monkeypatch.setattr(generalisation, "success", lambda *_: Share(next(solved), 4))
    shown, result = call("--policy pocket one two --split test")
    assert result["headline"] == {
        "greedy_unseen_apps": 0.75, "greedy_unseen_apps_before": 0.25, "sampled_unseen_apps": 0.375,
        "sampled_unseen_apps_before": 0.0, "random_unseen_apps": 0.0, "expert_unseen_apps": 1.0,
    }  # fmt: skip
    assert result["rows"][0]["two"]["greedy"]["solved"] == 4 and re.search(r"two +greedy +100.0%", shown)


# The page


def test_the_page_lists_what_is_kept_apart():
    listed = PAGE.partition("## What is kept apart")[2].partition("## Other suites")[0]
    apps, families = listed.split("Families of the other apps:")
    for text, lists in ((families, apart.FAMILIES), (apps, apart.APPS)):
        _, validation, test = re.split(r"^- (?:validation|test): ", text, flags=re.MULTILINE)
        for part, names in ((validation, lists["validation"]), (test, lists["test"])):
            given = re.sub(r"\(.*?\)", "", " ".join(part.split())).replace("`", "")
            assert {name.strip() for name in re.split(r"[,;]", given)} == set(names)


@pytest.mark.parametrize(("column", "benchmark"), enumerate(BUILTIN))
def test_the_page_counts_the_families_of_every_split(column, benchmark):
    suite = BUILTIN[benchmark]()
    counts = {
        selection: sum(selection.has(family, suite.apart) for family in suite.families.values())
        for selection in SELECTIONS
    }
    for unseen in ("instances", "words", "families", "apps"):
        (line,) = re.findall(rf'^\| `"{unseen}"`.*$', PAGE, re.MULTILINE)
        cell = line.split("|")[3 + column].replace("none", "0").replace(" families", "").split("/")
        assert [int(each) for each in cell] == [counts[Selection(split, unseen)] for split in ("validation", "test")]
    name = ("AndroidWorld", "AndroidLab", "AndroidSight")[column]
    assert re.search(rf"\b{counts[Selection('train')]}\s+(families\s+)?of\s+{name}", PAGE)
