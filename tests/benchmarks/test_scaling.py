"""The scaling benchmark: fitted laws, what is measured, and that an interruption loses nothing."""

import json

import pytest

from benchmarks import iteration_profile, scaling
from benchmarks.scaling import BASE, PARTS, SWEEPS, Cell, cells_of, exponents, measure, sweep
from coach_gym.envs.latency import Latency


def made_up(cell):
    """Makes a row whose critic is linear and whose update is quadratic in T, and whose judge ignores k."""
    parts = dict.fromkeys(PARTS, 0.5) | {"critic": cell.steps / 3, "update": 0.1 * cell.steps**2, "env_wait": 0.0}
    sizes = {"tokens": 100 * cell.k, "pairs": 1000, "gigaflops": 2.0, "megabytes": 50.0}
    return {"seconds": sum(parts.values()), "parts": parts, "device_seconds": 8.0, **sizes}


@pytest.fixture
def measured(monkeypatch):
    """Replaces the measurement by made-up rows; returns the cells that were asked for."""
    cells = []

    def in_process(function, *arguments):
        if function is not measure:
            return Latency().scaled(0.5)
        cells.append(arguments[0])
        return made_up(arguments[0])

    monkeypatch.setattr(scaling, "in_process", in_process)
    return cells


def test_fit_recovers_the_laws_that_rows_obey(measured):
    rows = sweep([0, 1], "rerun", None)["rows"]
    lengths, candidates = exponents(rows, "steps"), exponents(rows, "k")
    assert lengths["update"] == pytest.approx((2, 1)) and lengths["critic"] == pytest.approx((1, 1))
    assert candidates["tokens"] == pytest.approx((1, 1)) and candidates["judge"][0] == pytest.approx(0)
    assert "env_wait" not in lengths  # there was no waiting to fit


def test_interruption_loses_nothing(measured, tmp_path, monkeypatch):
    path = tmp_path / "scaling.json"
    monkeypatch.setitem(SWEEPS, "steps", (4, 8))
    monkeypatch.setitem(SWEEPS, "k", (4,))
    monkeypatch.setitem(SWEEPS, "devices", ())
    sweep([0], "rerun", path)
    assert measured == [Cell(steps=4), BASE]
    monkeypatch.setitem(SWEEPS, "steps", (4, 8, 16))
    results = sweep([0], "rerun", path)
    assert measured == [Cell(steps=4), BASE, Cell(steps=16)]
    assert json.loads(path.read_text()) == json.loads(json.dumps(results))
    assert results["latency"]["step"] == 2.0


def test_figure_and_tables(measured, tmp_path, capsys):
    results = json.loads(json.dumps(sweep([0, 1], "python -m benchmarks.scaling", None)))
    scaling.print_tables(results)
    assert "rerun: python -m benchmarks.scaling" in capsys.readouterr().out
    scaling.plot(results, tmp_path / "scaling.png")
    assert (tmp_path / "scaling.png").stat().st_size > 10_000


def test_one_factor_at_a_time():
    for factor, values in SWEEPS.items():
        assert BASE in cells_of(factor, values)


def test_episodes_last_as_long_as_they_are_told_to():
    env = scaling._make_env(3)
    env.reset(seed=0)
    ends = [env.step("finished(content='')")[2:4] for _ in range(3)]
    env.close()
    assert ends == [(False, False), (False, False), (False, True)]


def test_iteration_is_the_sum_of_its_parts(monkeypatch):
    monkeypatch.setitem(scaling.SETTINGS, "mini_batch_size", 2)
    monkeypatch.setattr(scaling, "EPISODES", 2)
    row = measure(Cell(steps=2, k=2, devices=1), 0, Latency().scaled(0.1))
    assert 0.9 < sum(row["parts"].values()) / row["seconds"] <= 1
    assert all(row["parts"][part] > 0 for part in PARTS)
    assert row["parts"]["env_wait"] > 0.1  # a step of a device takes longer than the agent's computing
    assert row["trunk"] < row["tokens"] < row["trunk"] + 2 * 2 * 48


def test_profile_books_all_time_once():
    row = scaling.in_process(_profile)
    booked = {phase: sum(parts.values()) for phase, parts in row["seconds"].items()}
    assert all(booked[phase] > 0 for phase in iteration_profile.PHASES)
    assert sum(booked.values()) == pytest.approx(row["thread_seconds"], rel=0.02)
    by_part = {part: sum(parts[part] for parts in row["seconds"].values()) for part in iteration_profile.PARTS}
    assert all(seconds > 0 for seconds in by_part.values())
    for phase in ("critic", "update"):
        assert row["seconds"][phase]["text layers"] > row["seconds"][phase]["heads"]
    assert row["seconds"]["generate"]["optimiser"] == 0 < row["seconds"]["update"]["optimiser"]


def test_computed_attention_outgrows_all_else():
    (short, few), (_, many) = iteration_profile.computed(8, 4), iteration_profile.computed(16, 4)
    assert short == 1000 + 8 * (1631 + 4 * 120)
    assert 1.9 < many["text"] / few["text"] < 2 and many["vision"] == 2 * few["vision"]
    assert 3.5 < many["text_attention"] / few["text_attention"] < 4


def _profile():
    scaling.EPISODES, scaling.SETTINGS["mini_batch_size"] = 2, 2
    iteration_profile.BASE = Cell(steps=2, k=2, devices=2)
    return iteration_profile.measure(0)
