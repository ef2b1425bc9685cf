"""What the checks of tasks on files let pass."""

import random

import pytest

from coach_gym.envs.apps.files import world_tasks as files
from coach_gym.envs.apps.files.lab_tasks import TASKS as LAB_TASKS
from coach_gym.envs.apps.files.lab_tasks import FilesCopyFile, FilesCountFiles, FilesFileSize
from coach_gym.envs.phone.folders import size_text
from coach_gym.envs.tasks.words import ParamRng


def test_moving_is_not_copying(device, begin):
    task = begin(files.FilesMoveFile, name="x.mp3", folder="Music", target="Movies", files={"Music/x.mp3": 9})
    storage = device.phone.storage
    storage.copy(f"{files.SHARED}/Music/x.mp3", f"{files.SHARED}/Movies/x.mp3")
    assert task.evaluate(device, None) == 0.0
    device.remove("/sdcard/Music/x.mp3")
    assert task.evaluate(device, None) == 1.0


def test_a_file_is_no_folder(device, begin):
    task = begin(files.FilesCreateFolder, name="Lamp", folder="Music", files={})
    device.write("/sdcard/Music/Lamp", b"")
    assert task.evaluate(device, None) == 0.0
    device.remove("/sdcard/Music/Lamp")
    device.phone.storage.mkdir(f"{files.SHARED}/Music/Lamp")
    assert task.evaluate(device, None) == 1.0


@pytest.mark.parametrize(
    ("answer", "score"), [("2.50 kB", 1.0), ("2.5kB", 1.0), ("2 kB", 0.0), ("2.5", 0.0), ("25 kB", 0.0)]
)
def test_sizes_may_be_written_shorter(device, answer, score, begin):
    task = begin(FilesFileSize, name="x.mp3", folder="Music", files={"Music/x.mp3": 2500})
    assert task.evaluate(device, answer) == score


@pytest.mark.parametrize(("answer", "score"), [("2", 1.0), ("2.", 1.0), ("3", 0.0), ("2 3", 0.0), ("12", 0.0)])
def test_counts(device, answer, score, begin):
    files = {"Music/x.mp3": 1, "Music/y.mp3": 1, "Movies/z.mp4": 1}
    task = begin(FilesCountFiles, folder="Music", other="Movies", files=files)
    assert task.evaluate(device, answer) == score


@pytest.mark.parametrize("family", files.TASKS)
def test_instances_share_no_name_with_other_splits(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {path.rpartition("/")[2] for params in drawn for path in params["files"]}

    train, validation, test = (names(split) for split in ("train", "validation", "test"))
    assert train and not (train & validation or train & test or validation & test)


TREE = {"Music/x.mp3": 9, "Music/y.mp3": 5, "Movies/z.mp4": 7}


def at(path):
    return f"/sdcard/{path}"


@pytest.mark.parametrize("gone, score", [
    (["Music/x.mp3"], 1.0), (["Music/y.mp3"], 0.0), (["Music/x.mp3", "Music/y.mp3"], 0.0), (["Music"], 0.0),
])  # fmt: skip
def test_only_the_named_file_may_go(device, begin, gone, score):
    task = begin(files.FilesDeleteFile, name="x.mp3", folder="Music", files=TREE)
    for path in gone:
        device.remove(at(path))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("name, data, score", [
    ("new.mp3", bytes(9), 1.0), ("New.mp3", bytes(9), 0.0), ("new.mp3.mp3", bytes(9), 0.0), ("new.mp3", bytes(8), 0.0),
    ("y.mp3", bytes(9), 0.0),
])  # fmt: skip
def test_a_renamed_file_keeps_its_contents(device, begin, name, data, score):
    task = begin(files.FilesRenameFile, name="x.mp3", folder="Music", new_name="new.mp3", files=TREE)
    device.write(at(f"Music/{name}"), data)
    assert task.evaluate(device, None) == 0.0, "the old one is still there"
    device.remove(at("Music/x.mp3"))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("folder, score", [("Movies", 1.0), ("Pictures", 0.0), ("Movies/New", 0.0)])
def test_a_copy_is_in_both_folders(device, begin, folder, score):
    task = begin(FilesCopyFile, name="x.mp3", folder="Music", target="Movies", files=TREE)
    device.write(at(f"{folder}/x.mp3"), bytes(9))
    assert task.evaluate(device, None) == score
    device.remove(at("Music/x.mp3"))
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("family", [*files.TASKS, *LAB_TASKS])
@pytest.mark.parametrize("seed", range(3))
def test_another_instance_is_not_solved_by_the_right_state_of_this_one(device, begin, family, seed):
    """Near misses differ in what they ask for, not only in their words."""
    task = begin(family, seed)
    other = family(task.near_miss(random.Random(seed)))
    assert other.params != task.params
    other.before = task.before
    if task.kind == "operation":
        assert other.expected(dict(task.before)) != task.expected(dict(task.before))
    else:
        assert not all(task.evaluate(device, answer) == other.evaluate(device, answer) for answer in answers(task))


def answers(task):
    """Every answer that some instance on this storage might want."""
    return [str(n) for n in range(8)] + [size_text(size) for size in task.params["files"].values()]
