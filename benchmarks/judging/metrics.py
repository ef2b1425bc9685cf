"""Metrics of critics and judges that are ratios of sums over states, so that resampling episodes is one matrix product.

A state's tally is a dict of such sums. `total` adds tallies up, `critic_report` and `judge_report` turn the sums into
metrics, and `interval` bootstraps a report over episodes, since the states of an episode are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

APART = 0.1
"""Candidates whose measured Q differ by less than this are not compared: with few episodes each, that is noise."""

Tally = Mapping[str, float]
Report = dict[str, float]


def critic_tally(q: Sequence[float], truth: Sequence[float], texts: Sequence[str]) -> dict[str, float]:
    """Compares Q with the truth in one state.

    Pairs, ranks and the best candidate are about distinct candidates; all else weighs candidates as they were drawn.

    Args:
        q: The critic's values of the k candidates.
        truth: Their measured values, without nan.
        texts: Their texts.
    """
    estimated, true = np.asarray(q, float), np.asarray(truth, float)
    first = sorted({text: index for index, text in reversed(list(enumerate(texts)))}.values())
    a, b = _leave_one_out(estimated), _leave_one_out(true)
    return {
        "states": 1, "spread": estimated.std(), "spread_true": true.std(), "one_action": len(first) == 1,
        "aa": a @ a, "bb": b @ b, "ab": a @ b, **_moments(estimated, true),
        **_within(estimated[first], true[first], APART),
    }  # fmt: skip


def contrast_tally(q: Sequence[float], good: Sequence[float], texts: Sequence[str]) -> dict[str, float]:
    """Compares Q with whether the distinct candidates of a state are good: 1, 0, or nan for unknown."""
    first = {text: index for index, text in reversed(list(enumerate(texts))) if not math.isnan(good[index])}
    chosen = sorted(first.values())
    within = _within(np.asarray(q, float)[chosen], np.asarray(good, float)[chosen], 0.5)
    return {f"good_{name}": value for name, value in within.items()}


def return_tally(q: float, returned: float) -> dict[str, float]:
    """Compares Q of an executed action with its return."""
    return _moments(np.array([q]), np.array([returned]))


def judge_tally(good: bool, verdict: float | None) -> dict[str, float]:
    """Compares a verdict on one step, 1, 0 or None for unknown, with the truth."""
    cells = dict.fromkeys(("true_yes", "false_yes", "true_no", "false_no", "no_verdict"), 0.0)
    if verdict is None:
        cells["no_verdict"] = 1.0
    else:
        yes = verdict > 0.5
        cells[f"{'true' if yes == good else 'false'}_{'yes' if yes else 'no'}"] = 1.0
    return cells


def total(tallies: Sequence[Tally]) -> dict[str, float]:
    """Adds tallies up."""
    names = tallies[0] if tallies else {}
    return {name: float(sum(tally[name] for tally in tallies)) for name in names}


def critic_report(s: Tally) -> Report:
    """Returns the metrics of a critic from summed tallies; nan where there was nothing to measure.

    auc                  share of pairs of a state, measured at least `APART` apart, that the critic orders correctly; a
                         tie counts half, and so does chance
    top1                 share of states with such a pair in which the critic's favourite is measured less than `APART`
                         below the best
    top1_chance          the same for a candidate chosen at random
    rank                 mean rank correlation (Kendall's tau-b) within those states
    cosine               between leave-one-out advantages by the critic and by measurement
    correlation          of Q with measured Q, over all candidates
    explained_variance   of measured Q: 1 - mean squared error / variance
    spread, spread_true  mean standard deviation within a state
    contrast             share of states with a pair
    one_action           share of states in which all candidates are the same text
    """
    return {
        **_within_report(s),
        "cosine": _ratio(s["ab"], math.sqrt(s["aa"] * s["bb"]), 0.0 if s["bb"] > 0 else math.nan),
        **return_report(s),
        "spread": s["spread"] / s["states"],
        "spread_true": s["spread_true"] / s["states"],
        "contrast": s["contrast"] / s["states"],
        "one_action": s["one_action"] / s["states"],
    }


def return_report(s: Tally) -> Report:
    """Returns `correlation` and `explained_variance` of values and what they estimate."""
    n = s["n"]
    spread_q, spread_t = s["qq"] - s["q"] ** 2 / n, s["tt"] - s["t"] ** 2 / n
    covariance, error = s["qt"] - s["q"] * s["t"] / n, s["qq"] - 2 * s["qt"] + s["tt"]
    return {
        "correlation": _ratio(covariance, math.sqrt(max(spread_q, 0.0) * max(spread_t, 0.0)), 0.0),
        "explained_variance": 1 - _ratio(error, spread_t),
    }


def contrast_report(s: Tally) -> Report:
    """Returns `auc`, `top1`, `top1_chance` and `rank` of good against other candidates."""
    return _within_report({name.removeprefix("good_"): value for name, value in s.items()})


def judge_report(s: Tally) -> Report:
    """Returns the metrics of a judge: a missing verdict is wrong for `accuracy`, and neither yes nor no.

    accuracy         share of steps judged correctly
    true_positive    share of good steps judged good (sensitivity)
    false_positive   share of bad steps judged good (1 - specificity)
    balanced         mean of `true_positive` and of the share of bad steps judged bad: 0.5 for any coin
    good             share of steps that are good, which is the accuracy of a judge that always says yes
    """
    good, bad = s["true_yes"] + s["false_no"], s["true_no"] + s["false_yes"]
    judged = good + bad + s["no_verdict"]
    sensitivity, specificity = _ratio(s["true_yes"], good), _ratio(s["true_no"], bad)
    return {
        "accuracy": _ratio(s["true_yes"] + s["true_no"], judged),
        "true_positive": sensitivity,
        "false_positive": 1 - specificity,
        "balanced": (sensitivity + specificity) / 2,
        "good": _ratio(good, good + bad),
    }


def interval(
    report: Callable[[Tally], Report], tallies: Sequence[Tally], episodes: Sequence[int], draws: int = 1000
) -> dict[str, tuple[float, float]]:
    """Bootstraps 95 % intervals of a report's metrics.

    Args:
        report: Turns summed tallies into metrics.
        tallies: One per state or step.
        episodes: The episode of each; whole episodes are drawn, with replacement.
        draws: Number of bootstrap samples.

    Returns:
        The 2.5th and 97.5th percentile of every metric, (nan, nan) where it is undefined in every sample.
    """
    names = list(tallies[0])
    values = np.array([[tally[name] for name in names] for tally in tallies], float)
    _, index = np.unique(np.asarray(episodes), return_inverse=True)
    sums = np.zeros((index.max() + 1, len(names)))
    np.add.at(sums, index, values)
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=draws)
    reports = [report(dict(zip(names, row.tolist(), strict=True))) for row in weights @ sums]
    return {name: _percentiles([each[name] for each in reports]) for name in reports[0]}


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a share; (0, 1) without any trial."""
    if trials == 0:
        return 0.0, 1.0
    z = 1.959964
    share, weight = successes / trials, 1 + z * z / trials
    center = (share + z * z / (2 * trials)) / weight
    half = z / weight * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, center - half), min(1.0, center + half)


