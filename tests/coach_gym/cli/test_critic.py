"""`coach-gym critic` makes a critic that an agent takes."""

import json

import pytest

from coach_gym.__main__ import main

SMALL = ["--k", "2", "--max_new_tokens", "8", "--max_epochs", "1"]


def test_a_command_makes_a_critic_from_nothing_but_episodes(tmp_path, capsys):
    from coach_gym.agents import Critic

    config = tmp_path / "settings.json"
    config.write_text(json.dumps({"env": {"screen_size": [270, 600], "max_steps": 2}}))
    arguments = ["--num-envs", "2", "--max-prompt-length", "3072", "--config", str(config), "--out", str(tmp_path)]
    main(["critic", "--episodes", "6", *arguments, *SMALL])
    shown = capsys.readouterr().out
    assert "6 episodes" in shown and "epoch 1" in shown
    Critic.load(tmp_path / "critic")
    assert len(list((tmp_path / "lessons").glob("*.npz"))) == 6


def test_an_unknown_setting_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(SystemExit, match="temprature is unknown; settings are .*temperature"):
        main(["critic", "--out", str(tmp_path), "--temprature", "1.0"])
