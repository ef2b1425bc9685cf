"""Which task families practice can improve: success of one try, and of the best of eight, on training instances.

Reinforcement learning makes likelier what the policy sometimes does. Where all tries of an instance end alike, there is
nothing to learn from; where one of eight succeeds that mostly fail, there is. A family's headroom is that difference.
The demo and the controls play the families with the most of it.

    python -m benchmarks.controls.headroom --json benchmarks/results/headroom.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from tqdm import trange  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.controls.methods import SHARED  # noqa: E402
from benchmarks.demo import DEVICE, NUM_ENVS, SCREEN, TASKS  # noqa: E402
from coach_gym.agents import RLOOAgent  # noqa: E402
from coach_gym.agents.pocket.demonstrations import FAMILIES  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.splits import Selection  # noqa: E402
from coach_gym.episode import Episode  # noqa: E402

COMMAND = "python -m benchmarks.controls.headroom"
INSTANCES = 16  # of a roll-out
ENOUGH = 0.35


def main() -> None:
    """Plays, prints a table, and writes it."""
    options = _arguments()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    names = demonstrated()
    groups = play(names, options.tries, options.rollouts, options.seed)
    rows = {name: measure(theirs) for name, theirs in sorted(groups.items())}
    best = f"best of {options.tries}"
    print(f"{'task family (' + DEVICE + ')':40s}{'instances':>10s}{'one try':>9s}{best:>12s}{'headroom':>10s}")
    for name, row in sorted(rows.items(), key=lambda item: -item[1]["headroom"]):
        mark = "  played by the demo" if name in TASKS else ""
        print(f"{name:40s}{row['instances']:10.0f}{row['one']:9.2f}{row['best']:12.2f}{row['headroom']:10.2f}{mark}")
    command = f"{COMMAND} {shlex.join(sys.argv[1:])}".strip()
    print(f"rerun: {command}")
    if options.json:
        options.json.write_text(json.dumps(report(rows, options, command), indent=1) + "\n", encoding="utf-8")


def demonstrated() -> list[str]:
    """Returns the families that the pocket policy was shown and that have test instances of their own."""
    suite = load_suite("android_world").only(list(FAMILIES["AndroidWorld-v0"]))
    return [name for name, each in suite.families.items() if Selection("test", "instances").has(each, suite.apart)]


def play(names: list[str], tries: int, rollouts: int, seed: int) -> dict[str, list[list[Episode]]]:
    """Returns episodes of the base by family, in groups of the same training instance."""
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point", tasks=names, screen_size=SCREEN,
        split="train",
    )  # fmt: skip
    settings = SHARED | {"batch_size": tries * INSTANCES, "group_size": tries, "seed": seed}
    agent = RLOOAgent("pocket", envs, **settings)
    found: dict[str, list[list[Episode]]] = defaultdict(list)
    for _ in trange(rollouts, desc="roll-outs"):
        for group in agent.collect_rollouts() or []:
            found[group[0].task].append(group)
    envs.close()
    return found


def measure(groups: list[list[Episode]]) -> dict[str, float]:
    """Returns a family's number of instances, and the success of one try and of the best try on them."""
    success = [[float(episode.success) for episode in group] for group in groups]
    one, best = float(np.mean([np.mean(each) for each in success])), float(np.mean([max(each) for each in success]))
    return {"instances": len(groups), "one": round(one, 3), "best": round(best, 3), "headroom": round(best - one, 3)}


def report(rows: dict[str, dict[str, float]], options: argparse.Namespace, command: str) -> dict[str, Any]:
    """Returns everything as JSON."""
    played = [rows[name] for name in TASKS]
    return {
        "benchmark": "controls.headroom",
        "headline": {
            **{f"{name}_of_the_demo": float(np.mean([row[name] for row in played])) for name in ("one", "best")},
            "families_with_headroom": sum(row["headroom"] >= ENOUGH for row in rows.values()),
            "families": len(rows),
        },
        "families": rows, "tries": options.tries, "seeds": [options.seed], "device": DEVICE, "command": command,
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=8, help="episodes of an instance")
    parser.add_argument("--rollouts", type=int, default=24, help=f"roll-outs of {INSTANCES} instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
