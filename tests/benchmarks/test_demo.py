"""The demo from end to end, too short to learn anything."""

import json
import sys
from types import SimpleNamespace

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
    names = {"success_before", "success_after", "greedy_before", "greedy_after", "gain_points", "gain_points_std"}
    assert set(results["headline"]) == names
    assert results["headline"]["greedy_after"] == run["after_greedy"]["success_rate"]
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


def made(before, after, greedy):
    evaluated = {"per_task": {"A": "1/2"}}
    return {
        "before": {"success_rate": before, **evaluated}, "after": {"success_rate": after, **evaluated},
        "before_greedy": {"success_rate": greedy}, "after_greedy": {"success_rate": greedy},
        "before_unseen_words": before, "after_unseen_words": after,
    }  # fmt: skip


def test_the_gain_is_the_mean_over_seeds_with_its_spread(capsys):
    arguments = SimpleNamespace(seeds=[0, 1], minutes=1.0, episodes=6, threads=1)
    results = demo.summary([made(0.2, 0.4, 0.5), made(0.4, 0.8, 0.7)], arguments)
    head = results["headline"]
    assert head["gain_points"] == pytest.approx(30) and head["gain_points_std"] == pytest.approx(10)
    assert head["greedy_before"] == pytest.approx(0.6)
    demo.print_table(results)
    shown = capsys.readouterr().out
    assert "2/4" in shown and "greedy" in shown and "--seeds 0 1" in shown
