"""The 7B benchmark from end to end, with a tiny model on the CPU but the same code."""

import json
import sys

import pytest
import torch

from benchmarks import seven_b
from benchmarks.memory import count
from benchmarks.seven_b import SEVEN_B, TINY, Benchmark, along_parabola, build, record, sequences
from coach_gym.agents.planning.flops import forward_flops, size_of_tree
from coach_gym.dialects import UITars

CPU = torch.device("cpu")


def run(path, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["seven_b", *arguments, "--json", str(path)])
        seven_b.main()
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(tmp_path_factory.mktemp("seven_b") / "results.json", "--tiny")


def test_every_cell_is_measured(results):
    cells = {(row["update"], row["way"], row["k"]) for row in results["rows"]}
    policy = {("policy", way, k) for way in ("tree", "state", "separate") for k in TINY.candidates}
    assert cells == policy | {("critic", "tree", 1), ("critic", "separate", 1), ("vision tower", "once", 1)}
    assert all(row["seconds"] > 0 and row["utilisation"] > 0 for row in results["rows"])
    assert results["adamw"]["scaled_seconds"] > results["adamw"]["layer_seconds"] > 0


def test_results_say_what_they_are(results):
    assert "tiny" in results["model"] and "CPU" in results["machine"]["device"]
    assert results["command"].startswith("python -m benchmarks.seven_b --tiny")
    scaled = {row["way"] for row in results["rows"] if row["scaled"]}
    assert scaled == {"separate", "state"}  # these were not measured completely


def test_headline_compares_the_ways(results):
    rows = {(row["update"], row["way"], row["k"]): row for row in results["rows"]}
    expected = rows["policy", "separate", 2]["seconds"] / rows["policy", "tree", 2]["seconds"]
    assert results["headline"]["policy_update_k2_speedup"] == pytest.approx(expected)
    assert rows["policy", "separate", 2]["tokens"] > rows["policy", "state", 2]["tokens"]
    assert rows["policy", "state", 2]["tokens"] > rows["policy", "tree", 2]["tokens"]


def test_tree_and_sequence_agree(results):
    assert results["agreement"]["max"] < 0.1 * results["agreement"]["spread"]


def test_three_sequences_tell_what_all_cost():
    """The arithmetic of a sequence is quadratic in its step."""
    policy = build(TINY, CPU)
    episode = record(policy, TINY)
    sizes = [size_of_tree(tree, scored=True) for tree in sequences(policy, episode)]
    flops = [sum(forward_flops(policy.model, size).values()) for size in sizes]
    chosen = [0, TINY.steps // 2, TINY.steps - 1]
    assert along_parabola(chosen, [flops[step] for step in chosen], TINY.steps) == pytest.approx(sum(flops))


def test_a_cell_that_fails_or_an_interrupt_leaves_what_was_measured(tmp_path):
    def fail(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 60 GiB.\nmore")

    def interrupt(_):
        raise KeyboardInterrupt

    path = tmp_path / "results.json"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(seven_b.Updates, "policy_tree", fail)
        patch.setattr(Benchmark, "critic", interrupt)
        run(path, "--tiny", "--candidates", "1")
    tree, separate = json.loads(path.read_text())["rows"]
    assert tree["way"] == "tree" and tree["failed"] == "OutOfMemoryError: CUDA out of memory. Tried to allocate 60 GiB."
    assert separate["way"] == "separate" and separate["seconds"] > 0


def test_without_a_gpu_seven_billion_parameters_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="no CUDA device.*80 GB.*--tiny"):
        run(tmp_path / "results.json")


def test_what_a_gpu_is_to_run_is_the_published_size():
    """Parameters, without allocating them, and tokens of a screenshot at the paper's pixel limit."""
    assert count().total == 8_292_166_656
    width, height = UITars(max_pixels=SEVEN_B.max_pixels).frame(*SEVEN_B.screen).model
    assert (width, height) == (756, 1680) and width * height // 28**2 == 1620
