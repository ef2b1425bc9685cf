"""What the checks of photos and videos let pass."""

import pytest

from coach_gym.envs.apps.camera.world_tasks import TASKS, CameraTakePhoto, CameraTakeVideo
from tests.envs.hands import Hands

PHOTO, VIDEO = "/sdcard/Pictures/IMG.jpg", "/sdcard/Movies/VID.mp4"


@pytest.mark.parametrize("family, written, score", [
    (CameraTakePhoto, [PHOTO], 1.0), (CameraTakePhoto, [VIDEO], 0.0), (CameraTakePhoto, [PHOTO, VIDEO], 0.0),
    (CameraTakePhoto, [PHOTO, "/sdcard/Pictures/IMG2.jpg"], 0.0), (CameraTakePhoto, ["/sdcard/DCIM/IMG.jpg"], 0.0),
    (CameraTakeVideo, [VIDEO], 1.0), (CameraTakeVideo, [PHOTO], 0.0), (CameraTakeVideo, [PHOTO, VIDEO], 0.0),
])  # fmt: skip
def test_one_file_of_the_kind_and_no_other(device, begin, family, written, score):
    task = begin(family)
    for path in written:
        device.write(path, b"x")
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", TASKS)
def test_checks_do_not_raise_on_an_emptied_phone(device, begin, family, empty_storage):
    task = begin(family)
    empty_storage()
    assert task.evaluate(device, None) == 0.0


def test_each_touch_of_the_shutter_takes_a_photo(device, begin):
    task = begin(CameraTakePhoto)
    hands = Hands("com.android.camera2", phone=device.phone)
    hands.tap("Shutter")
    assert task.evaluate(device, None) == 1.0
    hands.tap("Shutter")
    assert task.evaluate(device, None) == 0.0, "two photos"
