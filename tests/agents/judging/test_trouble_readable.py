"""A judge that returns something else than verdicts has said nothing."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from coach_gym.agents.judging.trouble import verdicts_of


def asked(verdicts):
    return verdicts_of("outcome verifier", lambda: verdicts, 3, "episodes", "raise")


@pytest.mark.parametrize("verdicts", [[1.0], [1.0] * 4, "yes", b"abc", None, 1.0, iter([1.0] * 3), []])
def test_a_wrong_number_of_verdicts_says_nothing(verdicts):
    with pytest.warns(UserWarning, match="outcome verifier returned .* for 3 episodes"):
        assert asked(verdicts) == [None] * 3


@pytest.mark.parametrize("verdict", ["True", float("nan"), float("inf"), [1.0], {}, 7.5, -1, 10**400, 1e308])
def test_what_is_no_verdict_is_unknown(verdict):
    with pytest.warns(UserWarning, match="which is no verdict, for 1 of 3 episodes"):
        assert asked([1.0, verdict, None]) == [1.0, None, None]


def test_verdicts_are_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asked([True, 0, None]) == [1.0, 0.0, None]
        graded = asked([Fraction(1, 2), np.float32(0.25), np.int64(1)])
    assert graded == [0.5, 0.25, 1.0] and all(isinstance(each, float) for each in graded)
