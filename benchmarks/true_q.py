"""Compares a critic's Q with the measured Q of every candidate, on forks of the embedded phone.

The policy plays held-out instances and samples k candidates in every state. From forks of that state, the same policy
then plays each distinct candidate to the end of the episode, in two independent measurements; their mean is the truth.
`benchmarks.judging.metrics.critic_report` defines the metrics. Controls: Q shuffled within states, the policy's
log-probability in place of Q, and a critic that only knows the mean of its Q in each state, a V. The last column holds
the second measurement against the first: no critic can be expected to do better.

    python -m benchmarks.true_q --seeds 0 1 2 --json benchmarks/results/true_q.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path
from statistics import stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (after the number of threads is set)
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE  # noqa: E402
from benchmarks.judging import report  # noqa: E402
from benchmarks.judging.measure import Record, add_arguments, load_agent, records, setting_of  # noqa: E402


def main() -> None:
    """Measures for every seed, prints the table and writes the JSON."""
    options = _options()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    agent, setting, started = load_agent(options.agent), setting_of(options, solve=False), time.process_time()
    by_seed: dict[int, list[Record]] = {}
    for seed in options.seeds:
        by_seed[seed] = records(agent, seed, setting)
        results = summary(by_seed, options.agent, time.process_time() - started)
        if options.json:  # after every seed, because all of them take long
            options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    cost = results["cpu_seconds_per_state"]
    print(f"\n{options.agent} ({DEVICE}): {results['states']} states, {cost:.2f} s of CPU per state")
    report.show("against measured Q", results["rows"])
    _show_seeds(results["seeds"])
    print(f"\nrerun: {results['command']}")


def summary(by_seed: dict[int, list[Record]], agent: str, seconds: float) -> dict[str, Any]:
    """Returns the results of the seeds so far."""
    every = [record for found in by_seed.values() for record in found]
    rows = report.critics(every)
    return {
        "benchmark": "true_q",
        "device": DEVICE,
        "command": shlex.join(["python", "-m", "benchmarks.true_q", *sys.argv[1:]]),
        "agent": agent,
        "states": len(every),
        "cpu_seconds_per_state": seconds / len(every),
        "headline": _values(rows["critic"]),
        "rows": rows,
        "seeds": {seed: _values(report.critics(found)["critic"]) for seed, found in by_seed.items()},
        "families": report.families(every),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.true_q", description=__doc__.splitlines()[0])
    parser.add_argument("--agent", default="pocket", help="'pocket' or the directory of a saved CoachAgent")
    add_arguments(parser)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


def _values(row: dict[str, Any]) -> dict[str, float]:
    return {name: cell["value"] for name, cell in row.items() if cell["value"] is not None}


def _show_seeds(of_seeds: dict[int, dict[str, float]]) -> None:
    if len(of_seeds) < 2:
        return
    print("\nstandard deviation over seeds")
    for name in next(iter(of_seeds.values())):
        values = [figures[name] for figures in of_seeds.values() if name in figures]
        print(f"  {name:28s}{stdev(values) if len(values) > 1 else 0.0:8.2f}")


if __name__ == "__main__":
    main()
