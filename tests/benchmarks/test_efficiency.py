"""The comparison of the three methods: what is read off the curves, and a training run of a few seconds."""

import json
from types import SimpleNamespace

import pytest

from benchmarks import efficiency
from benchmarks.efficiency import Run, compare, level_times, play, plot, print_levels, speedup, success_over


def result(method: str, seed: int, *points: tuple[float, float]) -> dict:
    """Makes a training run with evaluations at some seconds; one step per second, two actions per step."""
    curve = [{"seconds": t, "steps": t, "actions": 2 * t, "success": success} for t, success in points]
    return {"method": method, "seed": seed, "curve": curve, "overrides": {}, "devices_busy": 0.5}


def test_curves_are_interpolated_up_to_the_end_of_the_shortest_run():
    runs = [result("A", 0, (0, 0.2), (10, 0.4), (20, 0.4)), result("A", 1, (0, 0.2), (40, 0.6))]
    along, success = success_over(runs, "seconds", points=21)
    assert along[0] == 0 and along[-1] == 20
    assert success[:, 10].tolist() == pytest.approx([0.4, 0.3])
    assert success_over(runs, "actions", points=3)[0].tolist() == [0, 20, 40]


def test_speedup_is_the_time_of_their_best_over_the_time_at_which_ours_is_as_good():
    ours = success_over([result("A", 0, (0, 0.2), (10, 0.6), (100, 0.6))], "seconds")
    theirs = success_over([result("B", 0, (0, 0.2), (80, 0.6), (100, 0.4))], "seconds")
    found = speedup(ours, theirs)
    assert found["best_success"] == pytest.approx(0.6, abs=0.01)
    assert found["speedup"] == pytest.approx(8, rel=0.05)
    assert speedup(theirs, success_over([result("C", 0, (0, 0.2), (100, 0.9))], "seconds"))["speedup"] is None


def test_levels_are_compared_by_means_and_seed_by_seed(capsys):
    runs = [
        result("CoachAgent", 0, (0, 0.2), (10, 0.6), (100, 0.6)),
        result("CoachAgent", 1, (0, 0.2), (20, 0.6), (100, 0.6)),
        result("PPOAgent", 0, (0, 0.2), (40, 0.6), (100, 0.6)),
        result("PPOAgent", 1, (0, 0.2), (100, 0.3)),
    ]
    levels = level_times(runs)
    ppo = levels["50%"]["PPOAgent"]
    assert ppo["seconds"] is None and ppo["speedup"] is None
    assert ppo["speedup_of_seeds"] == [pytest.approx(4, rel=0.1), None]
    coach = levels["50%"]["CoachAgent"]
    assert coach["seconds"] == coach["steps"] == pytest.approx(10, abs=0.3)  # (60 % + 40 %) / 2
    print_levels(levels)
    assert "never" in capsys.readouterr().out


def test_as_good_from_the_start_is_not_never():
    ours = success_over([result("A", 0, (0, 0.6), (100, 0.6))], "seconds")
    detail = speedup(ours, success_over([result("B", 0, (0, 0.2), (80, 0.6))], "seconds"))
    assert efficiency._ratio(detail) == "from the start"


def test_other_settings_are_another_run(monkeypatch):
    run = Run("PPOAgent", 0, 1.0, 0.01)
    before = run.file
    monkeypatch.setitem(efficiency.PPO.settings, "learning_rate", 1.0)
    assert run.file != before


def test_the_headline_has_a_ratio_for_every_baseline_and_the_figure_is_drawn(tmp_path):
    slow, fast = ((0, 0.2), (100, 0.5)), ((0, 0.2), (10, 0.5), (100, 0.7))
    names = ["PPOAgent", "GRPOAgent", "GRPOAgent, as published"]
    runs = [result("CoachAgent", 0, *fast), *(result(name, 0, *slow) for name in names)]
    headline, details = compare(runs)
    assert set(headline) == {"speedup_ppo", "speedup_grpo", "speedup_grpo_published"}
    assert headline["speedup_ppo"] == pytest.approx(10, rel=0.05)
    plot(runs, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_a_training_is_evaluated_while_the_clock_stands_still_and_is_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(efficiency, "EPISODES", 4)
    run = Run("GRPOAgent", 0, minutes=0.01, latency=0.0036, overrides=(("batch_size", 4),))
    made = efficiency.train(run)
    first, last = made["curve"][0], made["curve"][-1]
    assert first["seconds"] < 0.1 and first["steps"] == 0  # an evaluation takes longer
    assert last["steps"] > 0 and 0.6 <= last["seconds"] < 20
    (tmp_path / run.file).write_text(json.dumps(made))
    monkeypatch.setattr(efficiency, "subprocess", SimpleNamespace(run=lambda *_, **__: pytest.fail("ran again")))
    assert play([run], tmp_path) == [made]


def test_a_sweep_reports_the_best_end_of_every_method():
    ends = [("CoachAgent", 0.6), ("CoachAgent", 0.7), ("PPOAgent", 0.5), ("GRPOAgent", 0.1)]
    runs = [result(name, 0, (0, 0.9), (100, end)) for name, end in ends]
    assert efficiency.best_ends(runs) == {"success_coach": 0.7, "success_ppo": 0.5, "success_grpo": 0.1}


def test_a_method_that_never_reaches_a_level_has_no_time_for_it():
    along, curves = success_over([result("A", 0, (0, 0.2), (100, 0.6))], "seconds", points=101)
    assert efficiency.first_time((along, curves), 0.4) == pytest.approx(50, abs=1)
    assert efficiency.first_time((along, curves), 0.7) is None
