"""What the checks of tasks on files let pass."""

import pytest

from coach_gym.envs.apps.files import world_tasks as files
from coach_gym.envs.apps.files.lab_tasks import FilesCountFiles, FilesFileSize
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
def test_heldout_instances_share_no_name_with_training(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {path.rpartition("/")[2] for params in drawn for path in params["files"]}

    assert names("train") and not names("train") & names("heldout")
