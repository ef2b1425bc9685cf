"""The paper's ablations in miniature: what each part of CoachAgent is worth, held against what the paper found.

Every variant changes one setting of an agent that Q alone teaches (`ALONE` in `benchmarks/controls/methods.py`).
Imitation of its own successes and corrections by outcomes, which the paper's agent does not have, would cover what its
parts bring. The studies `judge_*` change one that learns more: a judge gives Q, and states are visited again. An agent
is judged by its success at the end, the mean of greedy and sampled, on the same instances. A finding is confirmed or
refuted if the 95 % interval of the difference, by bootstrap over seeds and instances, lies on one side of zero, and
undecided otherwise, or with one seed.

    python -m benchmarks.ablations --studies k prm critic baseline executed --json benchmarks/results/ablations.json
    python -m benchmarks.ablations --studies judge_k judge_baseline judge_negative --steps 1100 --seeds 0 1 2

Every run is stored in `--out` and not repeated; studies share those that are equal.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from benchmarks.controls.curves import Bootstrap, Curve  # noqa: E402
from benchmarks.controls.methods import METHODS, SHARED, chosen  # noqa: E402
from benchmarks.controls.report import PAPERS, axes  # noqa: E402
from benchmarks.controls.runs import Result, Run, play  # noqa: E402
from benchmarks.demo import DEVICE, SUITE  # noqa: E402
from benchmarks.figures.style import Theme, plt, save  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402

COMMAND = "python -m benchmarks.ablations"
ABLATED = "coach_alone"
BASE, HOW = "base", ("greedy", "sampled")
VISITING = "judged_visiting"


@dataclass(frozen=True)
class Finding:
    """A difference in success that the paper reports.

    Attributes:
        better: The variant that the paper finds better.
        worse: The other one.
        paper: What the paper says, with its figures and where they are.
    """

    better: str
    worse: str
    paper: str


@dataclass(frozen=True)
class Study:
    """One respect in which variants differ.

    Attributes:
        title: What differs.
        variants: Settings of CoachAgent by label.
        findings: What the paper found; empty if it compares nothing here.
        times: Time of an iteration that the paper reports, over that of the first variant, by label.
        method: The key in `METHODS` of the agent that is changed.
    """

    title: str
    variants: dict[str, dict[str, Any]]
    findings: tuple[Finding, ...] = ()
    times: dict[str, float] = field(default_factory=dict)
    method: str = ABLATED


def judged(k: int, **changed: Any) -> dict[str, Any]:
    """Returns settings with which k candidates are scored and learned from, in roll-outs and visits.

    The policy's first draw is executed, as in the paper, so that k does not change how well roll-outs go.
    """
    judge = {"reward_model": "pocket-judge-demo", "execute": "first", "max_k": None}
    return {**judge, "k": k, "revisit_k": k, **changed}


NUMBERS = (1, 2, 4, 8, 16)
MORE_IS_BETTER = (
    Finding("k = 4", "k = 1", "k = 4 solves 37.0 % and 39.1 %, k = 1 34.8 % and 36.8 % (Table 3)"),
    Finding("k = 8", "k = 1", "k = 8 solves 37.0 % and 39.4 %, k = 1 34.8 % and 36.8 % (Table 3)"),
    Finding("k = 8", "k = 4", "k = 8 gains a marginal 0.0 and 0.3 points on k = 4 (Table 3)"),
)
TIMES = {"k = 2": 1.22, "k = 4": 1.62, "k = 8": 2.18}
A_BASELINE_HELPS = Finding("leave-one-out", "none", "without the baseline success is much lower, 36.0 % (Figure 5)")

STUDIES = {
    "k": Study(
        "candidates per state, without PRM as in the paper",
        {f"k = {k}": {"k": k, "reward_model": None} for k in NUMBERS},
        MORE_IS_BETTER,
        TIMES,
    ),
    "prm": Study(
        "process rewards, and the outcome's discount",
        {
            "PRM": {"reward_model": "pocket"},
            "PRM, outcome discounted": {"reward_model": "pocket", "discount_outcome": True},
            "no PRM": {"reward_model": None},
            "no PRM, outcome not discounted": {"reward_model": None, "discount_outcome": False},
        },
        (Finding("PRM", "no PRM", "the PRM adds 2.4 and 2.0 points (Table 4)"),),
    ),
    "critic": Study(
        "the critic's start",
        {
            "pre-trained": {"critic": "pocket"},
            "the PRM's weights": {"critic": "judge"},
            "the policy's weights": {"critic": "copy"},
        },
        (Finding("pre-trained", "the policy's weights", "without pre-training, values diverge (Figure 6)"),),
    ),
    "baseline": Study(
        "the baseline of Q",
        {
            "leave-one-out": {"baseline": "leave_one_out"},
            "none": {"baseline": "none"},
            "V": {"baseline": "value"},
            "mean of Q": {"baseline": "mean"},
        },
        (A_BASELINE_HELPS,),
    ),
    "executed": Study(
        "the executed candidate, on which Q was just fitted",
        {
            "in the baseline": {},
            "left out": {"learn_from_executed": False},
            "fresh candidates, as in the paper": {"resample": True},
        },
    ),
    "judge_k": Study(
        "candidates per state, scored by a judge",
        {f"k = {k}": judged(k) for k in NUMBERS},
        MORE_IS_BETTER,
        TIMES,
        VISITING,
    ),
    "judge_baseline": Study(
        "the baseline of four candidates that a judge scores",
        {
            "leave-one-out": judged(4),
            "none": judged(4, baseline="none"),
            "mean of Q": judged(4, baseline="mean"),
        },
        (A_BASELINE_HELPS,),
        method=VISITING,
    ),
    "judge_negative": Study(
        "negative advantages of four candidates that a judge scores",
        {"count a tenth": judged(4), "count in full, as in the paper": judged(4, negative_weight=1.0)},
        method=VISITING,
    ),
}


def study_runs(study: Study, seeds: Sequence[int], **shared: Any) -> dict[str, list[Run]]:
    """Returns the runs of a study by variant; `shared` are fields of `Run`.

    What is the default anyhow is not named in a run's settings, so that equal variants of two studies are one run.
    """
    start = chosen()[study.method]
    defaults = {name: each.default for name, each in signature(CoachAgent).parameters.items()}
    defaults |= SHARED | METHODS[study.method].settings

    def changed(variant: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in {**start, **variant}.items() if value != defaults[name]}

    return {
        label: [Run(study.method, seed, settings=changed(variant), **shared) for seed in seeds]
        for label, variant in study.variants.items()
    }


def judge(
    study: Study, results: Mapping[str, Sequence[Result]], base: Sequence[Result], prices_from: Sequence[Result]
) -> dict[str, Any]:
    """Returns success and cost of every variant, and a verdict on every finding.

    Args:
        study: The study.
        results: Its results by variant.
        base: Those of the base.
        prices_from: Runs to which prices of work are fitted, the base's among them.
    """
    played = {**results, BASE: base}
    draws = Bootstrap({label: Curve.ends(runs, "greedy", "sampled") for label, runs in played.items()})
    seconds, _ = axes(prices_from)
    first = next(iter(results.values()))
    rows = {
        label: {
            "success": draws.estimate(partial(_end, label)),
            "over_base": draws.estimate(partial(_gap, label, BASE)),
            "over_first": draws.estimate(partial(_gap, label, next(iter(results)))),
            "greedy": float(np.nanmean(Curve.ends(runs, "greedy").success)),
            "sampled": float(np.nanmean(Curve.ends(runs, "sampled").success)),
            "seeds": {how: np.nanmean(Curve.ends(runs, how).success, axis=(1, 2)).tolist() for how in HOW},
            "families": {how: by_family(runs, how) for how in HOW},
            "time": _total(runs, seconds[PAPERS]) / _total(first, seconds[PAPERS]),
            "log": runs[0]["curve"][-1]["log"],
        }
        for label, runs in results.items()
    }
    findings = [cost(study, label, rows[label]["time"]) for label in study.times]
    for finding in study.findings:
        gap = draws.estimate(partial(_gap, finding.better, finding.worse))
        found = verdict(gap, len(first))
        findings.append({"paper": finding.paper, "difference": gap, "verdict": found,
                         "sentence": sentence(finding, gap, found)})  # fmt: skip
    return {"title": study.title, "variants": rows, "findings": findings}


def _end(label: str, means: Mapping[str, np.ndarray]) -> float:
    return float(means[label][-1])


def _gap(better: str, worse: str, means: Mapping[str, np.ndarray]) -> float:
    return _end(better, means) - _end(worse, means)


def by_family(runs: Sequence[Result], how: str) -> dict[str, float]:
    """Returns success at the end by task family, the mean over seeds."""
    families = np.array(runs[0]["instances"])
    ends = Curve.ends(runs, how).success[:, 0]
    return {family: float(np.nanmean(ends[:, families == family])) for family in sorted(set(runs[0]["instances"]))}


def _total(runs: Sequence[Result], seconds: Any) -> float:
    return float(np.mean([seconds(run["curve"][-1]) / run["curve"][-1]["steps"] for run in runs]))


def cost(study: Study, label: str, time: float) -> dict[str, Any]:
    """Returns whether a variant's time grows less than its candidates do, as the paper found."""
    least = next(iter(study.variants.values()))["k"]
    times_k = study.variants[label]["k"] / least
    paper = f"'{label}' takes {study.times[label]:.2f} times as long, less than {times_k:g} times (Table 3)"
    found = "confirmed" if time < times_k else "refuted"
    words = f"The paper: {paper}. Here, {time:.2f} times as long a step, by counted work: {found}."
    return {"paper": paper, "times": time, "verdict": found, "sentence": words}


