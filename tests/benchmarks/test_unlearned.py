"""The benchmark of families that a training unlearned."""

import json
import sys

from benchmarks import unlearned
from coach_gym.agents.evaluation import Evaluation, Result


def test_what_falls_is_named(monkeypatch, capsys, tmp_path):
    """The first family is lost greedily; the second one falls by less than 10 points."""
    monkeypatch.setattr(unlearned, "play", lambda policy, how, episodes: evaluation(policy, how))
    monkeypatch.setattr(sys, "argv", ["unlearned", "--agents", "mine", "--episodes", "10", "--json", f"{tmp_path}/r"])
    unlearned.main()
    found = json.loads((tmp_path / "r").read_text())
    assert found["agents"]["mine"]["greedy"]["lost"] == {"A": [0.9, 0.2]}
    assert found["agents"]["mine"]["sampled"]["lost"] == found["agents"]["pocket"]["greedy"]["lost"] == {}
    assert found["headline"] == {"lost": 1}
    assert "20%  lost" in capsys.readouterr().out


def test_every_family_is_played(monkeypatch):
    monkeypatch.setattr(unlearned, "TASKS", unlearned.TASKS[:2])
    results = unlearned.play("pocket", "greedy", 2).success_per_task
    assert {name: judged for name, (_, judged) in results.items()} == dict.fromkeys(unlearned.TASKS, 2)


def evaluation(policy: str, how: str) -> Evaluation:
    solved = {"A": 9, "B": 5} if policy == unlearned.BASE or how == "sampled" else {"A": 2, "B": 4}
    cases = [(family, seed, seed < n) for family, n in solved.items() for seed in range(10)]
    return Evaluation([Result(family, {}, seed, float(good), 1, good, None) for family, seed, good in cases])
