"""Measures what the trajectory tree saves: one pass over trunk and branches instead of one sequence per sample.

The episode has T steps on the embedded phone, k candidates in every state, and the full history in the prompt. These
methods compute the same gradients with the same model in the same run, which is checked:

    separate   one sequence per candidate of every step (what published code does)
    trl        TRL's GRPO update, k copies of every state's prompt in a batch; skipped if TRL is not installed
    state      one tree per state: candidates share their prompt, states share nothing (prefix grouping)
    tree       one tree for the episode
    chunks     the same in passes of at most 256 branch tokens

They are measured for the policy's clipped loss, and for the critic's fit, which needs only the executed responses. The
last table shows the cost of a tree when the history is truncated. Times are processor time of forward and backward
passes, the mean of up to three after a warm-up. Every measurement runs in its own process, so that peak memory is
meaningful.

    python -m benchmarks.trajectory_tree --seeds 0 1 2 --json tree.json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
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
from benchmarks.trl_update import HOW_TO_INSTALL, trl_losses  # noqa: E402
from benchmarks.trl_update import version as trl_version  # noqa: E402
from coach_gym.agents.models.critic import Critic  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.models.tree import Candidates, Tree, build_tree, log_probs, separate_tree  # noqa: E402
from coach_gym.agents.playing.rollout import observation_of  # noqa: E402
from coach_gym.agents.training.objective.losses import clipped_value_loss, ppo_clip  # noqa: E402
from coach_gym.episode import Candidate, Episode, Observation, Step  # noqa: E402

STEPS, CANDIDATES = (4, 8, 12, 16), (1, 2, 4, 8)
RESPONSE = 20  # tokens
APPS = ("Files", "Contacts", "Clock", "Settings", "Markor")
CHUNK = 256  # branch tokens
CLIP = 0.2
WAYS = ("separate", "trl", "state", "tree", "chunks")
CUTS, CUT_EPISODE = (0, 1, 2, 3, 4), (16, 4)  # numbers of cuts in the history; T and k of the episode
POLICY_HEADLINE, CRITIC_HEADLINE = (12, 4), 16  # T and k of the headline numbers
Losses = Iterator[Tensor]
Rows = Iterator[dict[str, Any]]


@dataclass
class Walk:
    """Screens of a walk through the phone's apps; shorter episodes use the first ones."""

    goal: str
    screens: list[Observation]

    def episode(self, policy: Policy, steps: int, k: int, seed: int) -> Episode:
        """Makes an episode with random responses, because only their length matters."""
        generator = torch.Generator().manual_seed(seed)
        episode = Episode(self.goal, outcome=1.0)
        for screen in self.screens[:steps]:
            drawn = torch.randint(300, 2000, (k, RESPONSE - 1), generator=generator).tolist()
            candidates = [Candidate("", [*ids, policy.eos], [-7.0] * RESPONSE) for ids in drawn]
            episode.steps.append(Step(screen, candidates, 0, "wait()"))
        return episode


def record(steps: int, seed: int) -> Walk:
    """Opens one app after another and returns the screens."""
    env = gym.make("AndroidWorld-v0", screen_size=(270, 600), max_steps=steps)
    observation, _ = env.reset(seed=seed)
    walk = Walk(str(observation["goal"]), [observation_of(observation)])
    for number in range(1, steps):
        observation, *_ = env.step(f"open_app(app_name='{APPS[number % len(APPS)]}')")
        walk.screens.append(observation_of(observation))
    env.close()
    return walk


def policy_losses(way: str, policy: Policy, episode: Episode) -> Losses:
    """Yields PPO's loss over all candidates with arbitrary advantages, in parts of one forward pass each."""
    advantages = torch.linspace(-1, 1, sum(len(step.candidates) for step in episode.steps))
    first = 0
    for tree in _trees(way, policy, episode, "all"):
        new = torch.cat(sum(log_probs(policy, tree), []))
        mine = advantages.repeat_interleave(RESPONSE)[first : first + len(new)]
        first += len(new)
        yield ppo_clip(new + 7.0, mine, CLIP).sum()


