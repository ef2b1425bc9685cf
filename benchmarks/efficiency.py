"""The paper's efficiency figure: success of CoachAgent, PPO and GRPO over time, environment steps and sampled actions.

The same pocket policy learns the same tasks on the same slow devices. Time is virtual: computing is measured, waits for
devices are drawn from a heavy-tailed latency and skipped (`envs/virtual_time.py`). Latencies are scaled until devices
take 1.7 times as long as inference in a lockstep roll-out with one response per state, as the paper measured (its
introduction, Figure 1); `--ratio` sets another ratio.

All run on the same engine, event-driven collection and trajectory trees, so the methods alone are compared.
`--published` adds the baselines as published code runs them: devices in lockstep, and one sequence per step.

    python -m benchmarks.efficiency --seeds 0 1 2 --json efficiency.json
    python -m benchmarks.efficiency --sweep --seeds 0 --json sweep.json     # the learning rates of all three

Every run is stored in `--out` and not repeated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from tqdm import tqdm  # noqa: E402

from benchmarks.demo import DEVICE, SETTINGS, SUITE, TASKS, make_envs  # noqa: E402
from benchmarks.latency_ratio import DEVICE_TO_INFERENCE, calibrated, slow_envs  # noqa: E402
from coach_gym.agents import CoachAgent, GRPOAgent, PPOAgent  # noqa: E402
from coach_gym.agents.evaluation import evaluate  # noqa: E402
from coach_gym.agents.training.callbacks import BaseCallback  # noqa: E402
from coach_gym.agents.training.online import OnlineAgent  # noqa: E402
from coach_gym.envs.latency import Latency  # noqa: E402
from coach_gym.envs.virtual_time import VirtualClock  # noqa: E402

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (after the choice of a backend without windows)

DEVICES = 8  # as in the paper
EPISODES = 99  # held-out instances to evaluate on, the same for all, while the clock stands still
LEVELS = (0.5, 0.55, 0.6)  # of success, at which times are compared in addition to the baselines' best
EVALUATIONS = 9  # per training run, spread over its time, after the first

PUBLISHED: dict[str, Any] = {"collection": "rounds", "trajectory_trees": False}
_SHARED = {name: SETTINGS[name] for name in ("mini_batch_size", "max_new_tokens", "max_prompt_length")}


@dataclass(frozen=True)
class Method:
    """A method in the comparison.

    Attributes:
        agent: Its class.
        settings: The best settings of the sweep.
        sweep: Settings to try.
        color: Color of its line.
    """

    agent: type[OnlineAgent]
    settings: dict[str, Any]
    sweep: list[dict[str, float]]
    color: str


RATES = (5e-5, 1.5e-4, 4e-4)
COACH = Method(
    CoachAgent,
    {**SETTINGS, "learning_rate": 2e-4, "k": 16, "batch_size": 16},
    [{"learning_rate": rate} for rate in RATES],
    "tab:red",
)
PPO = Method(
    PPOAgent,
    {**_SHARED, "batch_size": 32, "learning_rate": 1.5e-4, "critic_learning_rate": 1e-4, "critic_warmup_ratio": 0.0},
    [{"learning_rate": rate, "critic_learning_rate": critic} for rate in RATES for critic in (1e-5, 1e-4)],
    "tab:blue",
)
GRPO = Method(
    GRPOAgent,
    {**_SHARED, "batch_size": 32, "learning_rate": 1e-4},
    [{"learning_rate": rate} for rate in (*RATES, 1e-3)],
    "tab:green",
)
METHODS = {"CoachAgent": COACH, "PPOAgent": PPO, "GRPOAgent": GRPO}


@dataclass(frozen=True)
class Run:
    """A training run.

    Attributes:
        method: Name of the method.
        seed: Seed of everything.
        minutes: Virtual time of the training.
        latency: Scale of the devices' latency.
        published: Whether to run the method as published code does.
        overrides: Settings that differ from the method's.
    """

    method: str
    seed: int
    minutes: float
    latency: float
    published: bool = False
    overrides: tuple[tuple[str, float], ...] = ()

    @property
    def name(self) -> str:
        """Name of the row in the table."""
        return f"{self.method}, as published" if self.published else self.method

    @property
    def file(self) -> str:
        """Name of the file that stores its result."""
        engine = "-published" if self.published else ""
        settings = hashlib.blake2b(json.dumps(self.settings, sort_keys=True).encode(), digest_size=4).hexdigest()
        return f"{self.method}{engine}-{settings}-{self.minutes:g}min-latency{self.latency:.4g}-seed{self.seed}.json"

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the agent."""
        engine = PUBLISHED if self.published else {}
        return {**METHODS[self.method].settings, **engine, **dict(self.overrides)}


