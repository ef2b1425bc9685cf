"""Benchmarks from the command line: with stubbed measurements, they print tables and write results."""

import json
import shlex
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import (
    collection,
    generation_server,
    iteration_profile,
    k_scaling,
    memory,
    trajectory_tree,
)
from benchmarks.conformance import android_lab
from benchmarks.iteration_profile import PARTS, PHASES
from coach_gym.envs.latency import Latency


@pytest.fixture
def call(monkeypatch, tmp_path, capsys):
    """Runs a benchmark's `main` and returns its JSON and what it printed."""

    def run(module, words):
        path = tmp_path / "result.json"
        monkeypatch.setattr(sys, "argv", [module.__name__, *shlex.split(words), "--json", str(path)])
        module.main()
        return json.loads(path.read_text()), capsys.readouterr().out

    return run


def test_collection_compares_every_way_at_every_number_of_devices(call, monkeypatch):
    asked = []

    def measure(way, devices, seed):
        asked.append((way, devices, seed))
        seconds = {"event-driven": 10.0, "event-driven, staleness 1": 8.0}.get(way, 30.0 + seed)
        return {
            "way": way, "devices": devices, "seed": seed, "steps": 60, "seconds": seconds, "steps_per_s": 60 / seconds,
            "waits": [0.5, 0.1, 0.9],
        }  # fmt: skip

    monkeypatch.setattr(collection, "measure", measure)
    result, shown = call(collection, "--seeds 0 1 --devices 2 4")
    assert len(asked) == len(set(asked)) == 2 * 2 * len(collection.WAYS)
    assert result["headline"] == {"speedup_2": pytest.approx(3.05), "speedup_4": pytest.approx(3.05)}
    assert "rerun: python -m benchmarks.collection --seeds 0 1 --devices 2 4" in shown
    assert all(way in shown for way in collection.WAYS)


def test_k_scaling_reports_ratios_of_its_first_variant(call, monkeypatch):
    def measure(latency, seeds, iterations, **_):
        return [
            {"seed": seed, "k": k, "seconds": 1.0 + 0.1 * k, "rollout": 0.5, "wait": 0.1, "steps": 8}
            for seed in seeds
            for k in k_scaling.CANDIDATES
        ]

    monkeypatch.setattr(k_scaling, "calibrated", lambda devices: Latency())
    monkeypatch.setattr(k_scaling, "measure", measure)
    result, shown = call(k_scaling, "--seeds 0 1")
    assert result["headline"] == {f"k{k}": pytest.approx((1 + 0.1 * k) / 1.1) for k in k_scaling.CANDIDATES[1:]}
    assert set(result["rows"]) == set(k_scaling.VARIANTS)
    assert f"{k_scaling.PAPER[8]:.2f}" in shown and "rerun: " in shown


def test_k_scaling_needs_something_to_time(call):
    with pytest.raises(SystemExit):
        call(k_scaling, "--iterations 0")


def test_the_profile_has_a_row_for_every_seed(call, monkeypatch):
    def profile(measure, seed):
        return {
            "seed": seed, "seconds": {phase: dict.fromkeys(PARTS, 1.0) for phase in PHASES},
            "passes": dict.fromkeys(PHASES, 10), "thread_seconds": 2.0 + seed, "phone_seconds": 0.1,
            "gigaflops_per_second": {"generate": 10.0, "update": 50.0, "matrix products": 100.0},
        }  # fmt: skip

    monkeypatch.setattr(iteration_profile, "in_process", profile)
    result, shown = call(iteration_profile, "--seeds 0 1 2")
    assert [row["seed"] for row in result["rows"]] == [0, 1, 2]
    assert result["headline"]["iteration_seconds"] == 3.0
    assert "rerun: python -m benchmarks.iteration_profile --seeds 0 1 2" in shown
    assert "vision_attention" in shown  # the computed table


def test_memory_sums_its_parts_and_needs_less_on_more_gpus(call):
    result, shown = call(memory, "--gpus 1 8 --steps 8 --k 1 4")
    for row in result["rows"]:
        states = ("states", "sampler", "judge", "gathered", "activations", "working")
        assert row["learning"] == pytest.approx(sum(row[name] for name in states))
        assert row["peak"] == max(row["learning"], row["playing"])
    assert result["headline"]["gb_1_T8_k4"] > result["headline"]["gb_8_T8_k4"]
    learning = {(row["gpus"], row["k"]): row["learning"] for row in result["rows"]}
    assert learning[1, 4] > learning[8, 4] > learning[8, 1]
    assert result["measured"] is False and "computed" in shown


