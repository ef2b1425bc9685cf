"""Headroom is what the best of several tries solves and one try does not; the demo plays the families with the most."""

import json
from pathlib import Path

from benchmarks.controls.headroom import measure
from benchmarks.demo import TASKS
from coach_gym.episode import Episode

RESULTS = Path(__file__).parents[3] / "benchmarks/results/headroom.json"


def group(*outcomes):
    return [Episode("", [], outcome=outcome) for outcome in outcomes]


def test_headroom_is_best_less_one():
    mixed, lost = group(1.0, 0.0, 0.0, 0.0), group(0.0, 0.0, 0.0, 0.0)
    assert measure([mixed, lost]) == {"instances": 2, "one": 0.125, "best": 0.5, "headroom": 0.375}
    assert measure([group(1.0, 1.0)])["headroom"] == 0.0


def test_the_demo_plays_the_families_with_the_most_headroom_but_two():
    families = json.loads(RESULTS.read_text())["families"]
    brightness = {"SystemBrightnessMax", "SystemBrightnessMin"}  # of one touch: solved in all instances or in none
    ranked = sorted(families.keys() - brightness, key=lambda name: -families[name]["headroom"])
    assert set(ranked[: len(TASKS)]) == set(TASKS)