def train(run: Run) -> dict[str, Any]:
    """Trains until the virtual time is over, and measures success on held-out instances on the way."""
    torch.set_num_threads(1)
    envs = slow_envs(DEVICES, Latency().scaled(run.latency), run.seed)
    agent = METHODS[run.method].agent("pocket", envs, seed=run.seed, **run.settings)
    curve = Curve(envs.clock, 60 * run.minutes)
    agent.learn(10**9, callback=curve)
    envs.close()
    curve.judges.close()
    return {
        "method": run.name, "seed": run.seed, "overrides": dict(run.overrides), "curve": curve.points,
        "devices_busy": round(float(envs.busy.mean() / envs.clock.now), 3),
    }  # fmt: skip


class Curve(BaseCallback):
    """Evaluates at the beginning, at the end, and between roll-outs, evenly over time.

    Its points have seconds, environment steps, sampled actions, and success on the held-out instances.
    """

    def __init__(self, clock: VirtualClock, seconds: float) -> None:
        super().__init__()
        self.clock, self.seconds = clock, seconds
        self.points: list[dict[str, float]] = []
        self.judges = make_envs()
        self._begun = clock.now
        self._judged = (-1, 0.0)

    @property
    def elapsed(self) -> float:
        """Virtual seconds of training so far."""
        return self.clock.now - self._begun

    def _on_rollout_start(self) -> None:
        if not self.points or self.elapsed >= self.points[-1]["seconds"] + self.seconds / EVALUATIONS:
            self._evaluate()

    def _on_step(self) -> bool:
        return self.elapsed < self.seconds

    def _on_training_end(self) -> None:
        self._evaluate()

    def _evaluate(self) -> None:
        at = {"seconds": round(self.elapsed, 2), "steps": self.num_timesteps}
        at["actions"] = self.num_timesteps * getattr(self.model, "k", 1)
        if self._judged[0] != self.model.n_updates:  # otherwise it has not changed since
            with self.clock.stopped():
                success = evaluate(self.model, self.judges, EPISODES, deterministic=False).success_rate
            self._judged = self.model.n_updates, success
        self.points.append({**at, "success": self._judged[1]})


def play(runs: list[Run], out: Path) -> list[dict[str, Any]]:
    """Returns the results of runs. Each runs in a process of its own, unless `out` already has its result."""
    out.mkdir(parents=True, exist_ok=True)
    for run in tqdm(runs, desc="efficiency", unit="run"):
        if not (out / run.file).exists():
            command = [sys.executable, "-m", "benchmarks.efficiency", "--one", json.dumps(vars(run))]
            subprocess.run([*command, "--out", str(out)], check=True)
    return [json.loads((out / run.file).read_text(encoding="utf-8")) for run in runs]


def play_one(run: Run, out: Path) -> None:
    """Trains and stores the result."""
    result = train(run)
    (out / f"{run.file}.partial").write_text(json.dumps(result), encoding="utf-8")
    (out / f"{run.file}.partial").rename(out / run.file)


Curves = dict[str, tuple[np.ndarray, np.ndarray]]


