"""Measures how time and memory of an iteration grow with longer episodes, more candidates and more devices.

An iteration of CoachAgent is a roll-out of 8 episodes and the updates of critic and policy: pocket models, screens of
the embedded phone, one thread. One factor at a time varies around T = 8 steps, k = 4 candidates and 8 devices. Every
episode has exactly T steps: `finished` is carried out as `wait`. Prompts of up to 32,768 tokens are never truncated.

Time is virtual: computing is measured as processor time of the agent's thread; waits for devices are drawn from the
default latency, scaled by `benchmarks.latency_ratio`, and skipped. The phone's own computing is not included. The clock
starts when the first screens have arrived, as they usually have from the second iteration on. Every cell runs in its
own process; `megabytes` is the rise of peak memory above the agent's memory at the start.

    python -m benchmarks.scaling --seeds 0 1 --json scaling.json --plot scaling.png

The file is written after every cell, and cells that it has are not measured again: delete it to start over.
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
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from statistics import mean, stdev
from typing import Any, TypeVar

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from tqdm import tqdm  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SCREEN, SETTINGS, SUITE, TASKS  # noqa: E402
from benchmarks.figures.style import Theme, plt, save  # noqa: E402
from benchmarks.latency_ratio import calibrated  # noqa: E402
from coach_gym.actions import ActionError, parse_action  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.agents.models.tree import build_tree  # noqa: E402
from coach_gym.agents.planning.flops import Size, forward_flops, size_of_tree  # noqa: E402
from coach_gym.agents.training.callbacks import BaseCallback  # noqa: E402
from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.latency import Latency  # noqa: E402
from coach_gym.envs.virtual_time import VirtualClock, VirtualTimeEnv  # noqa: E402
from coach_gym.episode import Episode  # noqa: E402

PARTS = ("generate", "judge", "critic", "update", "env_wait")
NAMES = dict(zip(PARTS, ("drawing", "judging", "critic", "policy update", "waiting"), strict=True))
NUMBERS = ("seconds", "device_seconds", "megabytes", "tokens", "pairs", "gigaflops")
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """The size of an iteration: steps of an episode, candidates per state, devices."""

    steps: int = 8
    k: int = 4
    devices: int = 8


BASE = Cell()
EPISODES = 8  # per iteration
SWEEPS: dict[str, tuple[int, ...]] = {
    "steps": (2, 4, 8, 16, 32), "k": (1, 2, 4, 8, 16), "devices": (1, 2, 4, 8, 16, 32)
}  # fmt: skip
SECONDS = (0.1, 1, 10)  # on the axis of time
LABELS = {"steps": "T, steps of an episode", "k": "k, candidates of a state", "devices": "devices"}


class FixedLength(gym.ActionWrapper[Any, str, str]):
    """Makes episodes end when their budget is spent, and not before."""

    def action(self, action: str) -> str:
        """Replaces `finished` by `wait()`."""
        try:
            _, parsed = parse_action(action)
        except ActionError:
            return action
        return "wait()" if parsed.kind == "finished" else action


class Clocked(CoachAgent):
    """CoachAgent with its parts timed on the virtual clock; keeps the episodes and the time of its last update."""

    clock: VirtualClock

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.parts: dict[str, float] = defaultdict(float)
        self.played: list[Episode] = []
        self.ended = 0.0

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Counts the virtual seconds of a part."""
        begun = self.clock.now
        yield
        self.parts[part] += self.clock.now - begun

    def train(self, groups: list[list[Episode]]) -> None:
        """Keeps the episodes and learns from them."""
        self.played = [episode for group in groups for episode in group]
        super().train(groups)
        self.ended = self.clock.now


Agent = TypeVar("Agent", bound=Clocked)


