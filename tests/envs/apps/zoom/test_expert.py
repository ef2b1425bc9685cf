"""Zoom's experts, and what its tasks refuse."""

import itertools

import pytest

from coach_gym.envs.apps.zoom import lab_expert as expert
from coach_gym.envs.apps.zoom import lab_tasks as families
from coach_gym.envs.apps.zoom.app import AUDIO_CHOICES, DATABASE, PREFERENCES, SKIN_TONES
from coach_gym.envs.phone.preferences import to_xml
from tests.envs.expert_at_work import work

OPTIONS = list(itertools.product([True, False], repeat=2))


@pytest.mark.parametrize("audio, video", OPTIONS)
def test_a_meeting_is_joined_with_the_options_asked_for_and_no_others(device, audio, video):
    params = {"number": "234 567 8901", "name": "Ada", "audio": audio, "video": video}
    task = families.ZoomJoinMeeting(params)
    task.setup(device)
    work(device, expert.join_meeting, params)
    for other_audio, other_video in OPTIONS:
        other = families.ZoomJoinMeeting({**params, "audio": other_audio, "video": other_video})
        assert other.evaluate(device, None) == float((other_audio, other_video) == (audio, video))


@pytest.mark.parametrize("change", [
    "UPDATE joined SET meeting = meeting || '0'", "UPDATE joined SET name = 'ada'", "DELETE FROM joined",
    "INSERT INTO joined SELECT NULL, meeting, name, audio, video, at FROM joined",
])  # fmt: skip
def test_number_and_name_count_and_one_meeting_alone(device, change):
    params = {"number": "234 567 8901", "name": "Ada", "audio": True, "video": True}
    task = families.ZoomJoinMeeting(params)
    task.setup(device)
    work(device, expert.join_meeting, params)
    assert task.evaluate(device, None) == 1
    with device.database(DATABASE) as db:
        db.execute(change)
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("family, solve, key, choices", [
    (families.ZoomAutoConnectAudio, expert.auto_connect_audio, "choice", AUDIO_CHOICES),
    (families.ZoomReactionSkinTone, expert.reaction_skin_tone, "tone", tuple(SKIN_TONES)),
])  # fmt: skip
def test_every_choice_of_a_setting_can_be_made_and_is_told_from_the_others(device, family, solve, key, choices):
    for choice in choices[1:]:
        device.reset_state()
        task = family({key: choice})
        task.setup(device)
        assert task.evaluate(device, None) == 0
        work(device, solve, task.params)
        assert [family({key: other}).evaluate(device, None) for other in choices] == [
            float(other == choice) for other in choices
        ]


def test_a_setting_of_another_kind_raises_nothing(device):
    device.write(PREFERENCES, to_xml({"auto_connect_audio": 7}))
    assert families.ZoomAutoConnectAudio({"choice": AUDIO_CHOICES[1]}).evaluate(device, None) == 0


def test_the_name_used_in_a_meeting_is_read_from_the_list(device):
    meetings = {f"222 333 44{number:02d}": f"Name {number}" for number in range(12)}
    task = families.ZoomNameInMeeting({"number": "222 333 4407", "meetings": meetings})
    task.setup(device)
    answer = work(device, expert.name_in_meeting, task.params)
    assert answer == "Name 7" and task.evaluate(device, answer) == 1
