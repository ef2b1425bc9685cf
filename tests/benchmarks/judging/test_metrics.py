"""Metrics of critics and judges on constructed data, against plain loops and numpy."""

import math
import random

import numpy as np
import pytest

from benchmarks.judging.metrics import (
    APART,
    contrast_report,
    contrast_tally,
    critic_report,
    critic_tally,
    interval,
    judge_report,
    judge_tally,
    return_report,
    return_tally,
    total,
    wilson,
)

NAMES = ("a", "b", "c", "d")
RNG = np.random.default_rng(0)
TRUTH = RNG.uniform(size=(200, 4)).round(2)


def report(q, truth=TRUTH, texts=NAMES):
    return critic_report(total([critic_tally(one, other, texts) for one, other in zip(q, truth, strict=True)]))


def test_a_perfect_critic():
    found = report(TRUTH)
    for name in ("auc", "top1", "cosine", "correlation", "explained_variance"):
        assert found[name] == pytest.approx(1.0), name
    assert found["spread"] == pytest.approx(found["spread_true"]) == pytest.approx(TRUTH.std(1).mean())


def test_a_critic_upside_down():
    found = report(1 - TRUTH)
    assert (found["auc"], found["top1"]) == (0, 0)
    assert found["cosine"] == pytest.approx(-1) and found["correlation"] == pytest.approx(-1)
    assert found["explained_variance"] < 0


def test_a_coin_is_at_chance():
    found = report(RNG.uniform(size=TRUTH.shape))
    assert found["auc"] == pytest.approx(0.5, abs=0.05)
    assert found["top1"] == pytest.approx(found["top1_chance"], abs=0.1)
    assert abs(found["cosine"]) < 0.1 and abs(found["rank"]) < 0.1 and abs(found["correlation"]) < 0.1


@pytest.mark.parametrize("q", [np.full(TRUTH.shape, 0.3), TRUTH.mean(1, keepdims=True).repeat(4, 1)])
def test_a_value_function_tells_nothing_within_a_state(q):
    found = report(q)
    assert (found["auc"], found["cosine"], found["rank"]) == (0.5, 0.0, 0.0)
    assert found["spread"] == pytest.approx(0) and found["top1"] == pytest.approx(found["top1_chance"])


def test_a_value_function_can_explain_variance_all_the_same():
    q = TRUTH.mean(1, keepdims=True).repeat(4, 1)
    assert report(q)["explained_variance"] == pytest.approx(np.var(q) / np.var(TRUTH))
    assert report(np.full(TRUTH.shape, TRUTH.mean()))["explained_variance"] == pytest.approx(0.0)


def test_auc_and_top1_agree_with_plain_loops():
    q = TRUTH + RNG.normal(size=TRUTH.shape) * 0.3
    ordered, tops = [], []
    for one, true in zip(q, TRUTH, strict=True):
        pairs = [(i, j) for i in range(4) for j in range(4) if true[i] - true[j] >= APART]
        ordered += [one[i] > one[j] for i, j in pairs]
        if pairs:
            tops.append(true[one.argmax()] > true.max() - APART)
    found = report(q)
    assert found["auc"] == pytest.approx(np.mean(ordered))
    assert found["top1"] == pytest.approx(np.mean(tops))


def test_correlation_and_cosine_agree_with_numpy():
    q = TRUTH + RNG.normal(size=TRUTH.shape) * 0.3
    a, b = ((x - x.mean(1, keepdims=True)).ravel() for x in (q, TRUTH))
    found = report(q)
    assert found["correlation"] == pytest.approx(np.corrcoef(q.ravel(), TRUTH.ravel())[0, 1])
    assert found["cosine"] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert found["explained_variance"] == pytest.approx(1 - ((q - TRUTH) ** 2).mean() / TRUTH.var())


def test_rank_correlation_is_kendalls():
    found = report([[3, 1, 2, 0]], np.array([[0.9, 0.6, 0.3, 0.0]]))
    assert found["rank"] == pytest.approx((5 - 1) / 6)  # one of six pairs is out of order
    with_tie = report([[1, 1, 0]], np.array([[0.9, 0.6, 0.3]]), "abc")
    assert with_tie["rank"] == pytest.approx(2 / math.sqrt(2 * 3))


def test_equal_texts_count_once_where_candidates_are_compared():
    once = critic_tally([1, 0], [0.9, 0.1], ["good", "bad"])
    often = critic_tally([1, 1, 1, 0], [0.9, 0.9, 0.9, 0.1], ["good", "good", "good", "bad"])
    assert all(once[name] == often[name] for name in ("pairs", "ordered", "top", "chance", "rank"))
    assert (once["n"], often["n"]) == (2, 4)


def test_near_ties_are_not_compared():
    tally = critic_tally([0, 1], [0.5, 0.5 + APART / 2], NAMES[:2])
    assert (tally["pairs"], tally["ties"], tally["contrast"]) == (0, 1, 0)
    assert math.isnan(critic_report(total([tally]))["auc"])


def test_candidates_that_are_unknown_are_left_out_of_the_contrast():
    tally = contrast_tally([0.9, 0.5, 0.1, 7.0], [1, 0, 0, math.nan], NAMES)
    found = contrast_report(total([tally]))
    assert (found["auc"], found["top1"], found["top1_chance"]) == (1, 1, pytest.approx(1 / 3))
    nothing = contrast_tally([0.9, 0.5], [math.nan, math.nan], NAMES[:2])
    assert math.isnan(contrast_report(total([nothing]))["auc"])


def test_returns_are_compared_like_values():
    q, returns = RNG.uniform(size=50), RNG.uniform(size=50)
    found = return_report(total([return_tally(*pair) for pair in zip(q, returns, strict=True)]))
    assert found["correlation"] == pytest.approx(np.corrcoef(q, returns)[0, 1])
    assert found["explained_variance"] == pytest.approx(1 - ((q - returns) ** 2).mean() / returns.var())


def judged(pairs):
    return judge_report(total([judge_tally(good, verdict) for good, verdict in pairs]))


def test_a_judge_by_its_confusion_matrix():
    found = judged([(True, 1.0)] * 6 + [(True, 0.0)] * 2 + [(False, 0.0)] * 3 + [(False, 1.0)])
    assert found["accuracy"] == pytest.approx(9 / 12) and found["good"] == pytest.approx(8 / 12)
    assert (found["true_positive"], found["false_positive"]) == (0.75, 0.25)
    assert found["balanced"] == 0.75


def test_a_judge_that_always_says_yes_and_one_that_says_nothing():
    always = judged([(True, 1.0)] * 8 + [(False, 1.0)] * 2)
    assert (always["accuracy"], always["balanced"], always["false_positive"]) == (0.8, 0.5, 1.0)
    assert judged([(True, 1.0), (True, None)])["accuracy"] == 0.5


def test_a_coin_is_a_balanced_half_however_many_steps_are_good():
    coin = random.Random(0)
    found = judged([(number % 10 > 0, float(coin.random() < 0.7)) for number in range(4000)])
    assert found["balanced"] == pytest.approx(0.5, abs=0.05)


def test_intervals_are_over_episodes():
    tallies = [judge_tally(True, float(number < 50)) for number in range(100)]
    alone = interval(judge_report, tallies, list(range(100)))["true_positive"]
    together = interval(judge_report, tallies, [number // 25 for number in range(100)])["true_positive"]
    assert alone == pytest.approx((0.4, 0.6), abs=0.03)
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])


def test_wilsons_interval():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)  # R: prop.test(8, 10, correct = FALSE)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(10, 10)[1] == pytest.approx(1.0)