def critic_losses(way: str, policy: Policy, critic: Critic, episode: Episode) -> Losses:
    """Yields the clipped squared error of Q of executed actions against arbitrary returns, in parts of one pass."""
    returns = torch.linspace(0, 1, episode.length)
    first = 0
    for tree in _trees(way, policy, episode, "executed"):
        q = torch.cat(critic.q_values(tree))
        target = returns[first : first + len(q)]
        first += len(q)
        yield clipped_value_loss(q, torch.zeros_like(q), target, 0.5).sum()


def _trees(way: str, policy: Policy, episode: Episode, candidates: Candidates) -> list[Tree]:
    """Returns the episode in trees of one pass each."""
    if way == "state":
        return [_state_tree(policy, episode, t, candidates) for t in range(episode.length)]
    if way in ("separate", "trl"):
        tree = separate_tree(policy, episode, candidates)
    else:
        tree = build_tree(policy, episode, candidates, **({"max_branch_tokens": CHUNK} if way == "chunks" else {}))
    return [Tree([trunk]) for trunk in tree.trunks]


def _state_tree(policy: Policy, episode: Episode, t: int, candidates: Candidates) -> Tree:
    """Returns a tree with the responses of one state only."""
    past = [replace(step, candidates=step.candidates[:1]) for step in episode.steps[:t]]
    (trunk,) = build_tree(policy, replace(episode, steps=[*past, episode.steps[t]]), candidates).trunks
    return Tree([replace(trunk, spans=trunk.spans[-1:])])


def measure(update: str, way: str, walk: Walk, steps: int, k: int, seed: int, cuts: int = 0) -> dict[str, Any]:
    """Measures the forward and backward passes of an update.

    Returns:
        `seconds` of processor time, rise of peak memory in `megabytes`, `tokens` and `passes` of an update, and the
        flat `gradient`.
    """
    torch.set_num_threads(1)
    policy = Policy.load("pocket", dtype=torch.float32)
    policy.banned = []  # like TRL
    critic = Critic.load("pocket")
    episode = walk.episode(policy, steps, k, seed)
    policy.max_prompt_length = prompt_length(policy, episode, cuts)
    trees = _trees(way, policy, episode, "all" if update == "policy" else "executed")
    found = {"tokens": sum(tree.trunks[0].input_ids.shape[1] for tree in trees), "passes": len(trees)}
    if way == "trl":
        found["passes"] = steps
        trl = trl_losses(policy, CLIP)

    def losses() -> Losses:
        if way == "trl":
            return trl(episode, torch.linspace(-1, 1, steps * k))
        return policy_losses(way, policy, episode) if update == "policy" else (
            critic_losses(way, policy, critic, episode))  # fmt: skip

    model: torch.nn.Module = policy.model if update == "policy" else critic
    before = _peak()
    next(losses()).backward()
    seconds = _time(model, losses)
    flat = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    return {"seconds": seconds, "megabytes": _peak() - before, **found, "gradient": flat.numpy()}


def _time(model: torch.nn.Module, losses: Callable[[], Losses]) -> float:
    """Returns the mean of three updates, or of as many as begin within two seconds."""
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 2:
        model.zero_grad(set_to_none=True)
        started = time.process_time()
        for part in losses():
            part.backward()
        seconds.append(time.process_time() - started)
    return mean(seconds)


def prompt_length(policy: Policy, episode: Episode, cuts: int) -> int:
    """Returns the largest prompt limit at which the history is cut this many times."""
    history = policy.history(episode.goal, episode.steps)
    whole = len(history.prompt(0, episode.length - 1))
    return next(limit for limit in range(whole, 0, -1) if len(set(history.starts(limit))) == cuts + 1)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux


def ways_of(update: str, k: int) -> list[str]:
    """Returns the methods to compare; `state` needs several candidates, and the critic sees one per state."""
    if update == "critic":
        return ["separate", "tree"]
    return [way for way in WAYS if (way != "trl" or trl_version()) and (way != "chunks" or k > 1)]


def sweep(steps: list[int], candidates: list[int], seeds: list[int]) -> Rows:
    """Measures all cells of the table, each in its own process, and compares gradients."""
    cells = [("policy", t, k) for t in steps for k in candidates] + [("critic", t, 1) for t in steps]
    walks = {seed: record(max(steps), seed) for seed in seeds}
    for (update, t, k), seed in tqdm([(cell, seed) for cell in cells for seed in seeds], desc="trajectory tree"):
        found = {way: _in_process(update, way, walks[seed], t, k, seed) for way in ways_of(update, k)}
        reference = found["separate"].pop("gradient")
        for way in [way for way in found if way != "separate"]:
            difference = np.linalg.norm(found[way].pop("gradient") - reference) / np.linalg.norm(reference)
            found[way]["gradient_error"] = float(difference)
        yield {"update": update, "T": t, "k": k, "seed": seed, **found}