class Begin(BaseCallback):
    """Waits for the first screens, as later iterations need not, and notes when the roll-out begins."""

    def __init__(self, agent: Clocked, envs: VirtualTimeEnv) -> None:
        super().__init__()
        self.agent, self.envs = agent, envs
        self.seconds = self.device_seconds = 0.0

    def _on_rollout_start(self) -> None:
        assert self.agent._collector is not None
        rollout = self.agent._collector.rollout
        rollout.begin_until(self.agent.batch_size)
        rollout.receive(rollout.busy)
        self.agent.parts.clear()
        self.seconds, self.device_seconds = self.agent.clock.now, float(self.envs.busy.sum())


def build(
    cell: Cell, seed: int, latency: Latency, agent_class: type[Agent]
) -> tuple[Agent, VirtualTimeEnv]:
    """Makes the agent and its devices."""
    clock = VirtualClock()
    make_env = partial(_make_env, cell.steps)
    envs = VirtualTimeEnv([make_env] * cell.devices, latency, clock, seed)
    settings = {**SETTINGS, "self_imitation": None, "batch_size": EPISODES, "max_prompt_length": 32_768, "k": cell.k}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # surplus devices begin the episodes of the next iteration
        agent = agent_class("pocket", envs, seed=seed, **settings)
    agent.clock = clock
    return agent, envs


def _make_env(steps: int) -> gym.Env[Any, str]:
    return FixedLength(
        AndroidEnv("android_world", suite=SUITE, tasks=TASKS, screen_size=SCREEN, max_steps=steps)
    )


def measure(cell: Cell, seed: int, latency: Latency) -> Row:
    """Measures an iteration.

    Returns:
        `seconds` of virtual time, its `parts`, `devices_seconds` of work by all devices, `megabytes`, and for the trees
        of all candidates their `tokens`, those of the `trunk`, the `pairs` of tokens that attend to each other, and the
        `gigaflops` of the policy's update.
    """
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    agent, envs = build(cell, seed, latency, Clocked)
    begin = Begin(agent, envs)
    resident = _peak()
    agent.learn(1, callback=begin)
    megabytes = _peak() - resident
    envs.close()
    lengths = [episode.length for episode in agent.played]
    if lengths != [cell.steps] * EPISODES:
        raise RuntimeError(f"episodes have {lengths} steps, not {cell.steps} each: a device failed, or a task ended")
    return {
        "seconds": agent.ended - begin.seconds, "parts": {part: agent.parts[part] for part in PARTS},
        "device_seconds": float(envs.busy.sum()) - begin.device_seconds, "megabytes": megabytes, **_size(agent),
    }  # fmt: skip