def verdict(gap: Mapping[str, float | None], n_seeds: int) -> str:
    """Returns whether the interval of a difference confirms that it is positive.

    One seed decides nothing: its interval knows how instances differ, but not how trainings do.
    """
    low, high = gap["low"], gap["high"]
    assert low is not None and high is not None
    return "undecided" if n_seeds == 1 else "confirmed" if low > 0 else "refuted" if high < 0 else "undecided"


def sentence(finding: Finding, gap: Mapping[str, float | None], found: str) -> str:
    """Returns what the paper found, what is found here, and what follows."""
    value, low, high = (100 * (gap[name] or 0.0) for name in ("value", "low", "high"))
    return (
        f"The paper: {finding.paper}. Here, '{finding.better}' is {value:+.1f} points ({low:+.1f} to {high:+.1f}) from "
        f"'{finding.worse}': {found}."
    )


def main() -> None:
    """Runs the studies, prints their tables and draws them."""
    options = _arguments()
    torch.set_num_threads(1)
    shared = {name: getattr(options, name) for name in ("steps", "episodes", "policy", "evaluations")}
    planned = {name: study_runs(STUDIES[name], options.seeds, **shared) for name in options.studies}
    base = [Run(BASE, seed, **shared) for seed in options.seeds]
    runs = base + [
        runs[number] for number in range(len(options.seeds)) for study in planned.values() for runs in study.values()
    ]
    distinct = list({run.file(): run for run in runs}.values())
    done = dict(zip((run.file() for run in distinct), play(distinct, options.out, options.jobs), strict=True))
    studies = {}
    for name, variants in planned.items():
        results = {label: [done[run.file()] for run in runs] for label, runs in variants.items()}
        studies[name] = judge(STUDIES[name], results, [done[run.file()] for run in base], list(done.values()))
        print_study(studies[name])
    plot(studies, options.out / "ablations.png")
    ends = [Curve.ends([done[run.file()] for run in base], how).success for how in HOW]
    untrained = dict(zip(HOW, (float(np.nanmean(each)) for each in ends), strict=True))
    print(f"\nthe base, untrained: greedy {untrained['greedy']:.1%}, sampled {untrained['sampled']:.1%}")
    command = f"{COMMAND} {shlex.join(sys.argv[1:])}"
    print(f"\nrerun: {command}")
    if options.json:
        report = {
            "benchmark": "ablations", "headline": headline(studies), "studies": studies, "base": untrained,
            "command": command,
            "seeds": options.seeds, **shared, "device": DEVICE,
            "suite": f"AndroidWorld, {SUITE} task families ({DEVICE})",
            "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        }  # fmt: skip
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def headline(studies: Mapping[str, Any]) -> dict[str, float]:
    """Returns how many findings have which verdict, by study."""
    return {
        f"{name}_{which}": sum(finding["verdict"] == which for finding in study["findings"])
        for name, study in studies.items()
        for which in ("confirmed", "refuted", "undecided")
    }


def print_study(study: Mapping[str, Any]) -> None:
    """Prints the table of a study and its verdicts."""
    print(
        f"\n{study['title'] + ', embedded phone':64s}{'success (95 %)':>24s}{'greedy':>9s}{'sampled':>9s}{'time':>7s}"
    )
    for label, row in study["variants"].items():
        value, low, high = (100 * row["success"][name] for name in ("value", "low", "high"))
        cells = f"{f'{value:.1f} ({low:.1f} to {high:.1f})':>24s}{row['greedy']:>9.1%}{row['sampled']:>9.1%}"
        print(f"{label:64s}{cells}{row['time']:>6.2f}x")
    for finding in study["findings"]:
        print(finding["sentence"])
    if not study["findings"]:
        print("The paper does not compare these.")


def plot(studies: Mapping[str, Any], path: Path) -> None:
    """Draws success of all variants with their intervals, a panel for each study, in light and dark."""
    save(partial(_intervals, studies), path)


def _intervals(studies: Mapping[str, Any], theme: Theme) -> Figure:
    heights = [len(study["variants"]) for study in studies.values()]
    figure, panels = plt.subplots(
        len(studies), figsize=(8, 0.35 * sum(heights) + 0.7 * len(studies)), height_ratios=heights, sharex=True,
        squeeze=False,
    )  # fmt: skip
    for panel, study in zip(panels[:, 0], studies.values(), strict=True):
        rows = [row["success"] for row in study["variants"].values()]
        values = np.array([100 * row["value"] for row in rows])
        errors = np.abs([[100 * row[side] for row in rows] - values for side in ("low", "high")])
        panel.errorbar(values, range(len(rows)), xerr=errors, fmt="o", ecolor=theme.pale)
        panel.set_yticks(range(len(rows)), list(study["variants"]))
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.set_title(study["title"])
        panel.grid(axis="x")
    panels[-1, 0].set_xlabel(f"success, greedy and sampled (%; {DEVICE})")
    return figure


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--studies", nargs="+", default=list(STUDIES), choices=list(STUDIES))
    parser.add_argument("--steps", type=int, default=1500, help="device steps of every training")
    parser.add_argument("--evaluations", type=int, default=1, help="evaluations of every training")
    parser.add_argument("--episodes", type=int, default=96, help="instances of an evaluation")
    parser.add_argument("--policy", default="pocket", help="the base: 'pocket' or a directory")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--out", type=Path, default=Path("runs/controls"))
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
