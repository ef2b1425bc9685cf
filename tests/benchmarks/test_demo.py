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
    arguments = ["demo", "--steps", "8", "--minutes", "1", "--episodes", "3", "--out", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", arguments)
        patch.setattr(demo, "ProcessPoolExecutor", lambda processes, context: InThisProcess())
        shrink(patch, 4)
        demo.main()
    return path


def shrink(patch, number):
    """Makes the demo's trainings as small as a test can afford: so many devices, episodes a batch and instances."""
    patch.setattr(demo, "NUM_ENVS", number)
    patch.setattr(demo, "VALIDATION", number)
    patch.setattr(demo, "EVALUATIONS", 1)
    patch.setitem(demo.PRACTICE, "batch_size", number)
    patch.setitem(demo.PRACTICE, "mini_batch_size", 2)


class InThisProcess:
    """An executor that sees what a test has patched."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, work, *arguments, **options):
        result = work(*arguments, **options)
        return SimpleNamespace(result=lambda: result)


def test_results_say_what_was_measured_and_how(out):
    results = json.loads((out / "results.json").read_text())
    (run,) = results["runs"]
    assert "embedded phone" in results["suite"] and "benchmarks.demo --seeds 0" in results["command"]
    assert results["split"].startswith("test")
    for when in demo.WHEN:
        assert run[when]["greedy"]["episodes"] == run[when]["sampled"]["episodes"] == 3
    assert run["before"]["best_of"]["episodes"] == run["before"]["best_by_judge"]["episodes"] == 3
    assert run["before"]["unseen_words"]["episodes"] == run["after"]["unseen_words_sampled"]["episodes"] == 1
    assert run["env_steps"] >= 8 and run["training_seconds"] > 0 and len(run["curve"]) == 2
    head = results["headline"]
    assert head["greedy_after"] == run["after"]["greedy"]["success_rate"]
    assert head["sampled_frozen_critic"] == run["after_frozen_critic"]["sampled"]["success_rate"]


def test_curve_and_tensorboard_logs_are_there(out):
    assert (out / "learning_curve.png").stat().st_size > 1000
    assert list((out / "tensorboard").glob("seed_0_1/events*"))


def test_the_best_agent_is_kept_and_of_equals_the_later(monkeypatch, tmp_path):
    rates, kept = [0.2, 0.6, 0.4, 0.6, 0.5], []
    curve = demo.Curve(None, tmp_path, seconds=60, every=1)
    for step, rate in enumerate(rates):
        curve.model = SimpleNamespace(save=lambda path, step=step: kept.append(step))
        monkeypatch.setattr(demo, "evaluate", lambda *_, rate=rate, **__: SimpleNamespace(success_rate=rate))
        curve._on_training_end()
    assert kept == [0, 1, 3]


def test_what_was_saved_predicts(out):
    envs = demo.make_envs()
    agent = CoachAgent.load(out / "seed_0" / "agent", env=envs)
    observations, _ = envs.reset(seed=1)
    actions, state = agent.predict(observations, deterministic=True)
    envs.close()
    assert len(actions) == len(state) == envs.num_envs and all(isinstance(action, str) for action in actions)


def made(before, after, frozen):
    def of(success):
        shown = {"success_rate": success, "per_task": {"A": "1/2"}}
        return dict.fromkeys((*demo.HOW, *demo.WORDS.values(), "best_of", "best_by_judge"), shown)

    return {"before": of(before), "after": of(after), "after_frozen_critic": of(frozen)}


def test_the_gain_is_the_mean_over_seeds_with_its_spread(capsys):
    arguments = SimpleNamespace(seeds=[0, 1], minutes=1.0, episodes=6, steps=20)
    results = demo.summary([made(0.2, 0.4, 0.3), made(0.4, 0.8, 0.3)], arguments)
    head = results["headline"]
    assert head["gain_greedy_points"] == pytest.approx(30) and head["gain_greedy_points_std"] == pytest.approx(10)
    assert head["over_frozen_critic_points"] == pytest.approx(30)
    demo.print_table(results)
    shown = capsys.readouterr().out
    assert "2/4" in shown and "greedy" in shown and "--seeds 0 1" in shown