def success_over(results: list[dict[str, Any]], axis: str, points: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Interpolates success on the held-out instances between evaluations.

    Args:
        results: Results of one method, one per seed.
        axis: `"seconds"`, `"steps"` or `"actions"`.
        points: Number of points at which to read the curve.

    Returns:
        The axis, (points,), up to the end of the shortest run, and success rates, (seeds, points).
    """
    curves = [([point[axis] for point in r["curve"]], [point["success"] for point in r["curve"]]) for r in results]
    grid = np.linspace(0, min(along[-1] for along, _ in curves), points)
    return grid, np.array([np.interp(grid, along, success) for along, success in curves])


def speedup(ours: tuple[np.ndarray, np.ndarray], theirs: tuple[np.ndarray, np.ndarray]) -> dict[str, float | None]:
    """Returns the time at which the baseline's mean curve peaks, over the time at which ours first is as good.

    The result is None if ours never is, or is from the start.
    """
    best = float(theirs[1].mean(0).max())
    their_time, our_time = first_time(theirs, best), first_time(ours, best)
    return {
        "best_success": best, "their_seconds": their_time, "our_seconds": our_time,
        "speedup": _over(their_time, our_time),
    }  # fmt: skip


def first_time(curve: tuple[np.ndarray, np.ndarray], level: float) -> float | None:
    """Returns when the mean over seeds first reaches a level; None if never."""
    reached = curve[1].mean(0) >= level
    return float(curve[0][np.argmax(reached)]) if reached.any() else None


def _over(theirs: float | None, ours: float | None) -> float | None:
    return theirs / ours if theirs is not None and ours else None


def level_times(results: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Compares methods at fixed levels of success, below the plateau, where the order of curves is chance.

    Returns:
        For every level and method, the seconds and steps until the mean reaches it, and CoachAgent's advantage in
        seconds: of the means, and for every seed (None if either never reaches it).
    """
    curves = {name: success_over(_of(results, name), "seconds") for name in _names(results)}
    steps = {name: success_over(_of(results, name), "steps") for name in _names(results)}
    ours = curves["CoachAgent"]

    def at(name: str, level: float) -> dict[str, Any]:
        theirs = curves[name]
        pairs = zip(theirs[1], ours[1], strict=False)  # a row may have fewer seeds
        seeds = [(first_time((theirs[0], a[None]), level), first_time((ours[0], b[None]), level)) for a, b in pairs]
        return {
            "seconds": first_time(theirs, level), "steps": first_time(steps[name], level),
            "speedup": _over(first_time(theirs, level), first_time(ours, level)),
            "speedup_of_seeds": [_over(*pair) for pair in seeds],
        }  # fmt: skip

    return {f"{level:.0%}": {name: at(name, level) for name in curves} for level in LEVELS}


def compare(results: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the headline, and how each of its ratios comes about."""
    curves = {name: success_over(_of(results, name), "seconds") for name in _names(results)}
    details = {name: speedup(curves["CoachAgent"], curve) for name, curve in curves.items() if name != "CoachAgent"}
    headline = {}
    for name, detail in details.items():
        short = name.replace("Agent, as ", "_").removesuffix("Agent").lower()
        headline[f"speedup_{short}"] = detail["speedup"]
    return headline, details


def _names(results: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(result["method"] for result in results))


def _of(results: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [result for result in results if result["method"] == name]


def print_table(results: list[dict[str, Any]], details: dict[str, Any]) -> None:
    """Prints mean and spread over seeds, and the ratios."""
    print(f"\n{'method (' + DEVICE + ')':28}{'success at the end':>20}{'at its best':>13}{'steps':>8}"
          f"{'actions':>9}{'devices busy':>14}{'CoachAgent is as good':>28}")  # fmt: skip
    for name in _names(results):
        mine = _of(results, name)
        end = [100 * result["curve"][-1]["success"] for result in mine]
        best = 100 * success_over(mine, "seconds")[1].mean(0).max()
        steps, actions = (np.mean([result["curve"][-1][axis] for result in mine]) for axis in ("steps", "actions"))
        busy = np.mean([result["devices_busy"] for result in mine])
        print(f"{name:28}{np.mean(end):13.1f} ± {np.std(end):4.1f}{best:13.1f}{steps:8.0f}{actions:9.0f}"
              f"{busy:14.0%}{_ratio(details.get(name)):>28}")  # fmt: skip


def print_levels(levels: dict[str, dict[str, Any]]) -> None:
    """Prints when each method reaches a level, and how much sooner CoachAgent does, for means and single seeds."""
    print(f"\n{'success':>8}  {'method':28}{'seconds':>9}{'steps':>8}{'CoachAgent is sooner':>23}   seed by seed")
    for level, methods in levels.items():
        for name, row in methods.items():
            seconds, steps = ("never" if row[axis] is None else f"{row[axis]:.0f}" for axis in ("seconds", "steps"))
            seeds = "" if name == "CoachAgent" else ", ".join(map(_times, row["speedup_of_seeds"]))
            print(f"{level:>8}  {name:28}{seconds:>9}{steps:>8}{_times(row['speedup']):>23}   {seeds}")


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.1f}x"


def _ratio(detail: dict[str, float | None] | None) -> str:
    if detail is None:
        return ""
    if not detail["our_seconds"]:
        return "never" if detail["our_seconds"] is None else "from the start"
    return f"{detail['our_seconds']:.0f} s / {detail['their_seconds']:.0f} s: {detail['speedup']:.1f}x"


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """Draws the paper's three panels."""
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained", sharey=True)
    axes = {"seconds": "virtual time (minutes)", "steps": "environment steps", "actions": "sampled actions"}
    for panel, (axis, label) in zip(panels, axes.items(), strict=True):
        for name in _names(results):
            method, published = METHODS[name.split(",")[0]], "," in name
            if published and axis != "seconds":
                continue  # equal to those on our engine, apart from chance
            along, success = success_over(_of(results, name), axis)
            mean, spread = 100 * success.mean(0), 100 * success.std(0)
            style = {"color": method.color, "linestyle": "--" if published else "-"}
            along = along / 60 if axis == "seconds" else along
            panel.plot(along, mean, label=name, **style)
            panel.fill_between(along, mean - spread, mean + spread, color=method.color, alpha=0.12)
        panel.set(xlabel=label)
        panel.grid(alpha=0.3)
    panels[0].set(ylabel=f"success on {EPISODES} held-out instances (%)", ylim=(20, 85))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle(f"Pocket policy, {len(TASKS)} task families ({DEVICE}), {DEVICES} slow devices on a virtual clock")
    figure.savefig(path, dpi=120)


def report(results: list[dict[str, Any]], options: argparse.Namespace, latency: float) -> dict[str, Any]:
    """Returns everything as JSON."""
    headline, details = compare(results)
    return {
        "benchmark": "efficiency", "headline": headline, "ratios": details, "levels": level_times(results),
        "command": _command(options),
        "device": f"{DEVICE}, {DEVICES} of them, latencies on a virtual clock",
        "latency": vars(Latency().scaled(latency)), "device_to_inference": None if options.latency else options.ratio,
        "minutes": options.minutes, "heldout_instances": EPISODES,
        "suite": f"AndroidWorld, {SUITE} task families ({DEVICE})",
        "settings": {name: method.settings for name, method in METHODS.items()}, "published": PUBLISHED,
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, torch {torch.__version__}, 1 thread",
        "runs": results,
    }  # fmt: skip


def _command(options: argparse.Namespace) -> str:
    seeds = " ".join(map(str, options.seeds))
    flags = (" --sweep" if options.sweep else "") + (" --published" if options.published else "")
    command = f"python -m benchmarks.efficiency{flags}"
    devices = f"--latency {options.latency:g}" if options.latency else f"--ratio {options.ratio:g}"
    return f"{command} --seeds {seeds} --minutes {options.minutes:g} {devices}"


def sweep(options: argparse.Namespace, latency: float) -> dict[str, Any]:
    """Returns runs with all learning rates of all methods, on our engine."""
    tried = [
        Run(name, seed, options.minutes, latency, overrides=tuple(overrides.items()))
        for name, method in METHODS.items()
        for overrides in method.sweep
        for seed in options.seeds
    ]
    results = play(tried, options.out)
    print(f"\n{'method (' + DEVICE + ')':16}{'tried':60}{'success at the end':>20}{'at its best':>13}")
    for result in results:
        best = success_over([result], "seconds")[1].max()
        print(f"{result['method']:16}{result['overrides']!s:60}{result['curve'][-1]['success']:20.1%}{best:13.1%}")
    settings = {name: method.settings for name, method in METHODS.items()}
    return {
        "benchmark": "efficiency sweep", "headline": best_ends(results), "command": _command(options),
        "settings": settings, "runs": results,
    }  # fmt: skip


def best_ends(results: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the best success at the end of a run, by method."""
    ends = [(result["method"], result["curve"][-1]["success"]) for result in results]
    return {
        f"success_{name.removesuffix('Agent').lower()}": max(end for method, end in ends if method == name)
        for name in METHODS
    }


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.efficiency", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--minutes", type=float, default=4.0, help="virtual minutes of each training run")
    parser.add_argument("--ratio", type=float, default=DEVICE_TO_INFERENCE, help="device time over inference time")
    parser.add_argument("--latency", type=float, help="latency scale; by default calibrated to --ratio")
    parser.add_argument("--published", action="store_true", help="add the baselines as published code runs them")
    parser.add_argument("--sweep", action="store_true", help="try the learning rates")
    parser.add_argument("--out", type=Path, default=Path("runs/efficiency"))
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run = json.loads(options.one)
        play_one(Run(**{**run, "overrides": tuple(map(tuple, run["overrides"]))}), options.out)
        return
    latency = options.latency or calibrated(DEVICES, ratio=options.ratio).step / Latency().step
    if options.sweep:
        results = sweep(options, latency)
    else:
        rows = [(name, False) for name in METHODS]
        rows += [(name, True) for name in METHODS if options.published and name != "CoachAgent"]
        runs = [Run(name, seed, options.minutes, latency, engine) for seed in options.seeds for name, engine in rows]
        results = report(play(runs, options.out), options, latency)
        print_table(results["runs"], results["ratios"])
        print_levels(results["levels"])
        plot(results["runs"], options.out / "efficiency.png")
    print(f"rerun: {_command(options)}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
