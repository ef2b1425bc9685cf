"""The benchmark of rehearsal from end to end, too short to learn anything."""

import json
import sys

import pytest

from benchmarks import demo
from benchmarks.controls import rehearsal
from coach_gym.agents import CoachAgent
from coach_gym.data.folder import EpisodeFolder
from tests.benchmarks.test_demo import InThisProcess, shrink

OTHERS = ("SystemWifiTurnOn", "SystemWifiTurnOff")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    path = tmp_path_factory.mktemp("rehearsal")
    options = f"--rehearsed 24 --steps 4 --episodes 2 --out {path}/runs --json {path}/results.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rehearsal", *options.split()])
        patch.setattr(rehearsal, "ProcessPoolExecutor", lambda processes, context: InThisProcess())
        patch.setattr(rehearsal, "OTHERS", OTHERS)
        patch.setattr(rehearsal, "NUM_ENVS", 2)
        shrink(patch, 2)
        rehearsal.main()
        patch.setattr(rehearsal, "train", None)  # what has been measured is not trained again
        rehearsal.main()
    return path


def test_base_and_agent_are_measured_on_what_is_practised_and_on_what_is_not(out):
    results = json.loads((out / "results.json").read_text())
    (run,) = results["runs"]
    assert "embedded phone" in results["suite"] and "--rehearsed 24" in results["command"]
    for test in (results["base"], run["test"]):
        for kind in ("practised", "unseen_words"):
            assert set(test[kind]["greedy"]["per_task"]) <= set(demo.TASKS)
        assert set(test["others"]["sampled"]["per_task"]) == set(OTHERS)
    assert results["headline"]["others_greedy_rehearsed_24"] == run["test"]["others"]["greedy"]["success_rate"]


def test_what_the_base_solves_elsewhere_is_rehearsed(out):
    agent = CoachAgent.load(out / "runs" / "rehearsed_24" / "seed_0" / "agent")
    folder = EpisodeFolder(out / "runs" / "episodes")
    assert agent.rehearsal == str(out / "runs" / "episodes") and agent.max_rehearsed == 24
    assert {folder.heading(name).task for name in folder.names} == set(OTHERS)
    assert len(folder.names) == rehearsal.PLAYED * len(OTHERS)


def test_a_mean_is_over_the_seeds_of_its_own_number_of_successes():
    def found(share):
        return {kind: {how: {"success_rate": share} for how in rehearsal.HOW} for kind in rehearsal.KINDS}

    runs = [{"rehearsed": n, "test": found(share)} for n, share in ((0, 0.2), (0, 0.4), (24, 0.9))]
    head = rehearsal.summary(found(0.1), runs, "")["headline"]
    for arm, mean in {"base": 0.1, "rehearsed_0": 0.3, "rehearsed_24": 0.9}.items():
        assert head[f"others_greedy_{arm}"] == head[f"practised_sampled_{arm}"] == pytest.approx(mean)
