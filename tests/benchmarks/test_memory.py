"""The table of the computed memory of a 7B model."""

import json
import sys

import pytest

from benchmarks import memory


def test_what_is_spread_shrinks_and_what_is_not_stays(tmp_path, monkeypatch, capsys):
    words = "--gpus 2 8 --steps 16 --k 4 --json".split()
    monkeypatch.setattr(sys, "argv", ["memory", *words, str(tmp_path / "m.json")])
    memory.main()
    assert "| gpus | T | k |" in capsys.readouterr().out
    two, eight = json.loads((tmp_path / "m.json").read_text())["rows"]
    assert eight["states"] == pytest.approx(two["states"] / 4)
    same = {name for name in two if two[name] == eight[name]}
    assert same >= {"sampler", "gathered", "activations", "working", "engines"}