def sweep_cuts(seeds: list[int]) -> Rows:
    """Measures the tree of an episode whose history is cut more and more often."""
    policy = Policy.load("pocket")
    walks = {seed: record(CUT_EPISODE[0], seed) for seed in seeds}
    for cuts, seed in tqdm([(cuts, seed) for cuts in CUTS for seed in seeds], desc="cuts"):
        found = _in_process("policy", "tree", walks[seed], *CUT_EPISODE, seed, cuts)
        del found["gradient"]
        episode = walks[seed].episode(policy, *CUT_EPISODE, seed)
        policy.max_prompt_length = prompt_length(policy, episode, cuts)
        yield {"cuts": cuts, "seed": seed, **found, **count_without_trees(policy, episode)}


def count_without_trees(policy: Policy, episode: Episode) -> dict[str, float]:
    """Counts the tokens of an update without trees, under the same prompt `limit`.

    Returns:
        `separate` tokens and tokens of the `mean_prompt`, if the history is cut in blocks; `sliding` and
        `sliding_prompt` if it loses one step at a time and candidates share the prompt of their state.
    """
    history, limit = policy.history(episode.goal, episode.steps), policy.max_prompt_length
    steps, k = range(episode.length), len(episode.steps[0].candidates)
    blocks = [len(history.prompt(start, step)) for step, start in enumerate(history.starts(limit))]
    all_cuts = [[len(history.prompt(start, step)) for start in range(step + 1)] for step in steps]
    sliding = [max(length for length in lengths if length <= limit or length == lengths[-1]) for lengths in all_cuts]
    return {
        "limit": limit, "separate": k * (sum(blocks) + len(steps) * RESPONSE), "mean_prompt": mean(blocks),
        "sliding": sum(sliding) + len(steps) * k * RESPONSE, "sliding_prompt": mean(sliding),
    }  # fmt: skip


def _in_process(*arguments: Any) -> dict[str, Any]:
    context = multiprocessing.get_context("forkserver")
    ours_and_theirs = ["coach_gym.agents.training.online", "trl.trainer.grpo_trainer"]
    context.set_forkserver_preload(["gymnasium", "coach_gym", *ours_and_theirs])
    ours, theirs = context.Pipe()
    process = context.Process(target=_send, args=(theirs, *arguments))
    process.start()
    theirs.close()  # so that a dead process raises EOFError here instead of an endless wait
    found = ours.recv()
    process.join()
    return found


def _send(pipe: Any, *arguments: Any) -> None:
    pipe.send(measure(*arguments))


