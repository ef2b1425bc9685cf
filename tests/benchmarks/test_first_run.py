"""The benchmark of the README's first program trains what that program trains."""

import re
from functools import partial
from pathlib import Path

import pytest

from benchmarks import first_run
from coach_gym.agents import CoachAgent

README = Path(__file__).parents[2] / "README.md"


def test_it_is_the_readmes_program():
    program = re.search(r"## Train an agent\n\n```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    assert f"tasks = {list(first_run.TASKS)!r}".replace("'", '"') in program
    assert f"num_envs={first_run.NUM_ENVS}, " in program and f"screen_size={first_run.SCREEN}, " in program
    assert f"total_timesteps={first_run.STEPS:_}," in program


@pytest.mark.parametrize("method", first_run.METHODS)
def test_a_run_is_measured_before_and_after(method, monkeypatch):
    small = {"batch_size": 2, "mini_batch_size": 2}
    monkeypatch.setattr(first_run, "NUM_ENVS", 2)
    monkeypatch.setattr(first_run, "CoachAgent", partial(CoachAgent, **small))
    if method != "imitates":
        monkeypatch.setitem(first_run.METHODS, method, partial(first_run.METHODS[method], **small))
    run = first_run.run(method, seed=0, steps=1, episodes=2)
    assert run["method"] == method and run["steps"] >= 1 and run["core_seconds"] > 0
    assert {*run["before"]} == {*run["after"]} == {*first_run.HOW}


def test_the_report_keeps_methods_apart():
    def run(method, before, after, seconds):
        both = [dict.fromkeys(first_run.HOW, value) for value in (before, after)]
        return {"method": method, "seed": 0, "before": both[0], "after": both[1], "core_seconds": seconds}

    runs = [run("coach", 0.5, 0.75, 4), run("coach", 0.25, 0.25, 6), run("cloning", 0.75, 1.0, 2)]
    runs.append(run("imitates", 0.5, 0.5, 3))
    assert first_run.report(runs, "command")["headline"] == {
        "greedy_before": 0.5, "sampled_before": 0.5, "greedy_after": 0.5, "sampled_after": 0.5,
        "greedy_after_cloning": 1.0, "sampled_after_cloning": 1.0, "core_seconds": 5.0, "core_seconds_cloning": 2.0,
        "greedy_after_imitates": 0.5, "sampled_after_imitates": 0.5, "core_seconds_imitates": 3.0,
    }  # fmt: skip
