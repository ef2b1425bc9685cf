"""What the checks of tasks on recordings let pass."""

import pytest

from coach_gym.envs.apps.recorder import world_tasks as recorder
from coach_gym.envs.apps.recorder.data import RECORDS
from coach_gym.envs.phone.media import mp4


def test_just_one_recording_more_that_can_be_heard(device, begin):
    task = begin(recorder.AudioRecorderRecordAudio, earlier=2)
    device.write(f"{RECORDS}/new.m4a", b"no sound")
    assert task.evaluate(device, None) == 0.0
    device.write(f"{RECORDS}/new.m4a", mp4.silence(2))
    assert task.evaluate(device, None) == 1.0
    device.remove(f"{RECORDS}/Record-1.m4a")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("name, score", [("talk.m4a", 1.0), ("talk", 0.0), ("Talk.m4a", 0.0), ("talk.m4a.m4a", 0.0)])
def test_a_recording_of_the_name_that_was_asked_for(device, name, score, begin):
    task = begin(recorder.AudioRecorderRecordAudioWithFileName, file_name="talk")
    device.write(f"{RECORDS}/{name}", mp4.silence(2))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", recorder.TASKS)
def test_the_check_does_not_raise_on_an_emptied_phone(device, family, begin, empty_storage):
    task = begin(family)
    empty_storage()
    assert task.evaluate(device, None) == 0.0
