"""What the comparison reads off curves whose answers are known."""

import numpy as np
import pytest

from benchmarks.controls import report
from benchmarks.controls.curves import NEVER, Bootstrap, Curve, bits, first_time, speedup
from benchmarks.controls.work import device_seconds, fit_prices, seconds_of

INSTANCES = 20


def solved(share: float) -> str:
    number = round(share * INSTANCES)
    return "1" * number + "0" * (INSTANCES - number)


def run(method: str, seed: int, *points: tuple[float, float], tokens: float = 0.0) -> dict:
    """Makes a run that is evaluated after some steps, and reads `tokens` a step in its updates."""
    curve = [
        {"steps": steps, "work": {"steps": steps, "policy_learned": tokens * steps, "policy_prompts": steps,
                                  "policy_drawn": 10 * steps}, "greedy": solved(share), "sampled": solved(share)}
        for steps, share in points
    ]  # fmt: skip
    last = curve[-1]["work"]
    seconds = {"generate": 0.1 * last["policy_prompts"], "update": 0.001 * last["policy_learned"]}
    return {"run": {"method": method, "seed": seed}, "curve": curve, "counts": last, "seconds": seconds}


def base(seed: int) -> dict:
    made = run("base", seed, (0, 0.3))
    made["counts"] = {"steps": 100, "policy_prompts": 100, "policy_drawn": 1000}
    return made | {"seconds": {"generate": 10.0}}


def test_curves_are_interpolated_up_to_the_end_of_the_shortest_run():
    runs = [run("coach", 0, (0, 0.2), (10, 0.4), (20, 0.4)), run("coach", 1, (0, 0.2), (40, 0.6))]
    curve = Curve.read(runs, "greedy", lambda point: point["steps"])
    assert curve.along[0] == 0 and curve.along[-1] == 20
    assert np.nanmean(curve.success[:, 50], axis=-1).tolist() == pytest.approx([0.4, 0.3])
    assert curve.mean()[[0, 50, 100]].tolist() == pytest.approx([0.2, 0.35, 0.4])


def test_an_instance_without_a_verdict_counts_nowhere():
    one = run("base", 0, (0, 0.5))
    one["curve"][0]["greedy"] = "-" * 5 + one["curve"][0]["greedy"][5:]
    assert np.isnan(bits(one, "greedy")[0, :5]).all()
    assert Curve.read([one], "greedy", lambda point: point["steps"]).mean()[0] == pytest.approx(5 / 15)


def test_the_first_time_at_a_level():
    along = np.linspace(0, 100, 101)
    mean = np.linspace(0.2, 0.6, 101)
    assert first_time(along, mean, 0.4) == pytest.approx(50, abs=1)
    assert first_time(along, mean, 0.7) == NEVER
    assert first_time(along, mean, 0.1) == 0


def test_speedups_of_those_that_never_arrive():
    assert speedup(20.0, 50.0) == 2.5
    assert speedup(NEVER, 50.0) == 0.0
    assert speedup(0.0, 20.0) == NEVER, "one of them starts there in a draw of seeds"
    assert np.isnan(speedup(NEVER, NEVER)) and np.isnan(speedup(0.0, 0.0))


def test_the_interval_covers_the_truth_and_narrows_with_seeds():
    """Success of every instance is a coin; the difference of two equal methods is 0."""
    rng = np.random.default_rng(0)

    def coins(seeds: int) -> Curve:
        return Curve(np.linspace(0, 1, 101), rng.integers(0, 2, (seeds, 1, 200)).astype(float).repeat(101, 1))

    few = Bootstrap({"a": coins(3), "b": coins(3)}, draws=300)
    many = Bootstrap({"a": coins(30), "b": coins(30)}, draws=300)
    widths = []
    for draws in (few, many):
        found = draws.estimate(lambda means: means["a"][-1] - means["b"][-1])
        assert found["low"] < 0 < found["high"] and found["low"] <= found["value"] <= found["high"]
        widths.append(found["high"] - found["low"])
    assert widths[1] < 0.6 * widths[0]


