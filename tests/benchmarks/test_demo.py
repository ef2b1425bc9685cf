"""The demo from end to end, too short to learn anything."""

import json
import sys

import pytest

from benchmarks import demo
from coach_gym.agents import CoachAgent


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo")
    arguments = ["demo", "--steps", "20", "--minutes", "1", "--episodes", "6", "--out", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", arguments)
        patch.setattr(demo, "NUM_ENVS", 4)
        patch.setitem(demo.SETTINGS, "batch_size", 4)
        patch.setitem(demo.SETTINGS, "mini_batch_size", 2)
        demo.main()
    return path


def test_results_say_what_was_measured_and_how(out):
    results = json.loads((out / "results.json").read_text())
    (run,) = results["runs"]
    assert "embedded phone" in results["suite"] and "benchmarks.demo --seeds 0" in results["command"]
    assert run["before"]["episodes"] == run["after"]["episodes"] == 6
    assert run["env_steps"] >= 20 and run["training_seconds"] > 0
    assert 0 <= results["headline"]["success_before"] <= 1 and set(results["versions"]) >= {"torch", "transformers"}


def test_curve_and_tensorboard_logs_are_there(out):
    assert (out / "learning_curve.png").stat().st_size > 1000
    assert list((out / "tensorboard").glob("seed_0_1/events*"))


def test_what_was_saved_predicts(out):
    envs = demo.make_envs()
    agent = CoachAgent.load(out / "agent", env=envs)
    observations, _ = envs.reset(seed=1)
    actions, state = agent.predict(observations, deterministic=True)
    envs.close()
    assert len(actions) == len(state) == envs.num_envs and all(isinstance(action, str) for action in actions)