def test_the_tree_is_compared_cell_by_cell_and_written_after_each(call, monkeypatch, tmp_path):
    written = []

    def cell(update, t, k, seed):
        ways = {way: {"seconds": 4.0, "megabytes": 10.0, "tokens": 400} for way in ("separate", "state")}
        ours = {"seconds": 1.0, "megabytes": 20.0, "tokens": 100, "gradient_error": 1e-7}
        return {
            "update": update,
            "T": t,
            "k": k,
            "seed": seed,
            **ways,
            "tree": ours,
            "chunks": {**ours, "seconds": 2.0},
        }

    def sweep(steps, candidates, seeds):
        for seed in seeds:
            yield cell("policy", 12, 4, seed)
            written.append(json.loads((tmp_path / "result.json").read_text())["headline"])
            yield cell("critic", 16, 1, seed)

    def sweep_cuts(seeds):
        keys = ("limit", "tokens", "seconds", "megabytes", "separate", "mean_prompt", "sliding", "sliding_prompt")
        return [
            {"cuts": cuts, "seed": seed, **dict.fromkeys(keys, 1.0)} for cuts in trajectory_tree.CUTS for seed in seeds
        ]

    monkeypatch.setattr(trajectory_tree, "sweep", sweep)
    monkeypatch.setattr(trajectory_tree, "sweep_cuts", sweep_cuts)
    result, shown = call(trajectory_tree, "--seeds 0 1")
    assert written[0]["policy_update_speedup"] == 4.0 and "critic_fit_speedup" not in written[0]
    assert (result["headline"]["policy_update_speedup"], result["headline"]["critic_fit_speedup"]) == (4.0, 4.0)
    assert result["headline"]["gradient_error"] == 1e-7
    assert "4.0x ± 0.0" in shown and "rerun: " in shown


def test_conformance_on_android_lab_prints_its_headline(call, monkeypatch):
    found = {"headline": {"loaded": 138, "solved": 95}, "tasks": []}
    monkeypatch.setattr(
        android_lab, "run", lambda folder, tasks, commit: {**found, "asked": [tasks, commit]}
    )
    monkeypatch.setattr(android_lab.checkout, "find", lambda path: path)
    result, shown = call(android_lab, "--upstream lab --tasks clock_1 clock_2 --commit abc")
    assert result["asked"] == [["clock_1", "clock_2"], "abc"]
    assert "solved: 95 (embedded phone)" in shown and "rerun: " in shown


class Server:
    """What `coach-gym serve` looks like to its parent."""

    stdout = ["loading\n", "http://127.0.0.1:1    (Ctrl-C ends it.)\n"]
    ended = False

    def __init__(self, command, **_):
        Server.command = command

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def terminate(self):
        Server.ended = True


def test_a_generation_server_is_started_measured_and_ended(call, monkeypatch):
    asked = []

    def measure(policy, url, trainers, steps, k, seed):
        asked.append((url, trainers, seed))
        return 2.0 * trainers, 100.0 * trainers + seed

    monkeypatch.setattr(generation_server, "subprocess", SimpleNamespace(Popen=Server, PIPE=None))
    monkeypatch.setattr(generation_server.Policy, "load", lambda name: None)
    monkeypatch.setattr(generation_server, "measure", measure)
    result, shown = call(generation_server, "--trainers 1 4 --seeds 0 2")
    assert Server.ended and "serve" in Server.command
    assert asked[1:] == [("http://127.0.0.1:1", trainers, seed) for trainers in (1, 4) for seed in (0, 2)]
    assert result["headline"] == {
        "requests_per_s_1": 2.0, "tokens_per_s_1": 101.0, "requests_per_s_4": 8.0, "tokens_per_s_4": 401.0,
    }  # fmt: skip
    assert "4 trainers" in shown and "rerun: python -m benchmarks.generation_server --trainers 1 4" in shown


def test_trainers_of_a_server_play_episodes_of_their_own(monkeypatch):
    sampled = []

    class Client:
        def __init__(self, policy, url):
            self.number = len(sampled)

        def sample(self, prompts, k=1, max_new_tokens=0):
            sampled.append((tuple(prompts), k))
            return [[type("Candidate", (), {"token_ids": [0] * max_new_tokens})()] * k for _ in prompts]

    monkeypatch.setattr(generation_server, "ServedGenerator", Client)
    monkeypatch.setattr(
        generation_server, "episode", lambda policy, steps, seed: [f"{seed} step {step}" for step in range(steps)]
    )
    requests, tokens = generation_server.measure(None, "url", trainers=3, steps=4, k=2, seed=1)
    played = [prompts[0] for prompts, _ in sampled[3:]]
    assert sorted(played) == sorted(f"{1030 + trainer} step {step}" for trainer in range(3) for step in range(4))
    assert tokens / requests == pytest.approx(2 * generation_server.RESPONSE)


def test_products_of_matrices_have_a_speed():
    assert np.isfinite(iteration_profile.ceiling()) and iteration_profile.ceiling() > 0
