"""The benchmark of workers counts the processor time of every process."""

import json

import pytest

from benchmarks.workers import __main__ as workers


def test_the_headline_is_the_share_of_linear_growth(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(workers, "SCREENS", ((180, 400),))
    monkeypatch.setattr(workers, "SUITE", "AndroidWorld/ContactsAddContact-v0")
    workers.main(["--seeds", "0", "--json", str(tmp_path / "workers.json")])
    result = json.loads((tmp_path / "workers.json").read_text())
    (run,) = result["runs"]["180x400"]
    assert run["children_ms"] > 0.5 * run["alone_ms"] > 0 and run["parent_ms"] > 0  # every process counts
    assert run["of_linear"] == pytest.approx(run["alone_ms"] / (run["children_ms"] + run["parent_ms"]))
    assert result["headline"] == {"of_linear_180x400": run["of_linear"], "speedup_180x400": run["speedup"]}
    assert "rerun: python -m benchmarks.workers --seeds 0" in capsys.readouterr().out
