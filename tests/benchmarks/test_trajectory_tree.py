"""The trajectory tree benchmark compares like with like: all methods have the same gradients."""

import numpy as np
import pytest

from benchmarks import trajectory_tree as benchmark
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import build_tree, separate_tree
from coach_gym.episode import Observation


def walk(steps: int) -> benchmark.Walk:
    rng = np.random.default_rng(0)
    screens = [Observation(rng.integers(0, 256, (112, 84, 3), dtype=np.uint8)) for _ in range(steps)]
    return benchmark.Walk("Open the clock", screens)


def measured(update: str, way: str, k: int = 2) -> dict:
    return benchmark.measure(update, way, walk(3), 3, k, seed=0)


def gradient_error(found: dict, reference: dict) -> float:
    return float(np.linalg.norm(found["gradient"] - reference["gradient"]) / np.linalg.norm(reference["gradient"]))


def test_all_ways_compute_the_same_update(monkeypatch):
    monkeypatch.setattr(benchmark, "CHUNK", 30)
    found = {way: measured("policy", way) for way in ("separate", "state", "tree", "chunks")}
    assert [found[way]["passes"] for way in found] == [6, 3, 1, 3]
    assert found["separate"]["tokens"] > found["state"]["tokens"] > found["tree"]["tokens"]
    for way in ("state", "tree", "chunks"):
        assert gradient_error(found[way], found["separate"]) < 1e-5


def test_the_critics_fit_is_the_same_by_both_ways():
    found = {way: measured("critic", way) for way in benchmark.ways_of("critic", 1)}
    assert gradient_error(found["tree"], found["separate"]) < 1e-5


def test_trl_computes_the_same_update():
    """TRL's own loss code has the gradient of our separate sequences."""
    pytest.importorskip("trl")
    assert gradient_error(measured("policy", "trl"), measured("policy", "separate")) < 1e-5


def test_histories_are_cut_as_often_as_asked():
    policy = Policy.load("pocket")
    episode = walk(8).episode(policy, 8, 1, seed=0)
    for cuts in (0, 1, 2, 3):
        policy.max_prompt_length = benchmark.prompt_length(policy, episode, cuts)
        assert len(build_tree(policy, episode).trunks) == cuts + 1


def test_what_cuts_cost_without_trees_is_counted():
    policy = Policy.load("pocket")
    episode = walk(8).episode(policy, 8, 2, seed=0)
    policy.max_prompt_length = benchmark.prompt_length(policy, episode, 0)
    whole = benchmark.count_without_trees(policy, episode)
    assert whole["separate"] == sum(trunk.length for trunk in separate_tree(policy, episode).trunks)
    assert whole["mean_prompt"] == whole["sliding_prompt"]
    policy.max_prompt_length = benchmark.prompt_length(policy, episode, 2)
    cut = benchmark.count_without_trees(policy, episode)
    assert cut["separate"] == sum(trunk.length for trunk in separate_tree(policy, episode).trunks)
    assert cut["mean_prompt"] < cut["sliding_prompt"] <= cut["limit"] < whole["limit"]


def test_report_has_means_over_seeds(capsys):
    def row(update, steps, k, seed, **seconds):
        other = {"megabytes": 1.0, "tokens": 1, "gradient_error": 1e-6}
        ways = {way: {"seconds": time, **other} for way, time in seconds.items()}
        return {"update": update, "T": steps, "k": k, "seed": seed, **ways}

    rows = [
        row("policy", 12, 4, 0, separate=10.0, state=3.0, tree=1.0), row("critic", 16, 1, 0, separate=7.0, tree=1.0),
        row("policy", 12, 4, 1, separate=28.0, state=8.0, tree=2.0), row("critic", 16, 1, 1, separate=5.0, tree=1.0),
    ]  # fmt: skip
    counted = dict.fromkeys(("limit", "tokens", "separate", "mean_prompt", "sliding", "sliding_prompt"), 5)
    cuts = [{"cuts": n, "seed": 0, "seconds": 0.1, "megabytes": 2.0, **counted} for n in benchmark.CUTS]
    found = benchmark.report(rows, cuts, "command")["headline"]
    assert found["policy_update_speedup"] == pytest.approx(12)
    assert found["policy_update_speedup_over_state"] == pytest.approx(3.5)
    assert found["critic_fit_speedup"] == pytest.approx(6)
    benchmark.print_table(rows)
    benchmark.print_cuts(cuts)
    assert "12.0x" in capsys.readouterr().out