def _moments(q: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Sums for correlation and explained variance."""
    return {"n": len(q), "q": q.sum(), "t": truth.sum(), "qq": q @ q, "tt": truth @ truth, "qt": q @ truth}


def _within(q: np.ndarray, truth: np.ndarray, apart: float) -> dict[str, float]:
    """Sums about the order of a state's distinct candidates."""
    one, other = np.triu_indices(len(truth), 1)
    gaps, agreement = truth[one] - truth[other], np.sign(q[one] - q[other]) * np.sign(truth[one] - truth[other])
    pairs = np.abs(gaps) >= apart
    contrast = bool(pairs.any())
    best = truth > truth.max(initial=-math.inf) - apart
    favourites = q == q.max(initial=-math.inf)
    return {
        "pairs": float(pairs.sum()),
        "ties": float((~pairs).sum()),
        "ordered": float(((agreement[pairs] + 1) / 2).sum()),
        "contrast": float(contrast),
        "top": float(best[favourites].mean()) if contrast else 0.0,
        "chance": float(best.mean()) if contrast else 0.0,
        "rank": _tau(q[one] - q[other], gaps) if contrast else 0.0,
    }


def _within_report(s: Tally) -> Report:
    return {
        "auc": _ratio(s["ordered"], s["pairs"]),
        "top1": _ratio(s["top"], s["contrast"]),
        "top1_chance": _ratio(s["chance"], s["contrast"]),
        "rank": _ratio(s["rank"], s["contrast"]),
    }


def _tau(one: np.ndarray, other: np.ndarray) -> float:
    """Kendall's tau-b from the differences of all pairs; 0 if all values of one side are equal."""
    a, b = np.sign(one), np.sign(other)
    return _ratio(float(a @ b), math.sqrt(float(a @ a) * float(b @ b)), 0.0)


def _leave_one_out(values: np.ndarray) -> np.ndarray:
    """Equation 3's advantages up to a factor that a cosine does not see."""
    return values - values.mean()


def _ratio(part: float, whole: float, otherwise: float = math.nan) -> float:
    return part / whole if whole > 1e-12 else otherwise


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)
