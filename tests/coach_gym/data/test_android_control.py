"""AndroidControl, in the format in which it is published."""

import gzip
import json

import numpy as np
import pytest

from coach_gym.__main__ import main
from coach_gym.actions import parse_action
from coach_gym.data.android_control import convert
from coach_gym.data.folder import EpisodeFolder
from coach_gym.data.tfrecord import CorruptFile, read_examples
from coach_gym.recording.archive import read_png
from coach_gym.ui import parse_ui
from tests.coach_gym.data.published import crc32c, demonstration, record, write_shard

EVERY_ACTION = [
    {"action_type": "open_app", "app_name": "Notes"},
    {"action_type": "click", "x": 35, "y": 70},
    {"action_type": "long_press", "x": 35, "y": 70},
    {"action_type": "input_text", "text": "it's"},
    {"action_type": "scroll", "direction": "down"},
    {"action_type": "navigate_back"},
    {"action_type": "navigate_home"},
    {"action_type": "wait"},
]
CLICK = {"action_type": "click", "x": 35, "y": 70}


def shard(folder, number=0):
    return folder / f"android_control-{number:05d}-of-00020"


def test_the_checksums_are_those_of_the_standard(tmp_path):
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720's check value
    plain = tmp_path / "plain"
    plain.write_bytes(record(b""))
    assert list(read_examples(plain)) == [{}]


def test_every_action_becomes_ours(tmp_path):
    write_shard(shard(tmp_path), [demonstration(27, EVERY_ACTION, "Nimm die „Notizen“")])
    folder = convert(tmp_path, tmp_path / "out")
    episode = EpisodeFolder(tmp_path / "out").read("000027")
    assert folder.names == ["000027"] and episode.goal == "Nimm die „Notizen“" and episode.success
    assert [step.action for step in episode.steps] == [
        "Thought: Do part 0 of it\nAction: open_app(app_name='Notes')",
        "Thought: Do part 1 of it\nAction: click(start_box='(35,70)')",
        "Thought: Do part 2 of it\nAction: long_press(start_box='(35,70)')",
        "Thought: Do part 3 of it\nAction: type(content='it\\'s')",
        "Thought: Do part 4 of it\nAction: scroll(start_box='(56,84)', direction='down')",
        "Thought: Do part 5 of it\nAction: press_back()",
        "Thought: Do part 6 of it\nAction: press_home()",
        "Thought: Do part 7 of it\nAction: wait()",
        "finished()",
    ]
    for step in episode.steps:
        parse_action(step.action)


def test_screens_come_with_their_pixels_and_their_text(tmp_path):
    told = demonstration(3, [CLICK])
    write_shard(shard(tmp_path), [told])
    episode = convert(tmp_path, tmp_path / "out").read("000003")
    for png, step in zip(told["screenshots"], episode.steps, strict=True):
        assert np.array_equal(read_png(png), step.observation.screenshot)
    button, field = parse_ui(episode.steps[0].observation.ui)  # without the status bar
    assert button.label == "Save 3 0" and button.bounds == (10, 60, 60, 80) and button.clickable
    assert field.editable and field.hint == "Name" and field.value == ""


def broken(change):
    told = demonstration(5, [CLICK, CLICK])
    change(told)
    return told


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda told: told.pop("goal"), "no field goal"),
        (lambda told: told["actions"].pop(), "numbers of screenshots"),
        (lambda told: told["actions"].__setitem__(0, b'{"action_type": "click", "x": 112, "y": 3}'), "outside"),
        (lambda told: told["actions"].__setitem__(0, b'{"action_type": "click", "x": null, "y": 3}'), "unreadable act"),
        (lambda told: told["actions"].__setitem__(0, b'{"action_type": "twirl"}'), "an action twirl"),
        (lambda told: told["actions"].__setitem__(0, b"[]"), "unreadable action"),
        (lambda told: told["screenshots"].__setitem__(1, told["screenshots"][1][:200]), "unreadable screenshot"),
        (lambda told: told["screenshot_widths"].__setitem__(1, 720), "another size"),
        (lambda told: told["accessibility_trees"].__setitem__(1, b"\xff\xff"), "unreadable accessibility"),
    ],
)
def test_what_cannot_be_used_is_dropped_and_counted(tmp_path, change, reason):
    write_shard(shard(tmp_path), [broken(change), demonstration(6, [CLICK])])
    folder = convert(tmp_path, tmp_path / "out")
    assert folder.names == ["000006"]
    ((found, number),) = folder.dropped.items()
    assert reason in found and number == 1


@pytest.mark.parametrize("where", [3, 30, -30, -2])
def test_a_damaged_shard_is_an_error_that_names_file_and_record(tmp_path, where):
    write_shard(shard(tmp_path), [demonstration(1, [CLICK])])
    raw = bytearray(gzip.decompress(shard(tmp_path).read_bytes()))
    raw[where] ^= 1
    shard(tmp_path).write_bytes(bytes(raw))
    with pytest.raises(CorruptFile, match="00000-of-00020 is damaged in record 0: the checksum.*download it again"):
        convert(tmp_path, tmp_path / "out")
    for short in (raw[:-1], gzip.compress(bytes(raw))[:-40]):
        shard(tmp_path).write_bytes(bytes(short))
        with pytest.raises(CorruptFile, match="damaged in record 0"):
            convert(tmp_path, tmp_path / "out")


def test_the_command_goes_on_where_it_was_interrupted(tmp_path, capsys):
    for number in range(3):
        write_shard(shard(tmp_path, number), [demonstration(10 * number + i, [CLICK]) for i in range(2)])
    (tmp_path / "splits.json").write_text(json.dumps({"train": [0, 10, 11, 20], "test": [1, 21]}))
    whole = shard(tmp_path, 1).read_bytes()
    shard(tmp_path, 1).write_bytes(whole[:-9])
    command = ["data", "androidcontrol", str(tmp_path), "--split", "train", "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit, match="damaged in record"):
        main(command)
    shard(tmp_path, 1).write_bytes(whole)
    shard(tmp_path, 0).write_bytes(b"")  # finished, so not read again
    main(command)
    assert EpisodeFolder(tmp_path / "out").names == ["000000", "000010", "000011", "000020"]
    assert "4 episodes" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="choose another folder"):
        main([*command, "--no-finish"])
    with pytest.raises(SystemExit, match="has no split 'tests'; it has train, test"):
        main(["data", "androidcontrol", str(tmp_path), "--split", "tests", "--out", str(tmp_path / "other")])
    with pytest.raises(SystemExit, match="has no files android_control-"):
        main(["data", "androidcontrol", str(tmp_path / "out"), "--out", str(tmp_path / "none")])
