"""A picture of the noise of all estimators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.demo import DEVICE
from benchmarks.figures.style import Theme, plt, save


def plot(rows: Mapping[str, Any], path: Path) -> None:
    """Draws the noise of every estimator with its interval, in light and dark."""
    save(partial(_noise, rows), path)


def _noise(rows: Mapping[str, Any], theme: Theme) -> Figure:
    figure, axes = plt.subplots(figsize=(8, 0.36 * len(rows) + 1.2))
    values, low, high = (np.array([row["noise"][name] for row in rows.values()]) for name in ("value", "low", "high"))
    axes.errorbar(values, range(len(rows)), xerr=[values - low, high - values], fmt="o", ecolor=theme.pale)
    axes.axvline(1, color=theme.pale, linestyle="dotted")
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    ticks = [0.1, 0.3, 1, 3, 10]
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    figure.suptitle(
        f"Noise of an episode's gradient; 1 is that of four candidates with leave-one-out ({DEVICE})", fontsize="medium"
    )
    axes.grid(axis="x")
    return figure
