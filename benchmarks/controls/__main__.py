"""Every method and control from one base: success, greedy and sampled, over device steps and time.

All learn the same tasks and are evaluated on the same instances at the same numbers of device steps. Time is computed
afterwards from counted work, for devices that take 0.1, 1 and 10 times the paper's share (`work.py`). `--sweep` tries
as many settings for every method and chooses on validation.

    python -m benchmarks.controls --sweep --seeds 0                  # chooses settings on validation
    python -m benchmarks.controls --seeds 0 1 2 3 4 --json benchmarks/results/controls.json
    python -m benchmarks.controls --methods base cloning coach --steps 5000 --store 400 --curriculum 2
    python -m benchmarks.controls --methods base cloning coach --shuffle-rewards

Settings that the sweep did not choose, such as `--store 400`, are measured on validation; `--split test` is for
reporting them once they are chosen. Every run is stored in `--out` and not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any, get_args

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (after the number of threads is set)

from benchmarks.controls.methods import CHOSEN, COACH, GRIDS, METHODS, SHARED, chosen, with_judge, with_store  # noqa: E402
from benchmarks.controls.report import compare, plot, print_tables  # noqa: E402
from benchmarks.controls.runs import Result, Run, play  # noqa: E402
from benchmarks.controls.sweep import SPLIT, choose, sweep_runs  # noqa: E402
from benchmarks.demo import DEVICE, SUITE  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402

COMMAND = "python -m benchmarks.controls"
OF_ALL = ("curriculum", "temperature", "mini_batch_size")
"""Options that are settings of all trainings."""
UNTRIED = ("store", "max_replayed", "judge", *OF_ALL)
"""Options whose settings no sweep has chosen."""


def main() -> None:
    """Runs the comparison, or the sweep."""
    options = _arguments()
    torch.set_num_threads(1)
    command = f"{COMMAND} {shlex.join(sys.argv[1:])}"
    shared = {name: getattr(options, name) for name in ("steps", "evaluations", "episodes", "policy")}
    if options.sweep:
        names = [name for name in options.methods if name in GRIDS]
        tried = sweep_runs(names, options.seeds, options.split or SPLIT, **shared)
        results = choose(play(tried, options.out, options.jobs), command)
        print(json.dumps(results["settings"], indent=1))
        print(f"rerun: {command}")
        return
    settings = chosen()
    settings = {name: with_store(each, options.store, options.max_replayed) for name, each in settings.items()}
    if options.judge:
        settings = with_judge(settings, options.judge)
    untried = any(getattr(options, name) is not None for name in UNTRIED)
    split = options.split or (SPLIT if untried else "test")
    of_all = {name: getattr(options, name) for name in OF_ALL if getattr(options, name) is not None}
    settings = {name: each | of_all for name, each in settings.items()}
    runs = [
        Run(
            name, seed, split=split, settings=settings.get(name, {}),
            shuffled=options.shuffle_rewards and METHODS[name].learns, **shared,
        )
        for seed in options.seeds
        for name in options.methods
    ]  # fmt: skip
    results = report(play(runs, options.out, options.jobs), options, command)
    print_tables(results)
    print(f"rerun: {command}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def report(runs: list[Result], options: argparse.Namespace, command: str) -> dict[str, Any]:
    """Returns everything as JSON, and draws the figure."""
    plot(runs, options.out / "controls.png")
    return {
        "benchmark": "controls", **compare(runs, options.ours), "command": command, "device": DEVICE,
        "suite": f"AndroidWorld, {SUITE} task families ({DEVICE})", "shuffled_rewards": options.shuffle_rewards,
        "settings_from": CHOSEN.name if CHOSEN.exists() else "the first of each grid",
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "runs": runs,
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--ours", default=COACH, choices=list(METHODS), help="the method to compare the others with")
    parser.add_argument("--steps", type=int, default=2500, help="device steps of every training, without forks")
    parser.add_argument("--evaluations", type=int, default=5, help="evaluations of every training, after the base's")
    parser.add_argument("--episodes", type=int, default=96, help="instances of an evaluation")
    parser.add_argument("--policy", default="pocket", help="the base: 'pocket' or a directory")
    parser.add_argument("--sweep", action="store_true", help="choose settings on validation")
    parser.add_argument(
        "--split", choices=get_args(Split),
        help="split of the evaluation: test by default, and validation for --sweep and settings that it did not choose",
    )
    parser.add_argument(
        "--store", type=int, help="earlier successes in every update of those that imitate any, instead of the chosen"
    )
    parser.add_argument(
        "--max-replayed", type=int, help="how many of these an iteration imitates, drawn anew each time; all by default"
    )
    parser.add_argument(
        "--mini-batch-size", type=int, help=f"of all trainings, {SHARED['mini_batch_size']} by default"
    )
    parser.add_argument(
        "--curriculum", type=float, help="practise more what is solved less, in all trainings: the argument of agents"
    )
    parser.add_argument("--judge", help="a judge that chooses in place of pocket-judge: its name or directory")
    parser.add_argument("--temperature", type=float, help="of all policies that learn: the argument of agents")
    parser.add_argument("--shuffle-rewards", action="store_true", help="learn from the outcomes of other episodes")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--out", type=Path, default=Path("runs/controls"))
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    if options.store is not None and (options.sweep or options.store < 1):
        parser.error(f"--store {options.store}: pass 1 or more, and not with --sweep, whose grids name the successes")
    if options.max_replayed is not None and (options.sweep or options.max_replayed < 1):
        parser.error(f"--max-replayed {options.max_replayed}: pass 1 or more, and not with --sweep")
    for name in OF_ALL:
        if getattr(options, name) is not None and options.sweep:
            parser.error(f"--{name.replace('_', '-')} changes all trainings of a comparison, and none of --sweep")
    if not options.sweep and not {"base", options.ours} <= {*options.methods}:
        parser.error(f"--methods needs base, where every curve starts, and {options.ours}, which --ours compares")
    return options


if __name__ == "__main__":
    main()
