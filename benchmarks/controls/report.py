"""Tables, figure and JSON of the comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.controls.curves import LEVELS, NEVER, Axis, Bootstrap, Curve, first_time, speedup
from benchmarks.controls.methods import COACH, METHODS
from benchmarks.controls.runs import Result
from benchmarks.controls.work import Prices, device_seconds, fit_prices, seconds_of
from benchmarks.figures.style import Theme, plt, save
from benchmarks.latency_ratio import DEVICE_TO_INFERENCE

HOW = ("greedy", "sampled")
RATIOS = {f"seconds_{factor:g}": factor * DEVICE_TO_INFERENCE for factor in (0.1, 1, 10)}
"""Ratios of device time to inference time: the paper's, and a tenth and ten times of it."""
PAPERS = "seconds_1"
Estimate = dict[str, float | None]
Groups = dict[str, list[Result]]


def grouped(results: Sequence[Result]) -> Groups:
    """Returns the runs by method, each with the base's evaluation of its seed as its first point.

    Raises:
        ValueError: A seed has no run of the base.
    """
    bases = {result["run"]["seed"]: result["curve"][0] for result in results if result["run"]["method"] == "base"}
    groups: Groups = {}
    for result in results:
        name, seed = result["run"]["method"], result["run"]["seed"]
        if seed not in bases:
            raise ValueError(f"seed {seed} has no run of 'base', where every curve starts; add it to the methods")
        starts = [{**bases[seed], "steps": 0, "work": {"steps": 0}}] if METHODS[name].learns else []
        groups.setdefault(name, []).append({**result, "curve": starts + result["curve"]})
    return groups


def axes(results: Sequence[Result]) -> tuple[dict[str, Axis], Prices]:
    """Returns the x-axes, steps and seconds at every ratio, and the prices that they use."""
    prices = fit_prices(results)
    base: dict[str, float] = {}
    for result in results:
        if result["run"]["method"] == "base":
            base = {name: base.get(name, 0.0) + count for name, count in result["counts"].items()}
    found: dict[str, Axis] = {"steps": lambda point: float(point["steps"])}
    for name, ratio in RATIOS.items():
        found[name] = partial(_seconds, prices=prices, per_step=device_seconds(prices, base, ratio))
    return found, prices


def _seconds(point: Mapping[str, Any], prices: Prices, per_step: float) -> float:
    return seconds_of({"steps": 0, **point["work"]}, prices, per_step)


def compare(results: Sequence[Result], ours: str = COACH) -> dict[str, Any]:
    """Returns all figures: `ends`, `levels` by axis, `prices`, and the `headline`.

    Args:
        results: The runs.
        ours: The method that the others are compared with.
    """
    groups = grouped(results)
    found, prices = axes(results)
    ends: dict[str, Any] = {}
    levels: dict[str, Any] = {}
    for how in HOW:
        for axis, position in found.items():
            draws = Bootstrap({name: Curve.read(runs, how, position) for name, runs in groups.items()})
            levels.setdefault(axis, {})[how] = level_times(draws, ours)
            if axis == "steps":
                ends[how] = {name: end(draws, name, ours) for name in groups}
    return {"headline": headline(ends, levels, ours), "ours": ours, "ends": ends, "levels": levels, "prices": prices}


def end(draws: Bootstrap, name: str, ours: str) -> dict[str, Estimate]:
    """Returns a method's success at the end, its gain over the base, and our lead over it, with intervals."""
    row = {
        "success": draws.estimate(lambda means: means[name][-1]),
        "gain": draws.estimate(lambda means: means[name][-1] - means["base"][-1]),
    }
    if ours in draws.curves:
        row["behind"] = draws.estimate(lambda means: means[ours][-1] - means[name][-1])
    return row


def level_times(draws: Bootstrap, ours: str) -> dict[str, Any]:
    """Returns when every method reaches every level, and how much sooner ours does than the best baseline.

    The best baseline is the one that is first at that level; in every draw of the bootstrap anew. If none gets there,
    the end of the shortest of their curves takes its place, and the speed-up is only a lower bound.
    """
    learning = [name for name in draws.curves if METHODS[name].learns]
    baselines = [name for name in learning if METHODS[name].baseline]

    def when(name: str, level: float, means: Mapping[str, np.ndarray]) -> float:
        return first_time(draws.curves[name].along, means[name], level)

    def sooner(level: float, means: Mapping[str, np.ndarray]) -> float:
        mine, theirs = when(ours, level, means), min(when(name, level, means) for name in baselines)
        ends = min(float(draws.curves[name].along[-1]) for name in baselines)
        return speedup(mine, ends if theirs == NEVER and mine < NEVER else theirs)

    rows: dict[str, Any] = {}
    for level in LEVELS:
        row = rows[f"{level:.0%}"] = {name: draws.estimate(partial(when, name, level)) for name in learning}
        if ours in learning and baselines:
            row["speedup"] = draws.estimate(partial(sooner, level))
    return rows