def test_prices_are_those_that_made_the_times():
    runs = [
        {"counts": {"policy_prompts": p, "policy_drawn": d, "policy_learned": t},
         "seconds": {"generate": 0.02 * p + 0.003 * d, "update": 0.001 * t}}
        for p, d, t in ((10, 100, 50), (20, 900, 10), (30, 300, 70))
    ]  # fmt: skip
    prices = fit_prices(runs)
    assert prices["policy_prompts"] == pytest.approx(0.02) and prices["policy_drawn"] == pytest.approx(0.003)
    assert prices["policy_learned"] == pytest.approx(0.001) and prices["judge_prompts"] == 0
    per_step = device_seconds(prices, {"policy_prompts": 10, "policy_drawn": 100}, ratio=2.0)
    assert per_step == pytest.approx(2.0 * 0.5 / 10)
    assert seconds_of({"steps": 3, "policy_drawn": 100}, prices, per_step) == pytest.approx(0.3 + 0.3)


def test_no_price_is_negative():
    runs = [{"counts": {"policy_prompts": p, "policy_drawn": d}, "seconds": {"generate": s}}
            for p, d, s in ((10, 100, 1.0), (20, 100, 0.5))]  # fmt: skip
    prices = fit_prices(runs)
    assert prices["policy_prompts"] == 0 and prices["policy_drawn"] == pytest.approx(0.0075)


@pytest.fixture
def compared():
    """The method learns twice as fast as cloning in steps, at ten times the tokens; PPO never arrives."""
    runs = [base(seed) for seed in range(3)]
    for seed in range(3):
        runs.append(run("coach", seed, (100, 0.7), (200, 0.9), tokens=500.0))
        runs.append(run("cloning", seed, (100, 0.5), (200, 0.7), tokens=50.0))
        runs.append(run("frozen", seed, (100, 0.9), (200, 0.9), tokens=50.0))
        runs.append(run("ppo", seed, (200, 0.4)))
        runs.append(run("best_of_8", seed, (0, 0.6)))
    return runs


def test_the_speed_up_is_over_the_best_baseline_in_steps_and_in_time(compared):
    levels = report.compare(compared)["levels"]
    row = levels["steps"]["greedy"]["70%"]
    assert row["coach"]["value"] == pytest.approx(100, abs=2) and row["cloning"]["value"] == pytest.approx(200, abs=2)
    assert row["speedup"]["value"] == pytest.approx(2, rel=0.05)
    assert row["ppo"]["value"] is None, "never"
    alone = levels["steps"]["greedy"]["80%"]
    assert alone["cloning"]["value"] is None and alone["coach"]["value"] == pytest.approx(150, abs=2)
    assert alone["speedup"]["value"] == pytest.approx(200 / 150, rel=0.05), (
        "at least, since they took 200 and are not there"
    )
    assert "best_of_8" not in row and "base" not in row, "they take no steps to get where they are"
    # Inference takes 0.1 s a step, so devices take 0.17; updates take 0.5 s with one method and 0.05 with the other.
    paper = levels[report.PAPERS]["greedy"]["70%"]
    assert paper["coach"]["value"] == pytest.approx(100 * (0.1 + 0.17 + 0.5), rel=0.05)
    assert paper["speedup"]["value"] == pytest.approx(2 * 0.32 / 0.77, rel=0.05)
    slow = levels["seconds_10"]["greedy"]["70%"]["speedup"]["value"]
    assert paper["speedup"]["value"] < slow < row["speedup"]["value"]


def test_the_ends_and_the_headline(compared, capsys, tmp_path):
    found = report.compare(compared)
    assert found["ends"]["greedy"]["coach"]["gain"]["value"] == pytest.approx(0.6)
    assert found["ends"]["greedy"]["best_of_8"]["behind"]["value"] == pytest.approx(0.3)
    assert found["headline"]["greedy_over_frozen"] == 0
    assert found["headline"]["greedy_speedup_70"] == pytest.approx(0.83, abs=0.05)
    assert "greedy_speedup_50" in found["headline"]
    report.print_tables(found)
    assert "never" in capsys.readouterr().out
    report.plot(compared, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_a_curve_without_its_start_is_refused(compared):
    with pytest.raises(ValueError, match="seed 1 has no run of 'base'"):
        report.compare([one for one in compared if (one["run"]["method"], one["run"]["seed"]) != ("base", 1)])
