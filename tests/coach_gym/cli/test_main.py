"""The command line as a whole."""

import subprocess
import sys

import pytest

import coach_gym
from coach_gym.__main__ import COMMANDS, main


def test_the_version_is_the_packages(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"coach-gym {coach_gym.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert f"coach-gym {command}" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["envs", "--colour"], ["phone", "5555"], ["doctor", "--for", "fun"], ["dance"]])
def test_unknown_words_are_refused_before_anything_runs(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert words[-1] in capsys.readouterr().err


def test_settings_reach_only_the_commands_that_take_them(monkeypatch):
    seen = {}
    for name in ("train", "serve"):
        monkeypatch.setattr(COMMANDS[name][0], name, lambda **options: seen.update(options))
        main([name, *(["--steps", "8"] if name == "train" else []), "--k", "4"])
        assert seen["settings"] == ["--k", "4"]


def test_a_reader_that_stops_reading_is_no_error():
    listing = subprocess.Popen(
        [sys.executable, "-m", "coach_gym", "envs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    listing.stdout.read(1)
    listing.stdout.close()
    errors = listing.stderr.read()
    assert (listing.wait(timeout=120), errors) == (0, b"")
