"""Measures an agent's critic and process reward model on held-out instances, against the truth that forks tell.

The policy plays every family and draws k candidates in every state. Then

- Q is held against measured Q (as in `benchmarks.true_q`), against which candidates are good, and against the returns
  that the agent learns from;
- the verdict on every executed action is held against whether that action is good, and the verdicts on all candidates
  stand beside Q (`judge`).

An action is good if a shortest known solution of the task begins with it (`agents/pocket/solutions.py`). Controls:
Q shuffled within states, the policy's log-probability, the mean Q of the state, a judge that always says yes.

    python -m benchmarks.judges                                          # the shipped models
    python -m benchmarks.judges --agent pocket --agent runs/demo/seed_0/agent   # before and after a training
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (after the number of threads is set)
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE  # noqa: E402
from benchmarks.judging import report  # noqa: E402
from benchmarks.judging.measure import Record, Setting, add_arguments, load_agent, records, setting_of  # noqa: E402
from coach_gym.agents.models.reward_models import GenerativePRM  # noqa: E402

HEADLINE = {
    "auc": ("measured_q", "critic", "auc"),
    "auc_good": ("good", "critic", "auc"),
    "auc_judge": ("measured_q", "judge", "auc"),
    "auc_good_judge": ("good", "judge", "auc"),
    "top1_good": ("good", "critic", "top1"),
    "explained_variance": ("returns", "critic", "explained_variance"),
    "prm_accuracy": ("judge", "prm", "accuracy"),
    "prm_true_positive": ("judge", "prm", "true_positive"),
    "prm_false_positive": ("judge", "prm", "false_positive"),
}


def main() -> None:
    """Measures every agent, prints the tables and writes the JSON."""
    options = _options()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    setting = setting_of(options, solve=True)
    agents = {source: measure(source, options.seeds, setting, options.reward_model) for source in options.agent}
    command = shlex.join(["python", "-m", "benchmarks.judges", *sys.argv[1:]])
    results = {
        "benchmark": "judges", "device": DEVICE, "command": command, "seeds": options.seeds,
        "headline": headline(list(agents.values())), "agents": agents,
    }  # fmt: skip
    print(f"\nrerun: {command}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges", description=__doc__.splitlines()[0])
    parser.add_argument("--agent", action="append", help="'pocket' (default) or a saved CoachAgent; can be repeated")
    parser.add_argument("--reward-model", help="a shipped judge or a directory, in place of the agents' own")
    add_arguments(parser)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    options.agent = options.agent or ["pocket"]
    return options


def measure(source: str, seeds: list[int], setting: Setting, reward_model: str | None = None) -> dict[str, Any]:
    """Returns and prints all tables of one agent, whose process reward model may be another one."""
    agent = load_agent(source)
    if reward_model:
        agent.prm = GenerativePRM.load(reward_model)
    by_seed = {seed: records(agent, seed, setting) for seed in seeds}
    every = [record for found in by_seed.values() for record in found]
    result = tables(every, agent.prm is not None)
    print(f"\n{source} ({DEVICE}): {len(every)} states of {len({r.episode for r in every})} episodes")
    for name in ("measured_q", "good", "returns", "judge"):
        if name in result:
            report.show(TITLES[name], result[name])
    report.show_families(result["families"])
    if len(seeds) > 1:
        result["seeds"] = {seed: headline([tables(found, agent.prm is not None)]) for seed, found in by_seed.items()}
        _show_spread(result["seeds"])
    return result


TITLES = {
    "measured_q": "against measured Q",
    "good": "good against other candidates",
    "returns": "against the agent's returns",
    "judge": "verdicts on executed actions",
}


def tables(every: list[Record], judged: bool) -> dict[str, Any]:
    """Returns all comparisons of an agent's states.

    Args:
        every: The states.
        judged: Whether the agent has a process reward model.
    """
    result: dict[str, Any] = {"states": len(every), "steps_with_known_truth": sum(r.good[0] in (0, 1) for r in every)}
    if every[0].measured:
        result["measured_q"] = report.critics(every)
    result["good"], result["returns"] = report.contrasts(every), report.returns(every)
    if judged:
        result["judge"] = report.judges(every)
    return result | {"families": report.families(every)}


def headline(agents: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the main figures: of an agent alone, or of the first with `_before`, and the means of the others."""
    if len(agents) == 1:
        return _figures(agents[0])
    before, *after = map(_figures, agents)
    found = {name: [each[name] for each in after if name in each] for name in HEADLINE}
    means = {name: fmean(values) for name, values in found.items() if values}
    return means | {f"{name}_before": value for name, value in before.items()}


def _figures(result: Mapping[str, Any]) -> dict[str, float]:
    found = {
        name: result[table][row][metric]["value"]
        for name, (table, row, metric) in HEADLINE.items()
        if row in result.get(table, {})
    }  # fmt: skip
    return {name: value for name, value in found.items() if value is not None}


def _show_spread(by_seed: Mapping[int, Mapping[str, float]]) -> None:
    print("\nstandard deviation over seeds")
    for name in next(iter(by_seed.values())):
        values = [figures[name] for figures in by_seed.values() if name in figures]
        if len(values) > 1:
            print(f"  {name:28s}{stdev(values):8.2f}")


if __name__ == "__main__":
    main()
