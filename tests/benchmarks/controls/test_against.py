"""Two comparisons against each other."""

import json

import pytest

from benchmarks.controls import against
from benchmarks.controls.report import grouped


def run(method, seed, end, steps=10):
    """A run with two instances, or the base's evaluation."""
    point = {"steps": steps, "work": {"steps": steps}, "greedy": end, "sampled": "10"}
    return {"run": {"method": method, "seed": seed}, "curve": [point]}


def runs(ends, method="coach"):
    """Runs of a method by seed, with the base."""
    return [each for seed, end in ends.items() for each in (run("base", seed, "00", 0), run(method, seed, end))]


def test_the_ends_of_equal_seeds_are_compared():
    pair = against.in_common([grouped(runs({0: "00", 1: "10", 2: "11"})), grouped(runs({1: "11", 2: "11", 3: "00"}))])
    assert [[each["run"]["seed"] for each in groups["coach"]] for groups in pair] == [[1, 2], [1, 2]]
    gap = against.ahead(pair, "coach", "greedy")
    assert gap["value"] == pytest.approx(0.25) and gap["low"] < 0.25 < gap["high"]
    assert against.ahead(pair, "coach", "sampled")["value"] == 0


def test_what_has_nothing_in_common_is_refused():
    with pytest.raises(ValueError, match="no training in common; they have .*'coach'.*'cloning'"):
        against.in_common([grouped(runs({0: "00"})), grouped(runs({0: "00"}, "cloning"))])


def test_the_command_prints_and_draws(tmp_path, monkeypatch, capsys):
    for name, ends in (("a", {0: "00", 1: "10"}), ("b", {0: "11", 1: "11"})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"runs": runs(ends)}))
    monkeypatch.chdir(tmp_path)
    command = "against a.json b.json --names old new --out against.png --json gaps.json"
    monkeypatch.setattr("sys.argv", command.split())
    against.main()
    printed = capsys.readouterr().out
    assert "old; new; difference" in printed and "greedy    2 seeds      25.0%  100.0%   +75.0" in printed
    assert "rerun: python -m benchmarks.controls.against" in printed
    assert (tmp_path / "against.png").exists()
    assert json.loads((tmp_path / "gaps.json").read_text())["headline"] == {"coach_greedy": 0.75, "coach_sampled": 0.0}
