"""What the README's first program does: it trains on three task families for some minutes on one core.

For every seed it runs that program, with nothing set but the seed, and beside it the simplest methods that could
explain the gain: the same agent with a critic that says 0 of everything, so that it only imitates its own successes,
and filtered cloning. The base and all agents are measured on the same test instances, greedy and sampled. What is
learned is bounded in environment steps; the time is this machine's.

    python -m benchmarks.first_run --seeds 0 1 2 --json benchmarks/results/first_run.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from gymnasium.vector import VectorEnv  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.controls.methods import FROZEN, chosen  # noqa: E402
from coach_gym.agents import CoachAgent, Critic, FilteredCloningAgent, evaluate  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.training.online import OnlineAgent  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402

COMMAND = "python -m benchmarks.first_run"
DEVICE = "embedded phone"
TASKS = ("ContactsDeleteContact", "TasksCompleteTask", "TurnOnWifiAndOpenApp")
NUM_ENVS, SCREEN, STEPS = 8, (270, 600), 1500
HOW = {"greedy": True, "sampled": False}


def imitating_agent(policy: str, envs: VectorEnv, seed: int) -> CoachAgent:
    """Returns the program's agent, but for a critic that says 0 of everything and learns nothing."""
    critic = Critic.from_policy(Policy.load(policy))
    return CoachAgent(policy, envs, seed=seed, critic=critic, reward_model=None, **FROZEN)


METHODS: dict[str, Callable[..., OnlineAgent]] = {
    "coach": CoachAgent,
    "imitates": imitating_agent,
    "cloning": partial(FilteredCloningAgent, **chosen()["cloning"]),
}


def main() -> None:
    """Trains with every seed, prints a table, and writes it."""
    options = _arguments()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    runs = [run(method, seed, options.steps, options.episodes) for seed in options.seeds for method in METHODS]
    command = f"{COMMAND} {shlex.join(sys.argv[1:])}".strip()
    result = report(runs, command)
    print_table(runs, result["headline"])
    print(f"rerun: {command}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def run(method: str, seed: int, steps: int, episodes: int) -> dict[str, Any]:
    """Trains with a seed, and measures before and after."""
    envs, test = make_envs("train"), make_envs("test")
    agent = METHODS[method]("pocket", envs, seed=seed)
    before = measure(agent, test, seed, episodes)
    started, worked = time.perf_counter(), time.process_time()
    agent.learn(steps, progress_bar=True)
    seconds, core_seconds = time.perf_counter() - started, time.process_time() - worked
    after = measure(agent, test, seed, episodes)
    envs.close()
    test.close()
    return {
        "method": method, "seed": seed, "steps": agent.num_timesteps, "seconds": round(seconds, 1),
        "core_seconds": round(core_seconds, 1), "before": before, "after": after,
    }  # fmt: skip


def make_envs(split: Split) -> VectorEnv:
    """Makes the program's environments, with instances of one split."""
    return gym.make_vec(
        "AndroidWorld-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point", screen_size=SCREEN, tasks=TASKS,
        split=split,
    )  # fmt: skip


def measure(agent: OnlineAgent, test: VectorEnv, seed: int, episodes: int) -> dict[str, float]:
    """Returns the success rates; the same instances and random numbers before and after."""
    found = {}
    for name, deterministic in HOW.items():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            found[name] = evaluate(agent, test, episodes, deterministic=deterministic).success_rate
    return found


def report(runs: list[dict[str, Any]], command: str) -> dict[str, Any]:
    """Returns everything as JSON."""
    of = {method: [run for run in runs if run["method"] == method] for method in METHODS}
    headline = {f"{how}_before": _mean(runs, "before", how) for how in HOW}
    for method, theirs in of.items():
        suffix = "" if method == "coach" else f"_{method}"
        headline |= {f"{how}_after{suffix}": _mean(theirs, "after", how) for how in HOW}
        headline[f"core_seconds{suffix}"] = float(np.mean([run["core_seconds"] for run in theirs]))
    return {
        "benchmark": "first_run", "headline": headline, "runs": runs, "tasks": TASKS, "device": DEVICE,
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "seeds": sorted({run["seed"] for run in runs}), "command": command,
    }  # fmt: skip


def print_table(runs: list[dict[str, Any]], headline: dict[str, float]) -> None:
    """Prints the mean over seeds, and the seeds' range."""
    print(f"{'test instances (' + DEVICE + ')':36s}{'before':>10s}{'after':>10s}{'seeds':>20s}")
    for method in METHODS:
        theirs = [run for run in runs if run["method"] == method]
        for how in HOW:
            after = [run["after"][how] for run in theirs]
            print(
                f"{method + ', ' + how:36s}{headline[f'{how}_before']:10.1%}{np.mean(after):10.1%}"
                f"{f'{min(after):.1%} to {max(after):.1%}':>20s}"
            )
        print(f"{method}: {np.mean([run['core_seconds'] for run in theirs]):.0f} s of one core for a training")


def _mean(runs: list[dict[str, Any]], when: str, how: str) -> float:
    return float(np.mean([run[when][how] for run in runs]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=STEPS, help="environment steps of a training")
    parser.add_argument("--episodes", type=int, default=90, help="test instances of an evaluation")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
