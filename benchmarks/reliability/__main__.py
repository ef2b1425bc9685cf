"""Attacks what can fail, and counts what is lost: devices that raise, stall, hang and lie, emulators that die.

    python -m benchmarks.reliability --seeds 0 1 2 --json reliability.json
    python -m benchmarks.reliability --parts devices --episodes 10
    python -m benchmarks.reliability --parts fleet --hours 1 --speed 60
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.reliability import devices, fleets  # noqa: E402  (after the number of threads is set)

Headline = dict[str, float]


def measure_devices(options: argparse.Namespace) -> tuple[Headline, list[dict[str, Any]]]:
    """Prints the share of lost episodes by fault and rate. Returns the headline and the rows."""
    headline, rows = Headline(), []
    print("devices that   a look   episodes lost (embedded phone)   without asking again   told as verdicts   threads")
    for fault in devices.FAULTS:
        for rate in devices.RATES:
            played = [devices.play(fault, rate, options.episodes, seed) for seed in options.seeds]
            shares = [each.share for each in played]
            lies, threads = sum(each.lies for each in played), sum(each.threads for each in played)
            expected = devices.without_asking_again(rate)
            words = f"{fault:<12}   {rate:>6.0%}   {mean(shares):>8.1%} ± {_spread(shares):<19.1%}   {expected:>20.1%}"
            print(f"{words}   {lies:>16}   {threads:>7}", flush=True)
            rows.append({"fault": fault, "rate": rate, "lost": shares, "lies": lies, "threads_left": threads})
            headline[f"lost_{fault}_{round(100 * rate)}_percent"] = mean(shares)
    headline["faults_told_as_verdicts"] = sum(row["lies"] for row in rows)
    return headline, rows


def measure_fleet(options: argparse.Namespace) -> tuple[Headline, list[dict[str, Any]]]:
    """Prints what becomes of an hour of a fleet whose emulators die. Returns the headline and the rows."""
    print(f"{options.hours:g} h of a fleet at {options.speed:g} times the speed of time (embedded phone)")
    print("seed   episodes   lost   without a death   told as verdicts   deaths   failed starts   not back   threads")
    lived = [fleets.live(options.hours, options.speed, seed) for seed in options.seeds]
    for seed, each in zip(options.seeds, lived, strict=True):
        words = f"{seed:>4}   {each.episodes:>8}   {each.lost:>4}   {each.unexplained:>15}   {each.verdicts:>16}"
        words += f"   {each.deaths:>6}   {each.failed_starts:>13}   {each.missing:>8}   {each.threads:>7}"
        print(words, flush=True)
    headline = {
        "fleet_lost": sum(each.lost for each in lived) / sum(each.episodes for each in lived),
        "fleet_lost_without_a_death": sum(each.unexplained for each in lived),
        "fleet_not_back": sum(each.missing for each in lived),
    }
    return headline, [{"seed": seed} | asdict(each) for seed, each in zip(options.seeds, lived, strict=True)]


PARTS = {"devices": measure_devices, "fleet": measure_fleet}
"""What is attacked, by name. Each prints a table and returns its headline and rows."""


def main() -> None:
    """Makes the chosen attacks."""
    parser = argparse.ArgumentParser("python -m benchmarks.reliability", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--episodes", type=int, default=30, help="episodes of each seed and rate")
    parser.add_argument("--hours", type=float, default=1.0, help="hours of the fleet's time")
    parser.add_argument("--speed", type=float, default=60.0, help="how much faster the fleet's time goes")
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
    command += f" --hours {options.hours:g} --speed {options.speed:g}"
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
