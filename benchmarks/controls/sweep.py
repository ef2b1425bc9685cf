"""Equal tuning: the grids of all methods, of the same size, on validation; the best settings go to `chosen.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.controls.curves import bits
from benchmarks.controls.methods import CHOSEN, GRIDS
from benchmarks.controls.runs import Result, Run
from benchmarks.demo import make_envs
from coach_gym.envs.tasks.words import Split
from coach_gym.envs.tuning import require_validation

SPLIT: Split = "validation"


def sweep_runs(names: Sequence[str], seeds: Sequence[int], split: Split = SPLIT, **shared: Any) -> list[Run]:
    """Returns the runs of the sweep; methods take turns.

    Args:
        names: Methods to tune.
        seeds: Seeds of every setting.
        split: Split that decides.
        shared: Fields of `Run` that all have in common.

    Raises:
        UsageError: `split` is not validation.
        ValueError: The grids differ in size.
    """
    envs = make_envs(split)
    require_validation(envs)
    envs.close()
    sizes = {name: len(GRIDS[name]) for name in names}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"every method gets the same number of settings, but the grids have {sizes}")
    return [
        Run(name, seed, split=split, settings=GRIDS[name][number], **shared)
        for seed in seeds
        for number in range(len(GRIDS[names[0]]))
        for name in names
    ]


def score(results: Sequence[Result]) -> float:
    """Returns what settings are chosen by: success over all evaluations, greedy and sampled, so that sooner counts."""
    return float(np.mean([np.nanmean(bits(result, how)) for result in results for how in ("greedy", "sampled")]))


def choose(results: Sequence[Result], command: str) -> dict[str, Any]:
    """Returns every method's best settings and the scores of all, and writes them to `chosen.json`.

    The methods of earlier sweeps keep theirs; `seeds`, `steps` and `episodes` are those of this one.
    """
    scores: dict[str, list[dict[str, Any]]] = {}
    for name in dict.fromkeys(result["run"]["method"] for result in results):
        for settings in GRIDS[name]:
            mine = [r for r in results if r["run"]["method"] == name and r["run"]["settings"] == settings]
            scores.setdefault(name, []).append({"settings": settings, "score": round(score(mine), 4)})
    best = {name: max(tried, key=lambda each: each["score"])["settings"] for name, tried in scores.items()}
    seeds = sorted({result["run"]["seed"] for result in results})
    known = json.loads(CHOSEN.read_text("utf-8")) if CHOSEN.exists() else {"commands": [], "settings": {}, "scores": {}}
    chosen = {
        "commands": [*known["commands"], command], "split": SPLIT, "seeds": seeds, "steps": results[0]["run"]["steps"],
        "episodes": results[0]["run"]["episodes"],
        "settings": known["settings"] | best, "scores": known["scores"] | scores,
    }  # fmt: skip
    CHOSEN.write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")
    return chosen
