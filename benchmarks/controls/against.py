"""Two comparisons against each other: what their one difference, such as a curriculum, is worth to every method.

Draws the curves of the methods that both have trained, the first comparison's dashed, and prints how far the second
ends ahead, with 95 % intervals by bootstrap over seeds and instances. Seeds that only one of them has are left out.

    python -m benchmarks.controls.against benchmarks/results/controls_long.json \\
        benchmarks/results/controls_curriculum.json --names "all tasks alike" "what fails more often"
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.controls.curves import Bootstrap, Curve
from benchmarks.controls.methods import METHODS
from benchmarks.controls.report import HOW, Estimate, Groups, grouped
from benchmarks.demo import DEVICE
from benchmarks.figures.style import Theme, plt, save

COMMAND = "python -m benchmarks.controls.against"


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs=2, help="files that `benchmarks.controls --json` wrote")
    parser.add_argument("--names", nargs=2, default=["first", "second"], help="what to call them")
    parser.add_argument("--json", type=Path, help="write the differences to this file")
    parser.add_argument("--out", type=Path, default=Path("runs/controls/against.png"))
    options = parser.parse_args()
    pair = in_common([grouped(json.loads(path.read_text("utf-8"))["runs"]) for path in options.results])
    differences = {name: {how: ahead(pair, name, how) for how in HOW} for name in pair[0]}
    print_table(pair, differences, options.names)
    if options.json:
        headline = {f"{name}_{how}": gaps[how]["value"] for name, gaps in differences.items() for how in HOW}
        results = {"benchmark": "controls.against", "device": DEVICE, "headline": headline, "differences": differences}
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"rerun: {COMMAND} {shlex.join(sys.argv[1:])}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save(partial(panels, pair, options.names), options.out)
    print(f"written: {options.out}")


def in_common(pair: Sequence[Groups]) -> list[Groups]:
    """Returns what both comparisons have trained: the same methods, with the runs of the same seeds.

    Raises:
        ValueError: They have nothing in common.
    """
    seeds = [{name: {run["run"]["seed"] for run in runs} for name, runs in groups.items()} for groups in pair]
    both = {name: seeds[0][name] & seeds[1][name] for name in seeds[0] if name in seeds[1] and METHODS[name].learns}
    if not any(both.values()):
        raise ValueError(f"the comparisons have no training in common; they have {[sorted(groups) for groups in pair]}")
    return [
        {name: [run for run in groups[name] if run["run"]["seed"] in same] for name, same in both.items() if same}
        for groups in pair
    ]


def ahead(pair: Sequence[Groups], name: str, how: str) -> Estimate:
    """Returns how far a method ends ahead in the second comparison, with its interval."""
    draws = Bootstrap({str(number): Curve.ends(groups[name], how) for number, groups in enumerate(pair)})
    return draws.estimate(lambda means: means["1"][-1] - means["0"][-1])


def print_table(pair: Sequence[Groups], differences: Mapping[str, Any], names: Sequence[str]) -> None:
    """Prints success at both ends and its difference, for every method."""
    print(f"success at the end, {DEVICE}: {'; '.join(names)}; difference (95 %)")
    for name, gaps in differences.items():
        for how in HOW:
            seeds = f"{len(pair[0][name])} seeds"
            ends = "".join(f"{Curve.ends(groups[name], how).mean()[-1]:>8.1%}" for groups in pair)
            gap, low, high = (100 * each for each in gaps[how].values())
            print(f"{METHODS[name].label:28s}{how:10s}{seeds:10s}{ends}{gap:>+8.1f} ({low:.1f} to {high:.1f})")


def panels(pair: Sequence[Groups], names: Sequence[str], theme: Theme) -> Figure:
    """Draws success over device steps: a panel for each way of playing, a colour for each method."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    for axis, how in zip(axes, HOW, strict=True):
        for groups, called, dash in zip(pair, names, ("dashed", "solid"), strict=True):
            for (method, runs), color in zip(groups.items(), theme.cycle, strict=False):
                curve = Curve.read(runs, how, lambda point: float(point["steps"]))
                label = f"{METHODS[method].label}, {called}"
                axis.plot(curve.along, 100 * curve.mean(), color=color, linestyle=dash, label=label)
        axis.set(xlabel="device steps", title=f"Success, {how} (%, {DEVICE})")
        axis.tick_params(labelleft=True)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


if __name__ == "__main__":
    main()
