"""Exported episodes are read back by the readers of those formats."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coach_gym.actions import Action, format_action
from coach_gym.cli.data import export
from coach_gym.data.android_control import read_example
from coach_gym.data.export import android_control_record, export_android_control, export_dataset
from coach_gym.data.tfrecord import read_examples
from coach_gym.episode import Episode
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore
from coach_gym.ui import parse_ui
from tests.coach_gym.recording.made import episode

ACTIONS = [
    Action("open_app", content="Contacts"),
    Action("click", (3, 4)),
    Action("type", content="Ada"),
    Action("scroll", (10, 20), direction="down"),
    Action("press_back"),
]


def doing(actions: list[Action]) -> Episode:
    made = episode(steps=len(actions))
    for step, action in zip(made.steps, actions, strict=True):
        step.action = format_action(action, f"do {action.kind}")
    return made


@pytest.mark.parametrize(("exported", "file"), [
    (export_dataset, "out"), (export_android_control, "out/android_control-00000-of-00001"),
])  # fmt: skip
def test_an_export_that_fails_leaves_what_was_there(tmp_path, exported, file):
    def damaged():
        yield doing(ACTIONS)
        raise ValueError("damaged")

    exported([doing(ACTIONS)], tmp_path / "out")
    before = (tmp_path / file).read_bytes()
    with pytest.raises(ValueError, match="damaged"):
        exported(damaged(), tmp_path / "out")
    assert (tmp_path / file).read_bytes() == before and len([*(tmp_path / file).parent.iterdir()]) == 1


def test_android_control_reads_what_was_exported(tmp_path: Path) -> None:
    ours = doing([*ACTIONS, Action("finished")])
    ours.last = None
    assert export_android_control([ours, replace(ours, goal="again")], tmp_path) == 2
    examples = list(read_examples(tmp_path / "android_control-00000-of-00001"))
    theirs, _ = read_example(examples[0])
    assert theirs.goal == ours.goal and examples[1]["goal"] == [b"again"] and examples[1]["episode_id"] == [1]
    scroll = format_action(Action("scroll", (10, 20), direction="down"), "do scroll")  # from the middle of the screen
    said = [step.action for step in ours.steps[:-1]]
    assert said[3] == scroll and [step.action for step in theirs.steps[:-1]] == said
    for mine, yours in zip(ours.steps, theirs.steps, strict=True):
        assert np.array_equal(mine.observation.screenshot, yours.observation.screenshot)
        assert "b" in [e.label[:1] for e in parse_ui(yours.observation.ui)]


def test_the_last_screen_ends_an_episode_that_was_not_finished() -> None:
    ours = doing(ACTIONS)
    record = android_control_record(ours, 0)
    assert len(record["screenshots"]) == len(record["actions"]) + 1 == 6
    assert ours.last is not None
    last = np.array(Image.open(io.BytesIO(record["screenshots"][-1])))
    assert np.array_equal(last, ours.last.screenshot)


def test_texts_that_are_no_actions_are_left_out() -> None:
    ours = doing(ACTIONS)
    ours.steps[1].action = "hm"
    assert len(android_control_record(ours, 0)["actions"]) == 4


def test_dataset(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    ours = episode()
    assert export_dataset([ours, ours], tmp_path / "steps.parquet") == 6
    table = pq.read_table(tmp_path / "steps.parquet")
    row = table.to_pylist()[4]
    assert (row["episode"], row["step"], json.loads(row["params"])) == (1, 1, ours.params)
    candidates = ours.steps[1].candidates
    assert row["q"] == [c.q for c in candidates] and row["logprobs"] == [c.logprobs for c in candidates]
    shown = np.array(Image.open(io.BytesIO(row["screenshot"]["bytes"])))
    assert np.array_equal(shown, ours.steps[1].observation.screenshot)
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert set(features) == set(table.column_names) and features["screenshot"] == {"_type": "Image"}


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    store = EpisodeStore(tmp_path / "run")
    store.write(episode(), Origin())
    store.write(replace(episode(), outcome=0.0), Origin())
    export(tmp_path / "run", "dataset", True, tmp_path / "steps.parquet")
    assert "Wrote 3 rows" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no episodes"):
        export(tmp_path / "nothing", "androidcontrol", False, tmp_path / "out")
