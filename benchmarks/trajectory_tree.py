"""What the trajectory tree saves: one pass over trunk and branches against one sequence for every sample.

An episode of T steps on the embedded phone, k candidates in every state, the full history in the prompt. Three ways
to compute the same gradients, with the same model in the same run:

    separate   one sequence for every candidate of every step (what published code does)
    state      one tree for every state: candidates share their prompt, states share nothing (prefix grouping)
    tree       one tree for the episode

for the policy's clipped loss and for the critic's fit, which needs the executed responses only. Gradients are held
equal. Every measurement has a process of its own, so that peak memory means something.

    python -m benchmarks.trajectory_tree --seeds 0 1 2 --json tree.json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import Tensor  # noqa: E402
from tqdm import tqdm  # noqa: E402

import coach_gym  # noqa: E402, F401  (registers the environments)
from coach_gym.agents.critic import Critic  # noqa: E402
from coach_gym.agents.losses import clipped_value_loss, ppo_clip  # noqa: E402
from coach_gym.agents.policy import Policy  # noqa: E402
from coach_gym.agents.rollout import observation_of  # noqa: E402
from coach_gym.agents.tree import Candidates, Tree, build_tree, log_probs, sequence_log_probs  # noqa: E402
from coach_gym.episode import Candidate, Episode, Step  # noqa: E402

STEPS, CANDIDATES = (4, 8, 12, 16), (1, 2, 4, 8)
RESPONSE = 20  # tokens
WAYS = ("separate", "state", "tree")
POLICY_HEADLINE, CRITIC_HEADLINE = (12, 4), 16  # T and k of the numbers that we are built for
Losses = Iterator[Tensor]


def record(policy: Policy, steps: int, k: int, seed: int) -> Episode:
    """Screens of a walk through the phone's apps; responses of random tokens, for their length is what costs."""
    env = gym.make("AndroidWorld-v0", screen_size=(270, 600), max_steps=steps + 1)
    generator = torch.Generator().manual_seed(seed)
    observation, _ = env.reset(seed=seed)
    episode = Episode(str(observation["goal"]), outcome=1.0)
    apps = ("Contacts", "Clock", "Settings", "Markor", "Files")
    for number in range(steps):
        drawn = torch.randint(300, 2000, (k, RESPONSE - 1), generator=generator).tolist()
        candidates = [Candidate("", [*ids, policy.eos], [-7.0] * RESPONSE) for ids in drawn]
        episode.steps.append(Step(observation_of(observation), candidates, 0, "wait()"))
        observation, *_ = env.step(f"open_app(app_name='{apps[number % len(apps)]}')")
    return episode


def policy_losses(way: str, policy: Policy, episode: Episode) -> Losses:
    """PPO's loss over all candidates with made-up advantages, in parts of one forward pass each."""
    advantages = torch.linspace(-1, 1, sum(len(step.candidates) for step in episode.steps))
    scored: Iterator[list[Tensor]]
    if way == "separate":
        scored = ([sequence_log_probs(policy, *sample)] for sample in _samples(policy, episode))
    else:
        scored = (sum(log_probs(policy, tree), []) for tree in _trees(way, policy, episode, "all"))
    first = 0
    for responses in scored:
        lengths = torch.tensor([len(response) for response in responses])
        mine = advantages[first : first + len(responses)].repeat_interleave(lengths)
        first += len(responses)
        new = torch.cat(responses)
        yield ppo_clip(new, torch.full_like(new, -7.0), mine, 0.2).sum()


def _samples(policy: Policy, episode: Episode) -> Iterator[tuple[Any, Candidate]]:
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        yield from ((prompt, candidate) for candidate in step.candidates)


def _trees(way: str, policy: Policy, episode: Episode, candidates: Candidates) -> Iterator[Tree]:
    """The episode's tree; or for every state a tree that has responses of that state only."""
    if way == "tree":
        yield build_tree(policy, episode, candidates)
        return
    past = [replace(step, candidates=step.candidates[:1]) for step in episode.steps]
    for t, step in enumerate(episode.steps):
        (trunk,) = build_tree(policy, replace(episode, steps=[*past[:t], step]), candidates).trunks
        yield Tree([replace(trunk, spans=trunk.spans[-1:])])


def critic_losses(way: str, policy: Policy, critic: Critic, episode: Episode) -> Losses:
    """Clipped squared error of Q(s, a) of the executed actions against made-up returns, in parts of one pass each."""
    returns = list(torch.linspace(0, 1, episode.length))
    for tree in _trees(way, policy, episode, "executed"):
        q = torch.cat(critic.q_values(tree))
        target, returns = torch.stack(returns[: len(q)]), returns[len(q) :]
        yield clipped_value_loss(q, torch.zeros_like(q), target, 0.5).sum()


