"""Attacks what can fail, and counts what is lost: devices that raise, stall, hang and lie.

    python -m benchmarks.reliability --seeds 0 1 2 --json reliability.json
    python -m benchmarks.reliability --parts devices --episodes 10
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import warnings
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.reliability import devices  # noqa: E402  (after the number of threads is set)

Headline = dict[str, float]


def measure_devices(options: argparse.Namespace) -> tuple[Headline, list[dict[str, Any]]]:
    """Prints the share of lost episodes by fault and rate. Returns the headline and the rows."""
    headline, rows = Headline(), []
    print("devices that   a look   episodes lost (embedded phone)   without asking again   told as verdicts   threads")
    for fault in devices.FAULTS:
        for rate in devices.RATES:
            episodes = options.episodes if fault != "hang" else -(-options.episodes // 3)  # it is waited for
            played = [devices.play(fault, rate, episodes, seed) for seed in options.seeds]
            shares = [each.share for each in played]
            lies, threads = sum(each.lies for each in played), sum(each.threads for each in played)
            expected = devices.without_asking_again(rate)
            words = f"{fault:<12}   {rate:>6.0%}   {mean(shares):>8.1%} ± {_spread(shares):<19.1%}   {expected:>20.1%}"
            print(f"{words}   {lies:>16}   {threads:>7}", flush=True)
            rows.append({"fault": fault, "rate": rate, "lost": shares, "lies": lies, "threads_left": threads})
            headline[f"lost_{fault}_{round(100 * rate)}_percent"] = mean(shares)
    headline["faults_told_as_verdicts"] = sum(row["lies"] for row in rows)
    return headline, rows


PARTS = {"devices": measure_devices}
"""What is attacked, by name. Each prints a table and returns its headline and rows."""


def main() -> None:
    """Makes the chosen attacks."""
    parser = argparse.ArgumentParser("python -m benchmarks.reliability", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--episodes", type=int, default=30, help="episodes of each seed and rate")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    logging.getLogger("coach_gym").setLevel(logging.CRITICAL)  # every failure is one of thousands
    warnings.simplefilter("ignore")
    headline: Headline = {}
    rows = {}
    for part in options.parts:
        found, rows[part] = PARTS[part](options)
        headline |= found
    words = f"--seeds {' '.join(map(str, options.seeds))} --parts {' '.join(options.parts)}"
    command = f"python -m benchmarks.reliability {words} --episodes {options.episodes}"
    print(f"rerun: {command}")
    if options.json:
        machine = f"{platform.machine()}, Python {sys.version.split()[0]}, 1 thread"
        result = {"benchmark": "reliability", "headline": headline, "rows": rows, "seeds": options.seeds}
        result |= {"command": command, "machine": machine, "device": "embedded phone"}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _spread(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


if __name__ == "__main__":
    main()
