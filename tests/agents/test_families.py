"""Which task families a training has unlearned."""

import pytest

from coach_gym.agents import families_lost
from coach_gym.agents.evaluation import Evaluation, Result


def evaluation(n: int = 50, **solved: int) -> Evaluation:
    """Returns n judged episodes of every family, of which so many are solved, and one episode without a verdict."""
    return Evaluation([
        Result(family, {}, seed, float(seed < number), 3, seed < number if seed < n else None, None)
        for family, number in solved.items()
        for seed in range(n + 1)
    ])  # fmt: skip


def test_a_family_is_lost_if_it_falls_by_more_than_ten_points():
    before = evaluation(Wifi=50, Alarm=40, Note=25, Never=0)
    after = evaluation(Wifi=44, Alarm=35, Note=50, Never=0)
    assert families_lost(before, after) == {"Wifi": (1.0, 0.88)}
    assert families_lost(before, after, fall=0.05) == {"Alarm": (0.8, 0.7), "Wifi": (1.0, 0.88)}
    assert families_lost(before, before) == {}


def test_too_few_episodes_are_no_evidence():
    with pytest.raises(ValueError, match=r"n_least=50 .*'Wifi': \[50, 49\]"):
        families_lost(evaluation(Wifi=9), evaluation(49, Wifi=9))
    with pytest.raises(ValueError, match=r"'Alarm': \[0, 50\]"):
        families_lost(evaluation(Wifi=9), evaluation(Wifi=9, Alarm=9))
    assert families_lost(evaluation(49, Wifi=9), evaluation(49, Wifi=0), n_least=40) == {"Wifi": (9 / 49, 0.0)}
