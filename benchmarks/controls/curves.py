"""What is read off the curves: success at the end, times to reach levels, speed-ups, each with its interval.

Intervals are 95 % by bootstrap over seeds and instances at once. All methods play the same instances, so a draw of
instances is the same for all, which cancels how hard they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

POINTS = 101
DRAWS = 500
LEVELS = (0.5, 0.6, 0.7, 0.8)
NEVER = float("inf")

Axis = Callable[[Mapping[str, Any]], float]
"""Position of a point of a run's curve on the x-axis, such as its steps."""


@dataclass(frozen=True)
class Curve:
    """Success of a method on every instance, interpolated between evaluations.

    Attributes:
        along: The axis, (points,), up to the end of the shortest run.
        success: Success, (seeds, points, instances), in [0, 1]; nan without a verdict. A method that does not learn has
            one point.
    """

    along: np.ndarray
    success: np.ndarray

    @classmethod
    def read(cls, runs: Sequence[Mapping[str, Any]], how: str, axis: Axis) -> Curve:
        """Reads the curves of one method.

        Args:
            runs: One run per seed.
            how: `"greedy"` or `"sampled"`.
            axis: The x-axis.
        """
        positions = [np.array([axis(point) for point in run["curve"]]) for run in runs]
        along = np.linspace(0.0, min(each[-1] for each in positions), POINTS)
        if along[-1] == 0.0:  # it does not learn
            return cls.ends(runs, how)
        success = [_interpolated(along, at, bits(run, how)) for at, run in zip(positions, runs, strict=True)]
        return cls(along, np.array(success))

    @classmethod
    def ends(cls, runs: Sequence[Mapping[str, Any]], *how: str) -> Curve:
        """Reads only the last evaluations, the mean of several kinds if `how` names several."""
        return cls(np.zeros(1), np.array([[np.mean([bits(run, each)[-1] for each in how], axis=0)] for run in runs]))

    def mean(self) -> np.ndarray:
        """Returns the mean over seeds and instances, (points,)."""
        mean: np.ndarray = np.nanmean(self.success, axis=(0, 2))
        return mean


def bits(run: Mapping[str, Any], how: str) -> np.ndarray:
    """Returns success of every evaluation on every instance, (evaluations, instances)."""
    values = {"0": 0.0, "1": 1.0, "-": np.nan}
    return np.array([[values[bit] for bit in point[how]] for point in run["curve"]])


def _interpolated(along: np.ndarray, at: np.ndarray, success: np.ndarray) -> np.ndarray:
    right = np.clip(np.searchsorted(at, along), 1, len(at) - 1)
    share = np.clip((along - at[right - 1]) / (at[right] - at[right - 1]), 0.0, 1.0)[:, None]
    mixed: np.ndarray = (1 - share) * success[right - 1] + share * success[right]
    return mixed


def first_time(along: np.ndarray, mean: np.ndarray, level: float) -> float:
    """Returns where a mean curve first reaches a level; infinity if it never does."""
    reached = mean >= level - 1e-9
    return float(along[np.argmax(reached)]) if reached.any() else NEVER


def speedup(ours: float, theirs: float) -> float:
    """Returns how many times sooner we reach a level: 0 if only they do, nan if nobody does or both from the start."""
    if ours == theirs and ours in (0.0, NEVER):
        return float("nan")
    return theirs / ours if ours else NEVER


class Bootstrap:
    """Draws of seeds and instances, the same for all methods.

    Args:
        curves: Curves of the methods, on the same instances.
        draws: Number of draws.
        seed: Seed of the draws.
    """

    def __init__(self, curves: Mapping[str, Curve], draws: int = DRAWS, seed: int = 0) -> None:
        self.curves = curves
        rng = np.random.default_rng(seed)
        (instances,) = {curve.success.shape[-1] for curve in curves.values()}
        weights = rng.multinomial(instances, np.full(instances, 1 / instances), size=draws).T.astype(float)
        self.means = {name: _drawn_means(curve, weights, rng) for name, curve in curves.items()}

    def estimate(self, statistic: Callable[[Mapping[str, np.ndarray]], float]) -> dict[str, float | None]:
        """Returns a statistic of the mean curves with its interval: `value`, `low`, `high`; None where not finite.

        Args:
            statistic: A function of the mean curves by method, (points,) each.
        """
        value = statistic({name: curve.mean() for name, curve in self.curves.items()})
        draws = np.array([
            statistic({name: means[draw] for name, means in self.means.items()})
            for draw in range(len(next(iter(self.means.values()))))
        ])  # fmt: skip
        known = draws[~np.isnan(draws)] if not np.isnan(value) else draws[:0]
        low, high = np.quantile(known, (0.025, 0.975), method="nearest") if len(known) else (np.nan, np.nan)
        return {"value": _finite(value), "low": _finite(low), "high": _finite(high)}


def _drawn_means(curve: Curve, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns mean curves, (draws, points), for drawn instances, (instances, draws), and seeds."""
    known = ~np.isnan(curve.success)
    solved, judged = np.nan_to_num(curve.success) @ weights, known @ weights  # (seeds, points, draws)
    number, draws = len(curve.success), weights.shape[1]
    chosen = rng.multinomial(number, np.full(number, 1 / number), size=draws).T[:, None]  # (seeds, 1, draws)
    means: np.ndarray = ((solved * chosen).sum(0) / (judged * chosen).sum(0)).T
    return means


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