def headline(ends: Mapping[str, Any], levels: Mapping[str, Any], ours: str) -> dict[str, float]:
    """Returns the figures that the goals are about, as far as they are finite."""
    found: dict[str, float | None] = {}
    for how in HOW:
        if ours not in ends[how]:
            continue
        found[f"{how}_before"] = ends[how]["base"]["success"]["value"]
        found[f"{how}_after"] = ends[how][ours]["success"]["value"]
        for name in ("frozen", "best_of_8", "cloning"):
            if name in ends[how]:
                found[f"{how}_over_{name}"] = ends[how][name]["behind"]["value"]
        for level, row in levels[PAPERS][how].items():
            found[f"{how}_speedup_{level.rstrip('%')}"] = row.get("speedup", {}).get("value")
    return {name: round(value, 4) for name, value in found.items() if value is not None}


def print_tables(compared: Mapping[str, Any]) -> None:
    """Prints success at the end, and times to reach levels in steps and at the paper's ratio."""
    ours = compared["ours"]
    for how in HOW:
        ahead = f"{METHODS[ours].label} is ahead by"
        print(f"\n{how + ', embedded phone':40s}{'success (95 %)':>26s}{'gain':>8s}{ahead:>40s}")
        for name, row in compared["ends"][how].items():
            ahead = _points(row["behind"]) if "behind" in row and name != ours else ""
            gain = f"{100 * row['gain']['value']:+.1f}"
            print(f"{METHODS[name].label:40s}{_points(row['success']):>26s}{gain:>8s}{ahead:>40s}")
        for axis, rows in compared["levels"].items():
            unit = f"seconds, devices at {RATIOS[axis]:g} x inference," if axis in RATIOS else "device steps"
            print(f"\n{how}: {unit} to reach")
            _print_levels(rows[how])


def _print_levels(rows: Mapping[str, Mapping[str, Estimate]]) -> None:
    print(f"{'':40s}" + "".join(f"{level:>20s}" for level in rows))
    names = [name for name in next(iter(rows.values())) if name != "speedup"]
    for name in names:
        cells = ["never" if row[name]["value"] is None else f"{row[name]['value']:.0f}" for row in rows.values()]
        print(f"{METHODS[name].label:40s}" + "".join(f"{cell:>20s}" for cell in cells))
    if all("speedup" in row for row in rows.values()):
        cells = [_times(row["speedup"]) for row in rows.values()]
        print(f"{'ours sooner than the best baseline':40s}" + "".join(f"{cell:>20s}" for cell in cells))


def _points(estimate: Estimate) -> str:
    value, low, high = (float("nan") if each is None else 100 * each for each in estimate.values())
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def _times(estimate: Estimate) -> str:
    value, low, high = ("-" if each is None else f"{each:.1f}" for each in estimate.values())
    return f"{value} ({low} to {high})"


def plot(results: Sequence[Result], path: Path) -> None:
    """Draws success over steps and over time at the paper's ratio, greedy and sampled, with the spread over seeds."""
    save(partial(_panels, grouped(results), axes(results)[0]), path)


def _panels(groups: Groups, found: Mapping[str, Axis], theme: Theme) -> Figure:
    figure, panels = plt.subplots(2, 2, figsize=(11, 8), sharey=True)
    styles = _styles(groups, theme)
    for row, how in zip(panels, HOW, strict=True):
        for panel, axis in zip(row, ("steps", PAPERS), strict=True):
            for name, runs in groups.items():
                _draw(panel, Curve.read(runs, how, found[axis]), METHODS[name].learns, styles[name])
            label = "device steps" if axis == "steps" else f"seconds, devices at {DEVICE_TO_INFERENCE:g} x inference"
            panel.set(xlabel=label, title=f"Success, {how} (%, embedded phone)")
            panel.tick_params(labelleft=True)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    columns = max(1, min(4, 100 // max(map(len, labels))))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    return figure


def _styles(names: Iterable[str], theme: Theme) -> dict[str, dict[str, Any]]:
    """Returns how to draw methods: ours in the first colour; what is not trained dotted, the base in grey."""
    dashes = ("solid", "dashed", "dashdot")
    colors = iter([(color, dash) for dash in dashes for color in theme.cycle[1:]])
    styles = {}
    for name in names:
        color, dash = (theme.better, "solid") if name == COACH else (theme.pale, "") if name == "base" else next(colors)
        linestyle = dash if METHODS[name].learns else "dotted"
        styles[name] = {"color": color, "linestyle": linestyle, "label": METHODS[name].label}
    return styles


def _draw(panel: Any, curve: Curve, learns: bool, style: dict[str, Any]) -> None:
    if not learns:
        panel.axhline(100 * curve.mean()[-1], **style)
        return
    mean, spread = 100 * curve.mean(), 100 * np.nanmean(curve.success, -1).std(0)
    panel.plot(curve.along, mean, **style)
    panel.fill_between(curve.along, mean - spread, mean + spread, color=style["color"], alpha=0.12, linewidth=0)
