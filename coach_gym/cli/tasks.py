"""`coach-gym tasks`: writes a pool of training tasks to a file, without any of the tests.

coach-gym tasks --number 2000 --out pool.jsonl
coach-gym tasks --from pool.jsonl --difficulty easy --app Markor --out easy.jsonl
coach-gym train --env AndroidWorld-v0 --pool pool.jsonl --steps 20000
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from coach_gym.checks import require_whole
from coach_gym.cli.refusals import path, refusing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    from coach_gym.envs.suites.pool import BENCHMARKS, NUMBER

    parser.add_argument("--env", nargs="+", choices=tuple(BENCHMARKS), default=list(BENCHMARKS), help="environments")
    parser.add_argument("--number", type=int, default=NUMBER, help="tasks to draw (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the draws (default: %(default)s)")
    parser.add_argument("--from", dest="source", type=path, help="take the tasks of this file instead of drawing")
    parser.add_argument("--family", nargs="+", help="keep only these families")
    parser.add_argument("--app", nargs="+", help="keep only tasks that go through one of these apps")
    parser.add_argument("--difficulty", nargs="+", choices=("easy", "medium", "hard"), help="keep only these")
    parser.add_argument("--kind", choices=("operation", "query"), help="keep only these")
    parser.add_argument(
        "--official", action="store_true", help="also drop what upstream tests, from your installation of it"
    )
    parser.add_argument("--out", type=path, default=Path("pool.jsonl"), help="file to write (default: %(default)s)")
    parser.set_defaults(run=tasks)


def tasks(
    env: Sequence[str],
    number: int,
    seed: int,
    source: Path | None,
    family: Sequence[str] | None,
    app: Sequence[str] | None,
    difficulty: Sequence[str] | None,
    kind: str | None,
    official: bool,
    out: Path,
) -> None:
    """Writes a pool; the options are those of the command line."""
    from coach_gym.envs.suites.load import load_suite
    from coach_gym.envs.suites.pool import BENCHMARKS, benchmark_instances, make_pool, overlap, read_pool, write_pool

    with refusing():
        require_whole(1, number=number)
        known = [each for benchmark in env for each in load_suite(BENCHMARKS[benchmark]).families.values()]
        _require_named("family", family, {each.name for each in known})
        _require_named("app", app, {name for each in known for name in each.apps})
        out.parent.mkdir(parents=True, exist_ok=True)
        kinds = [(each, upstream) for each in env for upstream in sorted({False, official})]
        tested = [task for each, upstream in kinds for task in benchmark_instances(each, official=upstream)]
        pool = make_pool(env, number, seed, tested) if source is None else read_pool(source)
    dropped = overlap(pool, tested)
    kept = [task for task in pool if task not in dropped]
    wanted = [
        task for task in kept
        if task.env in env and (family is None or task.task in family) and (app is None or set(app) & set(task.apps))
        and (difficulty is None or task.difficulty in difficulty) and kind in (None, task.kind)
    ]  # fmt: skip
    if not wanted:
        sys.exit(f"none of the {len(kept)} tasks is left by the options; pass others, or a larger --number")
    write_pool(out, wanted)
    print(f"{len(wanted)} tasks of {len({task.task for task in wanted})} families in {out}")
    for counted in (Counter(task.env for task in wanted), Counter(task.difficulty for task in wanted)):
        print(", ".join(f"{count} {name}" for name, count in sorted(counted.items())))
    print(f"{len(dropped)} dropped, because they are among the {len(tested)} tasks of the tests")
    print(f"{len(kept) - len(wanted)} left out by the options")


def _require_named(kind: str, names: Sequence[str] | None, known: Collection[str]) -> None:
    for name in names or ():
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(sorted(known))}"
            raise ValueError(f"there is no {kind} {name!r}; {remedy}")