def _size(agent: Clocked) -> dict[str, float]:
    trees = [build_tree(agent.policy, episode) for episode in agent.played]
    size = sum((size_of_tree(tree, scored=True) for tree in trees), Size())
    return {
        "tokens": size.tokens,
        "trunk": sum(trunk.length for tree in trees for trunk in tree.trunks),
        "pairs": size.pairs,
        "response": mean(len(c.token_ids) for e in agent.played for s in e.steps for c in s.candidates),
        "gigaflops": 3 * sum(forward_flops(agent.policy.model, size).values()) / 1e9,  # backward is twice forward
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Runs a function in its own process and returns its result."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gymnasium", "coach_gym", "benchmarks.latency_ratio", "matplotlib.pyplot"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def _calibrate() -> Latency:
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    return calibrated(BASE.devices)


def cells_of(factor: str, values: tuple[int, ...]) -> list[Cell]:
    """Returns the cells of a curve."""
    return [replace(BASE, **{factor: value}) for value in values]


def _in_turn() -> list[Cell]:
    """Returns all cells, ends of the curves first, so that an early interruption still shows their range."""
    curves = [cells_of(factor, (*v[:1], *v[-1:], *v[1:-1])) for factor, v in SWEEPS.items()]
    return list(dict.fromkeys(cell for turn in zip_longest(*curves) for cell in turn if cell is not None))


def sweep(seeds: list[int], command: str, path: Path | None) -> dict[str, Any]:
    """Measures all cells that the file does not have yet."""
    results: dict[str, Any] = json.loads(path.read_text("utf-8")) if path and path.exists() else {}
    rows: list[Row] = results.get("rows", [])
    latency = Latency(**results["latency"]) if results else in_process(_calibrate)
    results = _written(rows, latency, command, path)
    known = {(_cell(row), row["seed"]) for row in rows}
    wanted = [(cell, seed) for seed in seeds for cell in _in_turn() if (cell, seed) not in known]
    for cell, seed in tqdm(wanted, desc="scaling"):
        rows.append({**asdict(cell), "seed": seed, **in_process(measure, cell, seed, latency)})
        results = _written(rows, latency, command, path)
    return results


def _written(rows: list[Row], latency: Latency, command: str, path: Path | None) -> dict[str, Any]:
    results = report(rows, latency, command)
    if path:
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def report(rows: list[Row], latency: Latency, command: str) -> dict[str, Any]:
    """Returns the results as JSON."""
    laws = {factor: law for factor in SWEEPS if (law := exponents(rows, factor))}
    return {
        "benchmark": "scaling", "device": DEVICE,
        "headline": {f"{part}_{factor}": law[part][0] for factor, law in laws.items() for part in law},
        "command": command, "model": "pocket policy, critic and judge, float32", "episodes": EPISODES,
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "latency": asdict(latency), "laws": laws, "rows": rows,
    }  # fmt: skip


def _cell(row: Row) -> Cell:
    return Cell(row["steps"], row["k"], row["devices"])


def values_of(row: Row) -> dict[str, float]:
    """Returns the numbers of a cell that have a curve."""
    numbers = {name: row[name] for name in NUMBERS}
    computing = sum(row["parts"][part] for part in PARTS if part != "env_wait")
    return {**numbers, **row["parts"], "computing": computing}


def curve(rows: list[Row], factor: str) -> dict[int, list[dict[str, float]]]:
    """Returns the numbers of every seed by the value of one factor, with the others at the base point."""
    cells = {value: cell for value, cell in zip(SWEEPS[factor], cells_of(factor, SWEEPS[factor]), strict=True)}
    points = {
        value: [values_of(row) for row in rows if _cell(row) == cell]
        for value, cell in cells.items()
    }
    return {value: seeds for value, seeds in points.items() if seeds}


def exponents(rows: list[Row], factor: str) -> dict[str, tuple[float, float]]:
    """Fits a * x^b to every number, by least squares on logarithms; returns b and the explained variance."""
    points = curve(rows, factor)
    if len(points) < 3:
        return {}
    x = np.log([value for value, seeds in points.items() for _ in seeds])
    laws = {}
    for name in next(iter(points.values()))[0]:
        found = [seed[name] for seeds in points.values() for seed in seeds]
        if min(found) < 0.01:  # no waits at all
            continue
        y = np.log(found)
        slope, height = np.polyfit(x, y, 1)
        unexplained = (y - slope * x - height).var()
        laws[name] = float(slope), float(1 - unexplained / y.var() if y.var() else 1.0)
    return laws


def print_tables(results: dict[str, Any]) -> None:
    """Prints a table per factor, with means over seeds and the spread of the total."""
    for factor in SWEEPS:
        print(f"\n{factor:>8}{'seconds':>16}" + "".join(f"{part:>10}" for part in PARTS)
              + f"{'MB':>14}{'tokens':>9}{'pairs':>10}{'GFLOP':>8}")  # fmt: skip
        for value, seeds in curve(results["rows"], factor).items():
            means = {name: mean(seed[name] for seed in seeds) for name in seeds[0]}
            print(f"{value:8}{_spread(seeds, 'seconds', 2):>16}" + "".join(f"{means[part]:10.2f}" for part in PARTS)
                  + f"{_spread(seeds, 'megabytes', 0):>14}{means['tokens']:9.0f}{means['pairs']:10.2g}"
                  f"{means['gigaflops']:8.1f}")  # fmt: skip
        law = results["laws"].get(factor, {})
        print("exponent, share of variance: " + ", ".join(f"{name} {b:.2f} ({r:.2f})" for name, (b, r) in law.items()))
    print(f"\nrerun: {results['command']}")


def _spread(seeds: list[dict[str, float]], name: str, digits: int) -> str:
    values = [seed[name] for seed in seeds]
    return f"{mean(values):.{digits}f} ± {stdev(values) if len(values) > 1 else 0.0:.{digits}f}"


def plot(results: dict[str, Any], path: Path) -> None:
    """Draws time by part over every factor, and memory below, in light and dark."""
    save(partial(_panels, results), path)


def _panels(results: dict[str, Any], theme: Theme) -> Figure:
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.6), sharex="col", sharey="row", height_ratios=(3, 1))
    for (factor, label), (time, memory) in zip(LABELS.items(), axes.T, strict=True):
        points = curve(results["rows"], factor)
        _line(time, points, "seconds", color=theme.ink, linewidth=2.5, label="iteration")
        for color, part in zip(theme.cycle, PARTS, strict=False):
            _line(time, points, part, color=color, label=NAMES[part])
        _line(memory, points, "megabytes", color=theme.ink)
        time.set(xscale="log", yscale="log", title=_title(results, factor))
        memory.set(xscale="log", yscale="log", xlabel=label, xticks=list(points), xticklabels=list(points))
        memory.minorticks_off()
        memory.set(yticks=(100, 200, 500, 1000), yticklabels=("100", "200", "500", "1000"))
    _device_bound(axes[0, 2], results["rows"], theme)
    axes[0, 0].set(ylabel="virtual seconds", ylim=(0.02, None), yticks=SECONDS, yticklabels=[f"{s:g}" for s in SECONDS])
    axes[1, 0].set_ylabel("memory (MB)")
    figure.legend(*axes[0, 2].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    figure.suptitle(
        f"One iteration of CoachAgent, pocket models, one thread ({DEVICE}). Where not varied: T = {BASE.steps}, "
        f"k = {BASE.k}, {BASE.devices} devices; {EPISODES} episodes", x=0.01, ha="left", fontsize=11
    )  # fmt: skip
    return figure


def _line(axis: Any, points: dict[int, list[dict[str, float]]], name: str, **style: Any) -> None:
    """Draws the mean over seeds, and every seed as a dot."""
    axis.plot(list(points), [mean(seed[name] for seed in seeds) for seeds in points.values()], **style)
    dots = [(value, seed[name]) for value, seeds in points.items() for seed in seeds]
    axis.scatter(*zip(*dots, strict=True), color=style["color"], s=10)


def _device_bound(axis: Any, rows: list[Row], theme: Theme) -> None:
    """Draws the lower bound of an iteration: the devices' work, shared evenly."""
    points = curve(rows, "devices")
    bound = [mean(seed["device_seconds"] for seed in seeds) / devices for devices, seeds in points.items()]
    axis.plot(list(points), bound, color=theme.pale, linestyle=":", label="devices' work / devices")


def _title(results: dict[str, Any], factor: str) -> str:
    law = results["laws"].get(factor)
    if not law or factor == "devices":
        return ""
    letter, (computing, _), (update, _) = LABELS[factor][0], law["computing"], law["update"]
    return f"computing ~ ${letter}^{{{computing:.2f}}}$, policy update ~ ${letter}^{{{update:.2f}}}$"


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--json", type=Path, help="write the results to this file; what it has is not measured again")
    parser.add_argument("--plot", type=Path, help="write the figure to this file")
    options = parser.parse_args()
    results = sweep(options.seeds, f"python -m benchmarks.scaling {shlex.join(sys.argv[1:])}", options.json)
    print_tables(results)
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
