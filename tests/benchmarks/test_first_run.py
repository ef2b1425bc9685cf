"""The benchmark of the README's first program trains what that program trains."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import first_run

README = Path(__file__).parents[2] / "README.md"


def test_it_is_the_readmes_program():
    program = re.search(r"## Train an agent\n\n```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    assert f"tasks = {list(first_run.TASKS)!r}".replace("'", '"') in program
    assert f"num_envs={first_run.NUM_ENVS}, " in program and f"screen_size={first_run.SCREEN}, " in program
    assert f"total_timesteps={first_run.STEPS:_}," in program


def test_a_run_is_measured_before_and_after(monkeypatch):
    monkeypatch.setattr(first_run, "NUM_ENVS", 2)
    run = first_run.run(seed=0, steps=1, episodes=2)
    assert run["steps"] >= 1 and run["core_seconds"] > 0
    assert {*run["before"]} == {*run["after"]} == {*first_run.HOW}
    headline = first_run.report([run, run | {"core_seconds": run["core_seconds"] + 2}], "command")["headline"]
    assert headline["core_seconds"] == pytest.approx(run["core_seconds"] + 1)
    assert headline["greedy_before"] == np.mean([run["before"]["greedy"]] * 2)
