"""What rehearsal keeps and what it costs: the demo's training without and with it.

The demo practises eight families and unlearns the others. With rehearsal, the base first plays training instances of
these, and some of what it solves is imitated in every iteration (docs/concepts/exploration.md). The base and all agents
play the same test instances: of the eight families, of these with unseen words, and of all other families of training.
A training that has been measured is not repeated when the command is.

    python -m benchmarks.controls.rehearsal --seeds 0 1 2 --json rehearsal.json
    python -m benchmarks.controls.rehearsal --seeds 0 1 2 --rehearsed 24     # without the control
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402

from benchmarks.demo import (  # noqa: E402
    DEVICE,
    NUM_ENVS,
    SCREEN,
    SETTINGS,
    SUITE,
    TASKS,
    figures,
    make_envs,
    quiet,
    train,
)
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.agents.evaluation import evaluate  # noqa: E402
from coach_gym.agents.generation.transformers import TransformersGenerator  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.data import rollouts  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.splits import Selection  # noqa: E402

COMMAND = "python -m benchmarks.controls.rehearsal"
WHOLE = load_suite("android_world")
OTHERS = tuple(
    name for name, family in WHOLE.families.items()
    if name not in TASKS and Selection("test", "instances").has(family, WHOLE.apart)
)  # fmt: skip
"""All families of training that the demo does not practise."""
PLAYED, SEED = 2, 70_000  # episodes that the base plays of each of these, and the first one's seed
HOW = {"greedy": True, "sampled": False}
KINDS = {"practised": "the eight that are practised", "unseen_words": "unseen words in these", "others": "all others"}


def main() -> None:
    """Trains and measures what is not there yet, prints the table and writes the JSON."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as processes:
        base = processes.submit(measure, "pocket", 0, options.episodes)
        processes.submit(rehearse, options.out / "episodes").result()
        cases = [(seed, rehearsed) for seed in options.seeds for rehearsed in options.rehearsed]
        trainings = [processes.submit(run, seed, rehearsed, options) for seed, rehearsed in cases]
        runs = [training.result() for training in trainings]
        results = summary(base.result(), runs, f"{COMMAND} {shlex.join(sys.argv[1:])}")
    print_table(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def rehearse(folder: Path) -> None:
    """Lets the base play training instances of the families that are not practised."""
    quiet()
    policy = Policy.load("pocket")
    policy.max_prompt_length = SETTINGS["max_prompt_length"]
    settings = {"suite": SUITE, "tasks": list(OTHERS), "screen_size": list(SCREEN), "split": "train"}
    rollouts.record(
        folder, policy, TransformersGenerator(policy), "coach_gym:AndroidWorld-v0",
        episodes=PLAYED * len(OTHERS), num_envs=NUM_ENVS, seed=SEED,
        max_new_tokens=SETTINGS["max_new_tokens"], env_settings=settings, policy_name="pocket",
        progress_bar=True,
    )  # fmt: skip


def run(seed: int, rehearsed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Trains as the demo does, with so many successes rehearsed in an iteration, and measures the best checkpoint."""
    out = options.out / f"rehearsed_{rehearsed}"
    report = out / f"seed_{seed}_steps_{options.steps}_episodes_{options.episodes}.json"
    if report.exists():
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return found
    more = {"rehearsal": options.out / "episodes", "max_rehearsed": rehearsed} if rehearsed else {}
    arguments = argparse.Namespace(out=str(out), steps=options.steps, minutes=np.inf)
    path, curve, seconds, steps = train(seed, False, arguments, **more)
    found = {
        "seed": seed, "rehearsed": rehearsed, "env_steps": steps, "training_seconds": round(seconds, 1), "curve": curve,
        "test": measure(path, seed, options.episodes),
    }  # fmt: skip
    report.write_text(json.dumps(found), encoding="utf-8")
    return found


def measure(source: str | Path, seed: int, episodes: int) -> dict[str, dict[str, Any]]:
    """Measures a saved agent, or the shipped policy, on test instances of every kind, greedily and sampled."""
    quiet()
    envs = {"practised": make_envs("test"), "unseen_words": make_envs("test", "words"), "others": _others()}
    if source == "pocket":
        agent = CoachAgent("pocket", envs["practised"], seed=seed, **SETTINGS)
    else:
        agent = CoachAgent.load(source, env=envs["practised"])
    found = {
        kind: {how: figures(evaluate(agent, each, number, greedy)) for how, greedy in HOW.items()}
        for (kind, each), number in zip(envs.items(), (episodes, episodes // 2, episodes), strict=True)
    }
    for each in envs.values():
        each.close()
    return found


def _others() -> gym.vector.VectorEnv:
    return gym.make_vec(
        "AndroidWorld-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point",
        suite=SUITE, tasks=OTHERS, screen_size=SCREEN, split="test",
    )  # fmt: skip


def summary(base: dict[str, Any], runs: list[dict[str, Any]], command: str) -> dict[str, Any]:
    """Returns all runs, and the mean over seeds by the number of successes that are rehearsed in an iteration."""
    arms = {"base": [base]} | {f"rehearsed_{run['rehearsed']}": [] for run in runs}
    for run in runs:
        arms[f"rehearsed_{run['rehearsed']}"].append(run["test"])
    return {
        "benchmark": "rehearsal",
        "device": DEVICE,
        "suite": f"AndroidWorld, {SUITE} task families ({DEVICE}); not an AndroidWorld score",
        "split": "test, unseen instances; trained on train, checkpoints chosen on validation",
        "command": command,
        "headline": {
            f"{kind}_{how}_{arm}": float(np.mean([test[kind][how]["success_rate"] for test in tests]))
            for arm, tests in arms.items() for kind in KINDS for how in HOW
        },
        "base": base,
        "runs": runs,
    }


def print_table(results: dict[str, Any]) -> None:
    """Prints success, greedy and sampled, of the base and in the mean over seeds."""
    columns = "".join(f"{kind:>32s}" for kind in KINDS.values())
    print(f"{f'success on test, greedy and sampled ({DEVICE})':50s}{columns}")
    head = results["headline"]
    for arm in ("base", *dict.fromkeys(f"rehearsed_{run['rehearsed']}" for run in results["runs"])):
        both = [[head[f"{kind}_{how}_{arm}"] for how in HOW] for kind in KINDS]
        print(f"{arm:50s}" + "".join(f"{greedy:>22.1%} and {sampled:.1%}" for greedy, sampled in both))
    print(f"rerun: {results['command']}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--rehearsed", type=int, nargs="+", default=[0, 24], help="successes in an iteration")
    parser.add_argument("--steps", type=int, default=3600, help="environment steps of a training")
    parser.add_argument("--episodes", type=int, default=140, help="test instances; half as many with words")
    parser.add_argument("--processes", type=int, default=2, help="trainings at a time, one core each")
    parser.add_argument("--out", type=Path, default=Path("runs/rehearsal"))
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
