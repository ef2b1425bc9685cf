"""Compares a critic's Q with the measured Q of every candidate, on forks of the embedded phone.

The policy plays held-out instances and samples k candidates in every state. From a fork of that state, the same policy
then plays each distinct candidate to the end of the episode, `--repeats` times. The report has

    correlation          of the critic's Q with the measured Q, over all candidates
    cosine               between the leave-one-out advantages by the critic and by measurement; these are centred in
                         every state, so it is also the correlation of Q within states
    ordered              share of pairs in a state, measured at least 0.1 apart, that the critic orders correctly
    explained_variance   of the measured Q
    spread, spread_true  mean standard deviation of Q within a state
    contrast             share of states with two candidates measured at least 0.1 apart
    one_action           share of states in which all candidates are the same text

Controls: candidates shuffled within their states, and a critic that only knows the mean of its Q in each state, a V.

    python -m benchmarks.true_q --seeds 0 1 2 --json benchmarks/results/true_q.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  (after the number of threads is set)
import torch  # noqa: E402
from torch import Tensor  # noqa: E402
from tqdm import tqdm  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SCREEN, SETTINGS, TASKS  # noqa: E402
from coach_gym.agents.generation.transformers import TransformersGenerator  # noqa: E402
from coach_gym.agents.models.critic import Critic  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.models.tree import build_tree  # noqa: E402
from coach_gym.agents.playing.forks import State, measure_q, play_states  # noqa: E402
from coach_gym.agents.playing.player import PolicyPlayer  # noqa: E402
from coach_gym.agents.training.advantages import acloo  # noqa: E402
from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.episode import Episode  # noqa: E402

GAMMA = 0.95
APART = 0.1
FIRST_SEED = 20_000  # of the instances; the next seed takes the next ones


def main() -> None:
    """Measures for every seed, prints the table and writes the JSON."""
    options = _options()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    runs = [run(seed, options) for seed in options.seeds]
    results = summary(runs, options)
    print_table(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.true_q", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--episodes", type=int, default=64, help="per seed")
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2, help="episodes per distinct candidate")
    parser.add_argument("--policy", default="pocket", help="'pocket' or a directory")
    parser.add_argument("--critic", default="pocket", help="'pocket' or a directory")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


def run(seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Plays, measures and scores with one seed."""
    torch.manual_seed(seed)
    policy, critic = Policy.load(options.policy), Critic.load(options.critic)
    policy.max_prompt_length = SETTINGS["max_prompt_length"]
    player = PolicyPlayer(policy, TransformersGenerator(policy), 1.0, SETTINGS["max_new_tokens"])
    player.k = options.k
    env = AndroidEnv(screen_size=SCREEN, tasks=TASKS)
    first = FIRST_SEED + seed * options.episodes
    bar = tqdm(range(first, first + options.episodes), desc=f"seed {seed}: playing", unit="episode")
    played = [play_states(player, env, number) for number in bar]
    states = [state for _, along in played for state in along]
    with tqdm(desc=f"seed {seed}: measuring", unit="step") as bar:
        measured = measure_q(player, states, GAMMA, options.repeats, progress=bar.update)
    estimated = estimate(policy, critic, [episode for episode, _ in played])
    generator = torch.Generator().manual_seed(seed)
    shuffled = [q[torch.randperm(len(q), generator=generator)] for q in estimated]
    return {
        "seed": seed,
        "states": len(states),
        "critic": agreement(estimated, measured),
        "shuffled": agreement(shuffled, measured),
        "state_mean": agreement([q.mean().expand(len(q)) for q in estimated], measured),
        "states_are": describe(states, measured),
    }


@torch.no_grad()
def estimate(policy: Policy, critic: Critic, episodes: Sequence[Episode]) -> list[Tensor]:
    """Returns the critic's Q of every candidate: (k,) for every state."""
    return [q for episode in episodes for q in critic.q_values(build_tree(policy, episode))]


def agreement(estimated: Sequence[Tensor], measured: Sequence[Tensor]) -> dict[str, float]:
    """Compares Q of the same candidates, by the names in this module's docstring. Skips states with unknown Q."""
    known = [not q.isnan().any() for q in measured]
    q = torch.stack([e for e, ok in zip(estimated, known, strict=True) if ok]).double()
    truth = torch.stack([m for m, ok in zip(measured, known, strict=True) if ok]).double()
    gaps = truth[:, :, None] - truth[:, None, :]
    pairs = gaps >= APART
    ordered = ((q[:, :, None] - q[:, None, :])[pairs].sign() + 1) / 2  # a tie counts half
    a, b = acloo(q).flatten(), acloo(truth).flatten()
    residual = ((truth - q) ** 2).mean() / truth.var(correction=0)
    return {
        "correlation": _correlation(q.flatten(), truth.flatten()),
        "ordered": ordered.mean().item(),
        "cosine": float(a @ b / (a.norm() * b.norm()).clamp(min=1e-12)),
        "explained_variance": 1 - residual.item(),
        "spread": q.std(-1, correction=0).mean().item(),
        "spread_true": truth.std(-1, correction=0).mean().item(),
    }


def describe(states: Sequence[State], measured: Sequence[Tensor]) -> dict[str, float]:
    """Measures how much there is to choose in a state."""
    return {
        "contrast": float(np.mean([bool(q.max() - q.min() >= APART) for q in measured])),
        "one_action": float(np.mean([len({c.text for c in state.candidates}) == 1 for state in states])),
    }


def _correlation(a: Tensor, b: Tensor) -> float:
    if min(a.std().item(), b.std().item()) < 1e-9:
        return 0.0
    return float(np.corrcoef(a.numpy(), b.numpy())[0, 1])


def summary(runs: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    """Returns all runs, with means over seeds as the headline."""
    command = ["python", "-m", "benchmarks.true_q", *sys.argv[1:]]
    return {
        "benchmark": "true_q",
        "device": DEVICE,
        "command": shlex.join(command),
        "policy": options.policy,
        "critic": options.critic,
        "headline": {name: mean(run["critic"][name] for run in runs) for name in runs[0]["critic"]},
        "runs": runs,
    }


def print_table(results: dict[str, Any]) -> None:
    """Prints mean and spread over seeds, next to the controls."""
    runs = results["runs"]
    print(f"\n{results['critic']} critic on states of the {results['policy']} policy ({DEVICE})")
    print(f"{'':22s}{'critic':>16s}{'shuffled':>16s}{'state mean':>16s}")
    for name in runs[0]["critic"]:
        cells = [_spread(runs, kind, name) for kind in ("critic", "shuffled", "state_mean")]
        print(f"{name:22s}" + "".join(f"{cell:>16s}" for cell in cells))
    for name in runs[0]["states_are"]:
        print(f"{name:22s}{_spread(runs, 'states_are', name):>16s}")
    print(f"{sum(run['states'] for run in runs)} states; rerun: {results['command']}")


def _spread(runs: list[dict[str, Any]], kind: str, name: str) -> str:
    values = [run[kind][name] for run in runs]
    return f"{mean(values):.3f} ± {stdev(values) if len(values) > 1 else 0:.3f}"


if __name__ == "__main__":
    main()
