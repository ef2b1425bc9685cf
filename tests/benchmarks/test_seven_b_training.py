"""Iterations of a 7B model, from end to end with a tiny model on the CPU."""

import json
import sys

import pytest

from benchmarks import seven_b_training
from benchmarks.seven_b_training import PARTS


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("seven_b_training") / "results.json"
    arguments = ["--tiny", "--episodes", "2", "--steps", "2", "--iterations", "1", "--json", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["seven_b_training", *arguments])
        seven_b_training.main()
    return json.loads(path.read_text())


def test_every_iteration_plays_all_steps_and_learns(results):
    assert [(row["k"], row["iteration"], row["steps"]) for row in results["rows"]] == [(4, 0, 4), (1, 0, 4)]
    assert all(row["parts"][part] > 0 for row in results["rows"] for part in PARTS)


def test_the_headline_is_the_latest_iteration(results):
    first, last = results["rows"]
    assert results["headline"] == {
        "k4_seconds": first["seconds"], "k4_generate_seconds": first["parts"]["generate"],
        "k1_seconds": last["seconds"], "k1_generate_seconds": last["parts"]["generate"],
    }  # fmt: skip


def test_results_say_what_they_are(results):
    assert "tiny" in results["model"] and "CPU" in results["machine"]["device"]
    assert results["device"] == "embedded phone" and results["command"].startswith("python -m benchmarks.seven_b_tr")
