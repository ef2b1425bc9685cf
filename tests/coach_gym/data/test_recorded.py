"""Experts and roll-outs are written as AndroidControl's episodes are."""

import json

import pytest

from coach_gym.__main__ import main
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.data import rollouts
from coach_gym.data.folder import EpisodeFolder
from tests.agents.tiny import policy

PHONE = ["--screen_size", "[270, 600]", "--tasks", json.dumps(["SystemWifiTurnOn", "ContactsAddContact"])]


def test_experts_are_recorded_and_continued(tmp_path, capsys):
    for episodes in ("1", "3"):
        main(["data", "experts", "--episodes", episodes, "--out", str(tmp_path), *PHONE])
    folder = EpisodeFolder(tmp_path)
    episodes = [folder.read(name) for name in folder.names]
    assert [episode.task for episode in episodes] == ["SystemWifiTurnOn", "ContactsAddContact", "SystemWifiTurnOn"]
    assert all(episode.success and episode.steps[-1].action.startswith("finished(") for episode in episodes)
    assert all(step.observation.ui and step.observation.screenshot.shape == (600, 270, 3)
               for step in episodes[1].steps)  # fmt: skip
    assert episodes[1].params["name"].split()[0] in episodes[1].goal
    assert "3 episodes" in capsys.readouterr().out


def test_a_refused_recording_leaves_its_folder_free(tmp_path):
    with pytest.raises(SystemExit, match="no task 'Nope'"):
        main(["data", "experts", "--episodes", "1", "--out", str(tmp_path / "out"), "--tasks", '["Nope"]'])
    assert not (tmp_path / "out").exists()


def test_rollouts_are_recorded_with_failures_and_continued(tmp_path):
    tiny = policy()
    settings = {"screen_size": (112, 168), "max_steps": 2, "tasks": ["SystemWifiTurnOn", "ContactsAddContact"]}
    for episodes in (1, 3):
        folder = rollouts.record(
            tmp_path, tiny, TransformersGenerator(tiny), "AndroidWorld-v0", episodes, num_envs=2, max_new_tokens=4,
            env_settings=settings,
        )  # fmt: skip
    read = [folder.read(name) for name in EpisodeFolder(tmp_path).names]
    assert [episode.task for episode in read] == ["SystemWifiTurnOn", "ContactsAddContact", "SystemWifiTurnOn"]
    assert all(episode.outcome == 0.0 and episode.length == 2 for episode in read)
    assert all(step.candidates[0].token_ids for episode in read for step in episode.steps)