def speedups(rows: list[dict[str, Any]], update: str, steps: int, k: int, way: str = "separate") -> list[float]:
    """Returns a method's time over the tree's, for each seed."""
    cell = [row for row in rows if (row["update"], row["T"], row["k"]) == (update, steps, k)]
    return [row[way]["seconds"] / row["tree"]["seconds"] for row in cell if way in row]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Prints a line per cell, means over seeds."""
    print(f"\n{'':14}{'seconds':>40}{'MB':>8}{'':>8}{'faster than':>24}{'':>6}")
    print(f"{'update':8}{'T':>3}{'k':>3}" + "".join(f"{way:>9}" for way in WAYS) + f"{'tree':>7}{'chunks':>7}"
          f"{'separate':>16}{'trl':>8}{'state':>8}{'tokens':>8}{'gradients':>10}")  # fmt: skip
    for update, t, k in dict.fromkeys((row["update"], row["T"], row["k"]) for row in rows):
        cell = [row for row in rows if (row["update"], row["T"], row["k"]) == (update, t, k)]
        tokens = mean(row["separate"]["tokens"] / row["tree"]["tokens"] for row in cell)
        error = max(row["tree"]["gradient_error"] for row in cell)
        print(f"{update:8}{t:3}{k:3}" + "".join(f"{_mean(cell, way, 'seconds'):9.2f}" for way in WAYS)
              + f"{_mean(cell, 'tree', 'megabytes'):7.0f}{_mean(cell, 'chunks', 'megabytes'):7.0f}"
              f"{_spread(speedups(rows, update, t, k)):>16}{_spread(speedups(rows, update, t, k, 'trl'))[:5]:>8}"
              f"{_spread(speedups(rows, update, t, k, 'state'))[:5]:>8}{tokens:7.1f}x{error:10.0e}")  # fmt: skip
    print("faster: time over the tree's; MB: growth of peak memory; tokens: of separate sequences over the tree's;")
    print("gradients: the tree's relative difference from separate sequences")
    if not trl_version():
        print(f"TRL is not installed, its column is empty: {HOW_TO_INSTALL}")


def print_cuts(rows: list[dict[str, Any]]) -> None:
    """Prints a line per number of cuts."""
    print(f"\nthe tree when the history is cut in blocks, T={CUT_EPISODE[0]}, k={CUT_EPISODE[1]}")
    print(f"{'cuts':>4}{'limit':>7}{'tokens':>8}{'seconds':>9}{'MB':>6}{'separate':>10}{'mean prompt':>13}"
          f"{'one step at a time: tokens':>28}{'mean prompt':>13}")  # fmt: skip
    for cuts in CUTS:
        cell = [row for row in rows if row["cuts"] == cuts]
        limit, tokens, seconds, megabytes, separate, prompt, sliding, sliding_prompt = (
            mean(row[key] for row in cell) for key in
            ("limit", "tokens", "seconds", "megabytes", "separate", "mean_prompt", "sliding", "sliding_prompt")
        )  # fmt: skip
        print(f"{cuts:4}{limit:7.0f}{tokens:8.0f}{seconds:9.2f}{megabytes:6.0f}{separate:10.0f}{prompt:13.0f}"
              f"{sliding:28.0f}{sliding_prompt:13.0f}")  # fmt: skip


def _mean(cell: list[dict[str, Any]], way: str, key: str) -> float:
    return mean(row[way][key] for row in cell) if way in cell[0] else float("nan")


def _spread(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{mean(values):.1f}x ± {stdev(values) if len(values) > 1 else 0.0:.1f}"


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trajectory_tree", description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=list(STEPS), help="lengths of the episode")
    parser.add_argument("--candidates", type=int, nargs="+", default=list(CANDIDATES), help="candidates per state")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    command = f"python -m benchmarks.trajectory_tree {shlex.join(sys.argv[1:])}"
    rows: list[dict[str, Any]] = []
    cuts: list[dict[str, Any]] = []
    for row in chain(sweep(options.steps, options.candidates, options.seeds), sweep_cuts(options.seeds)):
        (cuts if "cuts" in row else rows).append(row)
        if options.json:  # after every cell, because all of them take an hour
            options.json.write_text(json.dumps(report(rows, cuts, command), indent=1) + "\n", encoding="utf-8")
    print_table(rows)
    print_cuts(cuts)
    print(f"rerun: {command}")


def report(rows: list[dict[str, Any]], cuts: list[dict[str, Any]], command: str) -> dict[str, Any]:
    """Returns the results as JSON."""
    speeds = {
        "policy_update_speedup": speedups(rows, "policy", *POLICY_HEADLINE),
        "policy_update_speedup_over_trl": speedups(rows, "policy", *POLICY_HEADLINE, "trl"),
        "policy_update_speedup_over_state": speedups(rows, "policy", *POLICY_HEADLINE, "state"),
        "critic_fit_speedup": speedups(rows, "critic", CRITIC_HEADLINE, 1),
    }
    headline = {name: mean(values) for name, values in speeds.items() if values}
    ours = [row[way] for row in rows for way in ("tree", "chunks") if way in row]
    headline["gradient_error"] = max(found["gradient_error"] for found in ours)
    trl = f"TRL {trl_version()}" if trl_version() else f"no TRL ({HOW_TO_INSTALL})"
    return {
        "benchmark": "trajectory_tree", "headline": headline, "command": command,
        "model": "pocket policy and critic, float32", "device": "screens of the embedded phone, 270x600",
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, {trl}, 1 thread",
        "rows": rows, "cuts": cuts,
    }  # fmt: skip


if __name__ == "__main__":
    main()
