"""The style of our figures: ink on paper and chalk on slate, Roboto, no frames, a title at the left.

All figures are drawn with this module's `plt`, pyplot without windows, and written by `save`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import font_roboto
import matplotlib
from cycler import cycler
from matplotlib import font_manager

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (after the choice of a backend without windows)
from matplotlib.figure import Figure  # noqa: E402


@dataclass(frozen=True)
class Theme:
    """Colours of a figure.

    Attributes:
        paper: Background.
        ink: Text.
        pale: Secondary text, axes.
        line: Grid.
        better: What is good, and the first line of a plot.
        worse: What is bad, and the second line.
        others: Further lines.
    """

    paper: str
    ink: str
    pale: str
    line: str
    better: str
    worse: str
    others: tuple[str, ...]

    @property
    def cycle(self) -> tuple[str, ...]:
        """Returns the colours of a plot's lines, in order; neighbours differ for colour-blind readers too."""
        return self.better, self.worse, *self.others


LIGHT = Theme(
    "#ffffff", "#202124", "#5f6368", "#e8eaed", "#1a73e8", "#e8710a",
    ("#188038", "#9334e6", "#12a4af", "#d01884", "#80868b", "#b06000"),
)  # fmt: skip
DARK = Theme(
    "#1e2129", "#e8eaed", "#9aa0a6", "#343841", "#8ab4f8", "#fcad70",
    ("#81c995", "#c58af9", "#78d9ec", "#ff8bcb", "#bdc1c6", "#fde293"),
)  # fmt: skip

_DPI = 144


def save(draw: Callable[[Theme], Figure], path: Path) -> None:
    """Draws a figure in light to `path` and in dark beside it: `curve.png` and `curve_dark.png`.

    Args:
        draw: Draws the figure with matplotlib, whose defaults are those of the theme while it does.
        path: A PNG file.
    """
    for theme, file in ((LIGHT, path), (DARK, path.with_stem(f"{path.stem}_dark"))):
        with themed(theme):
            figure = draw(theme)
            figure.savefig(file, dpi=_DPI)
            plt.close(figure)


@contextmanager
def themed(theme: Theme) -> Iterator[None]:
    """Makes a theme matplotlib's default for a while."""
    _add_fonts()
    with plt.rc_context(_settings(theme)):
        yield


def _settings(theme: Theme) -> dict[str, Any]:
    return {
        "figure.facecolor": theme.paper, "axes.facecolor": theme.paper, "savefig.facecolor": theme.paper,
        "figure.constrained_layout.use": True, "figure.constrained_layout.h_pad": 0.12,
        "figure.constrained_layout.w_pad": 0.12,
        "font.family": "Roboto", "font.size": 10, "text.color": theme.ink,
        "axes.prop_cycle": cycler(color=theme.cycle),
        "axes.spines.left": False, "axes.spines.right": False, "axes.spines.top": False,
        "axes.edgecolor": theme.pale, "axes.labelcolor": theme.pale, "axes.titlecolor": theme.ink,
        "axes.titlelocation": "left", "axes.titlesize": 11, "axes.titleweight": "medium", "axes.titlepad": 10,
        "figure.titlesize": 12, "figure.titleweight": "medium",
        "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": theme.line,
        "grid.linewidth": 1,
        "xtick.color": theme.pale, "ytick.color": theme.pale, "xtick.major.size": 0, "ytick.major.size": 0,
        "xtick.minor.size": 0, "ytick.minor.size": 0,
        "lines.linewidth": 2, "lines.solid_capstyle": "round", "legend.frameon": False, "legend.fontsize": 9,
    }  # fmt: skip


@cache
def _add_fonts() -> None:
    for font in (font_roboto.Roboto, font_roboto.RobotoMedium, font_roboto.RobotoBold):
        font_manager.fontManager.addfont(font)
