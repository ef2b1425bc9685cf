"""What is wrong in files, names and numbers is told in a sentence, and nothing is begun."""

import json

import pytest

from coach_gym.__main__ import main
from coach_gym.agents.data.labels import LABELS, SETTINGS

HALF = '{"about": '


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working folder, with damaged files of every kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    files = {
        "half.toml": "k = [4,", "half.json": '{"k": ', "list.json": "[4]", "ledger/episodes.json": HALF,
        "list/episodes.json": "[]", "episode/a.npz": "PK", "model/config.json": HALF, f"labels/{LABELS}": HALF,
        f"empty/{LABELS}": "", f"empty/{SETTINGS}": json.dumps({"settings": {"folders": []}}),
        f"stranger/{LABELS}": json.dumps(
            {"folder": 3, "episode": "a", "step": 0, "response": "", "action": "", "good": True}
        ),
        f"stranger/{SETTINGS}": json.dumps({"settings": {"folders": []}}),
        f"settings/{SETTINGS}": HALF, "episodes/episodes.json": json.dumps({"about": None, "done": {}}),
        "shards/android_control-00000-of-00001": "garbage, and more of it", "shards/splits.json": HALF,
        "pool.jsonl": HALF,
    }  # fmt: skip
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("data androidcontrol nowhere", "nowhere has no files android_control"),
        ("data androidcontrol shards", "is damaged in record 0: .* download it again"),
        ("data androidcontrol shards --split train", "splits.json cannot be read .* download it again"),
        ("data experts --env Nope-v0", "`Nope` doesn't exist"),
        ("data experts --episodes 0", "episodes=0 is too small; pass 1 or more"),
        ("data rollouts --policy nowhere", "the model nowhere cannot be loaded: there is no such directory"),
        ("data rollouts --temperature -1", "temperature=-1.0 is negative"),
        ("label nowhere", "nowhere holds no episodes; make some with coach-gym data"),
        ("label ledger", "episodes.json is damaged .* remove it"),
        ("label list", "episodes.json is damaged .* remove it"),
        ("label episode", "the episode episode/a.npz cannot be read .* repeat the command that wrote it"),
        ("label episodes --policy model", "the model model cannot be loaded: its config.json cannot be read"),
        ("label episodes --candidates 0", "candidates=0 is too small"),
        ("sft prm labels --model pocket", "the labels in labels are damaged .* repeat the coach-gym label"),
        ("sft prm stranger", "labels are of other folders than the 0"),
        ("sft prm empty --batch-size 0", "batch_size=0 is too small"),
        ("sft prm empty --epochs 0", "epochs=0.0 is not above 0"),
        ("sft prm empty --template nowhere.txt", "nowhere.txt"),
        ("critic --labels labels", "the labels in labels are damaged"),
        ("critic --config half.toml", "the settings in half.toml cannot be read .* mend the file"),
        ("critic --env Nope-v0", "`Nope` doesn't exist"),
        ("train --steps 8 --config half.json", "the settings in half.json cannot be read"),
        ("train --steps 8 --config list.json", "list.json holds a list, not settings by name"),
        ("train --steps 0", "steps=0 is too small"),
        ("train --steps 8 --env Nope-v0", "`Nope` doesn't exist"),
        ("train --steps 8 --pool pool.jsonl", "line 1 of pool.jsonl is no task"),
        ("train --steps 8 --k two", "k='two' is of type str; pass a whole number"),
        ("train --steps 8 --kk 2", "CoachAgent has no argument 'kk'; did you mean 'k'"),
        ("evaluate --runs 0", "runs=0 is too small"),
        ("evaluate --agent random --env Nope-v0", "`Nope` doesn't exist"),
        ("evaluate --agent random --device half.toml", "the fleet in half.toml cannot be read"),
    ],
)
def test_bad_input_is_a_sentence(folder, command, told):
    before = {path for path in folder.rglob("*")}
    with pytest.raises(SystemExit, match=told) as ended:
        main([*command.split(), "--out", "out"])
    assert isinstance(ended.value.code, str)
    assert {path for path in folder.rglob("*")} - before <= {folder / "out", folder / "out" / SETTINGS} | {
        folder / "out" / "candidates.jsonl", folder / "out" / "episodes.json",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--gpus 0", "gpus=0 is too small"), ("--k 0", "k=0 is too small"), ("--turns 0", "turns=0 is too small"),
        ("--gpu-memory 0", "gpu_memory=0.0 is not above 0"), ("--max-pixels 0", "max_pixels=0 is too small"),
        ("--lora-rank -1", "lora_rank=-1 is too small"), ("--screen wide", "'wide' is no width and height"),
        ("--model nowhere", "the model nowhere cannot be loaded"), ("--model model", "its config.json cannot be read"),
    ],
)  # fmt: skip
def test_plans_of_nothing_are_refused(option, told):
    with pytest.raises(SystemExit, match=told):
        main(["plan", *option.split()])


def test_a_refused_training_leaves_its_folder_free(folder):
    for k in ("two", "0"):
        with pytest.raises(SystemExit, match=f"k='?{k}"):
            main(f"train --steps 8 --k {k} --out out".split())
    assert not (folder / "out").exists()


def test_settings_of_labels_that_cannot_be_read_are_not_written_over(folder):
    with pytest.raises(SystemExit, match="label.json is damaged"):
        main("label episodes --out settings".split())
    assert (folder / "settings" / SETTINGS).read_text() == HALF
