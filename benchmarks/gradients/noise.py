"""Signal and noise of gradient estimates, with intervals by bootstrap over instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass
class Sums:
    """Products of gradients by instances, from which all figures follow.

    Attributes:
        own: Products of the instances' mean estimates with one another, (I, I).
        cross: Their products with the instances' mean true gradients, (I, I).
        squares: Mean squared norms of an instance's estimates, (I,).
        size: Episodes that share a baseline and so count as one estimate.
    """

    own: np.ndarray
    cross: np.ndarray
    squares: np.ndarray
    size: int = 1


def sums(estimates: np.ndarray, truth: np.ndarray, instances: np.ndarray, group: bool = False) -> Sums:
    """Returns the sums of one estimator.

    Args:
        estimates: The gradients that the episodes yield, (N, m).
        truth: The best estimate of the gradient by each episode, (N, m).
        instances: Their instances, (N,).
        group: Whether the episodes of an instance share a baseline, and so are one estimate.
    """
    numbers = np.unique(instances)
    means, true = (np.stack([rows[instances == n].mean(0) for n in numbers]) for rows in (estimates, truth))
    alone = (estimates**2).sum(1)
    squares = (means**2).sum(1) if group else np.array([alone[instances == n].mean() for n in numbers])
    return Sums(means @ means.T, means @ true.T, squares, len(instances) // len(numbers) if group else 1)


def across(products: np.ndarray, weights: np.ndarray) -> np.float64:
    """Returns the mean product of two different instances: noise of an instance is not multiplied by itself."""
    of_one = (weights**2 * np.diag(products)).sum()
    return (weights @ products @ weights - of_one) / (weights.sum() ** 2 - (weights**2).sum())


def figures(found: Sums, truth: Sums, unbiased: bool, weights: np.ndarray) -> dict[str, np.float64]:
    """Returns the figures of one estimator.

        noise       mean squared norm of what the estimate by an episode is off its expectation
        signal      squared norm of its expectation over that of its noise, of one episode: the inverse of the simple
                    noise scale of McCandlish et al. 2018 (arXiv 1812.06162), which is the number of episodes after
                    which the two are equal
        agreement   product of its expectation with the gradient over its squared norm: 1 if it is unbiased, 0 if it
                    points nowhere in particular, negative if it is wrong

    Args:
        found: Its sums.
        truth: Those of the truth.
        unbiased: Whether its expectation is known to be the gradient.
        weights: How often each instance counts, (I,).
    """
    signal = across(truth.own, weights)
    expected, shared = (signal, signal) if unbiased else (across(found.own, weights), across(found.cross, weights))
    noise = found.size * (weights @ found.squares / weights.sum() - expected)
    return {"noise": noise, "signal": expected / noise, "agreement": shared / expected}


def intervals(
    by_name: Mapping[str, Sums], truth: Sums, unbiased: Mapping[str, bool], reference: str, draws: int = 2000
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Returns the figures of all estimators, with 95 % intervals; noise in units of the noise of the `reference`."""
    rng, count = np.random.default_rng(0), len(truth.squares)
    samples = [np.ones(count), *(np.bincount(rng.integers(count, size=count), minlength=count) for _ in range(draws))]

    def all_figures(weights: np.ndarray) -> dict[str, dict[str, np.float64]]:
        rows = {name: figures(found, truth, unbiased[name], weights) for name, found in by_name.items()}
        return {name: row | {"noise": row["noise"] / rows[reference]["noise"]} for name, row in rows.items()}

    with np.errstate(invalid="ignore", divide="ignore"):
        value, *drawn = map(all_figures, samples)
    return {
        name: {
            figure: {
                "value": _known(value[name][figure]),
                "low": _known(np.nanquantile([row[name][figure] for row in drawn], 0.025)),
                "high": _known(np.nanquantile([row[name][figure] for row in drawn], 0.975)),
            }
            for figure in value[name]
        }
        for name in by_name
    }


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
