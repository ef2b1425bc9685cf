"""`coach-gym evaluate` from the command line."""

import json

import pytest

from coach_gym.__main__ import main
from tests.agents.judging.scripted_server import serving

TASKS = '["SystemWifiTurnOn","ClockTimerEntry"]'
ENV = ["--tasks", TASKS, "--screen_size", "[270,600]"]


def test_experts_and_their_files(tmp_path, capsys):
    files = {name: tmp_path / name for name in ("out", "json", "csv")}
    words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    command = ["evaluate", "--agent", "expert", "--runs", "2", "--num-envs", "2", *words, *ENV]
    main([*command, "--android-world", str(tmp_path / "world")])
    assert "100.0" in capsys.readouterr().out
    assert json.loads(files["json"].read_text())["success"]["all"]["episodes"] == 4
    assert len(files["csv"].read_text().splitlines()) == 5
    assert len(list((tmp_path / "world").iterdir())) == 4
    main(command)  # everything is played already
    assert len(files["out"].read_text().splitlines()) == 5
    with pytest.raises(SystemExit) as refused:
        main([*command, "--seed", "7"])
    assert "holds another evaluation" in str(refused.value) and "continues" not in str(refused.value)


def test_an_interrupted_evaluation_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(*_, out, **__):
        out.write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr("coach_gym.evaluation.evaluate_suite", interrupted)
    with pytest.raises(SystemExit, match="interrupted\nResults so far are in .*; the same command continues them"):
        main(["evaluate", "--agent", "expert", "--out", str(tmp_path / "r"), *ENV])


def test_a_model_behind_a_server(tmp_path, capsys):
    with serving("Action: finished()") as server:
        agent = f"openai:me@{server.url}"
        main(["evaluate", "--agent", agent, "--dialect", "UITars", "--out", str(tmp_path / "r"), *ENV])
    assert "prompt tokens" in capsys.readouterr().out


def test_mistakes_are_found_before_anything_is_played(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="QwenMobileUse"):
        main(["evaluate", "--dialect", "Klingon", "--out", str(tmp_path / "r"), *ENV])
    with pytest.raises(SystemExit, match="cannot be asked"):
        main(["evaluate", "--agent", "openai:me@http://127.0.0.1:9/v1", "--out", str(tmp_path / "r"), *ENV])
    assert not (tmp_path / "r").exists()
