"""Measures what it costs a training to keep episodes: the same training with and without, by turns in one process.

Both play and learn the same, bit for bit: `collection="rounds"` and one seed. Each is evaluated at its beginning and
its end, and evaluations keep all episodes. Times are processor times. `share` is that of writing episodes and of
drawing the two strips of every evaluation over that of the whole training; `added`, from the difference of the two
trainings, contains what these cost elsewhere, and the noise of the machine.

    python -m benchmarks.watching.recording --seeds 0 1 2 --steps 128 --json recording.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
from coach_gym.agents import CoachAgent, EvalCallback  # noqa: E402
from coach_gym.agents.training import evaluations  # noqa: E402
from coach_gym.recording.store import EpisodeStore, read_index  # noqa: E402

ENV: dict[str, Any] = {"screen_size": (270, 600), "max_steps": 8}
ENVS, EVALUATED = 8, 8


def train(seed: int, steps: int, keep: float, policy: str = "pocket") -> dict[str, float]:
    """Trains a new agent.

    Args:
        seed: Seed of the training.
        steps: Environment steps.
        keep: Share of the training's episodes to keep; with 0 those of evaluations are not kept either.
        policy: As `CoachAgent` takes it.

    Returns:
        `core`, processor seconds of `learn`; `keeping`, those in which episodes were written or strips drawn; `kept`
        episodes; `played`, the steps of training.
    """
    envs, judges = (gym.make_vec("AndroidWorld-v0", num_envs=ENVS, **ENV) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder, clocked(write=keep > 0) as spent:
        agent = CoachAgent(
            policy, envs, batch_size=ENVS, mini_batch_size=ENVS, collection="rounds", keep_episodes=keep, seed=seed,
            tensorboard_log=folder,
        )  # fmt: skip
        evaluation = EvalCallback(judges, n_eval_episodes=EVALUATED, eval_steps=steps, verbose=0)
        begun = time.process_time()
        agent.learn(steps, evaluation)
        core = time.process_time() - begun
        kept = sum(len(read_index(path.parent)) for path in Path(folder).rglob("index.jsonl"))
    for each in (envs, judges):
        each.close()
    return {"core": core, "keeping": sum(spent), "kept": kept, "played": agent.num_timesteps}


@contextmanager
def clocked(write: bool) -> Iterator[list[float]]:
    """Yields the processor seconds of writing each episode, which is left out unless asked for, and of all strips."""
    spent: list[float] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            begun = time.thread_time()
            try:
                return function(*arguments)
            finally:
                spent.append(time.thread_time() - begun)

        return call

    writes = timed(EpisodeStore.write) if write else lambda *arguments: ""
    strips = timed(evaluations.evaluation_strips)
    with mock.patch.object(EpisodeStore, "write", writes), mock.patch.object(evaluations, "evaluation_strips", strips):
        yield spent


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.watching.recording", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds, a pair of trainings each")
    parser.add_argument("--steps", type=int, default=128, help="environment steps of a training (default: %(default)s)")
    parser.add_argument("--keep", type=float, default=0.25, help="share of training's episodes (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    command = (
        f"python -m benchmarks.watching.recording --seeds {' '.join(map(str, options.seeds))} "
        f"--steps {options.steps} --keep {options.keep:g}"
    )
    train(options.seeds[0], 1, 0.0)  # warm
    pairs = []
    print(f"{'seed':>6}{'without s':>12}{'with s':>10}{'kept':>8}{'share':>9}{'added':>9}")
    for place, seed in enumerate(options.seeds):
        keeps = [0.0, options.keep]
        runs = {keep: train(seed, options.steps, keep) for keep in (keeps if place % 2 == 0 else keeps[::-1])}
        without, kept = runs[0.0], runs[options.keep]
        if without["played"] != kept["played"]:
            raise RuntimeError(f"the two trainings took {without['played']} and {kept['played']} steps, not the same")
        pair = {"share": kept["keeping"] / kept["core"], "added": kept["core"] / without["core"] - 1}
        pairs.append({**pair, "seed": seed, "without": without, "with": kept})
        print(
            f"{seed:6}{without['core']:12.2f}{kept['core']:10.2f}{kept['kept']:8.0f}{pair['share']:9.2%}"
            f"{pair['added']:9.2%}", flush=True,
        )  # fmt: skip
    headline = {name: mean(float(pair[name]) for pair in pairs) for name in ("share", "added")}
    spread = {name: stdev(float(pair[name]) for pair in pairs) if len(pairs) > 1 else 0.0 for name in headline}
    print("mean", *(f"{name} {headline[name]:.2%} ± {spread[name]:.2%}" for name in headline))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\nrerun: {command}")
    if options.json:
        result = {
            "headline": headline, "spread": spread, "pairs": pairs, "command": command, "load": os.getloadavg(),
            "cores": os.cpu_count(), "python": sys.version, "machine": platform.platform(),
        }  # fmt: skip
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