def measure(update: str, way: str, steps: int, k: int, seed: int) -> dict[str, Any]:
    """Forward and backward passes of one update, twice.

    Returns:
        `seconds` of the faster one (processor time), `megabytes` that the peak of memory rose by, `tokens` in all
        passes, and the `gradient`, flat.
    """
    torch.set_num_threads(1)
    policy = Policy.load("pocket", dtype=torch.float32)
    policy.max_prompt_length = 1 << 20
    critic = Critic.load("pocket")
    episode = record(policy, steps, k, seed)
    model: torch.nn.Module = policy.model if update == "policy" else critic
    seconds, before = [], _peak()
    for _ in range(2):
        model.zero_grad(set_to_none=True)
        started = time.process_time()
        parts = policy_losses(way, policy, episode) if update == "policy" else (
            critic_losses(way, policy, critic, episode))  # fmt: skip
        for part in parts:
            part.backward()
        seconds.append(time.process_time() - started)
    flat = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    tokens = count_tokens(update, way, policy, episode)
    return {"seconds": min(seconds), "megabytes": _peak() - before, "tokens": tokens, "gradient": flat.numpy()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux


def count_tokens(update: str, way: str, policy: Policy, episode: Episode) -> int:
    """Tokens that go through the model in one update."""
    if update == "policy" and way == "separate":
        return sum(len(prompt) + len(candidate.token_ids) for prompt, candidate in _samples(policy, episode))
    trees = _trees(way, policy, episode, "all" if update == "policy" else "executed")
    return sum(trunk.input_ids.shape[1] for tree in trees for trunk in tree.trunks)


def sweep(steps: list[int], candidates: list[int], seeds: list[int]) -> list[dict[str, Any]]:
    """All cells of the table, one process a measurement; gradients are compared on the way."""
    cells = [("policy", t, k) for t in steps for k in candidates] + [("critic", t, 1) for t in steps]
    rows = []
    for update, t, k in tqdm(cells, desc="trajectory tree", unit="cell"):
        for seed in seeds:
            # for the critic a sequence for every state and one for every executed action are the same thing
            ways = WAYS if update == "policy" else ("state", "tree")
            found = {way: _in_process(update, way, t, k, seed) for way in ways}
            reference = found[ways[0]].pop("gradient")
            for way in ways[1:]:
                difference = np.linalg.norm(found[way].pop("gradient") - reference) / np.linalg.norm(reference)
                found[way]["gradient_error"] = float(difference)
            rows.append({"update": update, "T": t, "k": k, "seed": seed, **found})
    return rows


def _in_process(*arguments: Any) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_send, args=(theirs, *arguments))
    process.start()
    theirs.close()  # so that a process that dies is an EOFError here, and no endless wait
    found = ours.recv()
    process.join()
    return found


def _send(pipe: Any, *arguments: Any) -> None:
    pipe.send(measure(*arguments))


def speedups(rows: list[dict[str, Any]], update: str, steps: int, k: int) -> list[float]:
    """Time of separate sequences over time of the tree, one for each seed."""
    slow = "separate" if update == "policy" else "state"
    cell = [row for row in rows if (row["update"], row["T"], row["k"]) == (update, steps, k)]
    return [row[slow]["seconds"] / row["tree"]["seconds"] for row in cell]


def print_table(rows: list[dict[str, Any]]) -> None:
    """One line a cell, means over seeds."""
    print(f"\n{'update':8}{'T':>4}{'k':>4}{'separate s':>12}{'per state s':>13}{'tree s':>9}{'faster':>14}"
          f"{'tokens':>9}{'memory':>9}{'gradients':>11}")  # fmt: skip
    for update, t, k in dict.fromkeys((row["update"], row["T"], row["k"]) for row in rows):
        cell = [row for row in rows if (row["update"], row["T"], row["k"]) == (update, t, k)]
        slow = "separate" if update == "policy" else "state"
        ratio = {key: mean(r[slow][key] / max(r["tree"][key], 1e-9) for r in cell) for key in ("tokens", "megabytes")}
        faster = speedups(rows, update, t, k)
        shown = [mean(row[way]["seconds"] for row in cell) if way in cell[0] else float("nan") for way in WAYS]
        error = max(row["tree"]["gradient_error"] for row in cell)
        print(f"{update:8}{t:4}{k:4}{shown[0]:12.2f}{shown[1]:13.2f}{shown[2]:9.2f}{_spread(faster):>14}"
              f"{ratio['tokens']:8.1f}x{ratio['megabytes']:8.1f}x{error:11.0e}")  # fmt: skip
    print("faster, tokens, memory: separate sequences over the tree; gradients: relative difference")


def _spread(values: list[float]) -> str:
    return f"{mean(values):.1f} ± {stdev(values) if len(values) > 1 else 0.0:.1f}x"


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trajectory_tree", description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=list(STEPS), help="lengths of the episode")
    parser.add_argument("--candidates", type=int, nargs="+", default=list(CANDIDATES), help="candidates of a state")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args()
    rows = sweep(options.steps, options.candidates, options.seeds)
    print_table(rows)
    command = f"python -m benchmarks.trajectory_tree --seeds {' '.join(map(str, options.seeds))}"
    print(f"again: {command}")
    if options.json:
        options.json.write_text(json.dumps(report(rows, command), indent=1) + "\n", encoding="utf-8")


def report(rows: list[dict[str, Any]], command: str) -> dict[str, Any]:
    """The results as JSON."""
    headline = {}
    if policy := speedups(rows, "policy", *POLICY_HEADLINE):
        headline["policy_update_speedup"] = mean(policy)
    if critic := speedups(rows, "critic", CRITIC_HEADLINE, 1):
        headline["critic_fit_speedup"] = mean(critic)
    headline["gradient_error"] = max(row["tree"]["gradient_error"] for row in rows)
    return {
        "benchmark": "trajectory_tree", "headline": headline, "command": command,
        "model": "pocket policy and critic, float32", "device": "screens of the embedded phone, 270x600",
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "rows": rows,
    }  # fmt: skip


if __name__ == "__main__":
    main()
