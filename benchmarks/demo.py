"""`make demo`: CoachAgent learns on the embedded phone, on a CPU, in minutes.

Trains the pocket policy on a mix of task families and evaluates it on held-out instances before and after, sampled and
greedy. Writes results.json, learning_curve.png, episode.png, TensorBoard logs and the trained agent to `runs/demo/`.
docs/demo.md says how much of the gain is learning from the environment.

    python -m benchmarks.demo                       # one seed
    python -m benchmarks.demo --seeds 0 1 2         # mean and spread
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from gymnasium.vector import VectorEnv  # noqa: E402
from transformers.utils import logging  # noqa: E402

import coach_gym  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.agents.evaluation import Evaluation, evaluate  # noqa: E402
from coach_gym.agents.training.callbacks import BaseCallback  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.splits import Unseen  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402
from coach_gym.episode import Episode  # noqa: E402
from coach_gym.recording.strip import episode_strip  # noqa: E402

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (after the choice of a backend without windows)

TASKS = (
    "CameraTakePhoto", "CameraTakeVideo", "ClockStopWatchRunning", "ContactsAddContact", "ContactsDeleteContact",
    "ContactsEditPhone", "ContactsFavorite", "ContactsPhoneNumberOf", "ExpenseChangeAmount", "ExpenseDeleteSingle",
    "FilesCreateFolder", "FilesDeleteFile", "MarkorCreateFolder", "MarkorCreateNote", "MarkorDeleteNewestNote",
    "OpenAppTaskEval", "RecipeDeleteSingleRecipe", "RecipeServingsOf", "SimpleSmsReplyMostRecent", "SimpleSmsSend",
    "SmsDeleteThread", "SmsSendToContact", "SmsTextOf", "SystemBluetoothTurnOff", "SystemBluetoothTurnOn",
    "SystemBrightnessMax", "SystemBrightnessMin", "SystemWifiTurnOff", "SystemWifiTurnOn", "TasksAddTask",
    "TasksCompleteTask", "TasksDeleteTask", "TurnOnWifiAndOpenApp",
)  # fmt: skip
"""Families of which the policy solved half or more greedily before its careless stage, so that there is something to
gain.
Measured on instances from seed 50,000 on; the demo evaluates on those from 0 on."""
SCREEN = (270, 600)
NUM_ENVS = 16
DEVICE = "embedded phone"
SUITE = "builtin"

SETTINGS: dict[str, Any] = {
    "learning_rate": 1.5e-4,  # a pocket model has millions of weights, not billions
    "critic_learning_rate": 1e-5,
    "critic_warmup_ratio": 0.0,  # the critic is pre-trained
    "reward_model": "pocket",
    "batch_size": 32,  # episodes per iteration
    "mini_batch_size": 4,  # many small steps, because large ones undo what was learned
    "max_new_tokens": 48,
    "max_prompt_length": 3072,
}


def main() -> None:
    """Runs the demo for every seed and prints the table."""
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    logging.disable_progress_bar()  # hides the bars of loading weights, not that of training
    runs = [run(seed, arguments) for seed in arguments.seeds]
    results = summary(runs, arguments)
    report = Path(arguments.out) / "results.json"
    report.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    plot(runs, Path(arguments.out) / "learning_curve.png")
    print_table(results)
    print(f"\nwritten: {arguments.out}/results.json, learning_curve.png, episode.png, agent/")
    print(f"watch:   tensorboard --logdir {arguments.out}/tensorboard")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="most minutes of training per seed")
    parser.add_argument("--steps", type=int, default=4000, help="environment steps of training")
    parser.add_argument("--episodes", type=int, default=165, help="held-out episodes per evaluation")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch")
    parser.add_argument("--out", default="runs/demo")
    parser.add_argument("--json", help="write the results to this file too")
    return parser.parse_args()


def make_envs(split: Split | None = None, unseen: Unseen = "instances") -> VectorEnv:
    """Makes the demo's environments, with those of its families that the split has."""
    families = load_suite("android_world", SUITE).of(split, unseen).families
    return gym.make_vec(
        "AndroidWorld-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point", suite=SUITE,
        tasks=[task for task in TASKS if task in families], screen_size=SCREEN, split=split, unseen=unseen,
    )  # fmt: skip


def run(seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Trains and evaluates with a seed."""
    out = Path(arguments.out)
    envs, heldout = make_envs(), make_envs("test", "words")
    agent = CoachAgent("pocket", envs, seed=seed, tensorboard_log=str(out / "tensorboard"), **SETTINGS)
    print(f"seed {seed}: evaluating the base policy on {arguments.episodes} held-out instances ({DEVICE}) ...")
    before = evaluate(agent, envs, arguments.episodes, deterministic=False)
    before_greedy = evaluate(agent, envs, arguments.episodes)
    before_unseen = evaluate(agent, heldout, arguments.episodes // 2, deterministic=False)
    print(f"seed {seed}: success {before.success_rate:.1%}; training for {arguments.minutes:g} minutes ...")
    started = time.perf_counter()
    curve = Curve(60 * arguments.minutes)
    agent.learn(arguments.steps, callback=[curve], tb_log_name=f"seed_{seed}", progress_bar=True)
    seconds = time.perf_counter() - started
    steps = agent.num_timesteps
    agent.save(out / "agent")
    agent = CoachAgent.load(out / "agent", env=envs)  # evaluates what was saved
    after = evaluate(agent, envs, arguments.episodes, deterministic=False)
    after_greedy = evaluate(agent, envs, arguments.episodes)
    after_unseen = evaluate(agent, heldout, arguments.episodes // 2, deterministic=False)
    record(agent, envs, out / "episode.png")
    envs.close()
    heldout.close()
    return {
        "seed": seed, "env_steps": steps, "training_seconds": round(seconds, 1), "curve": curve.points,
        "before": figures(before), "after": figures(after),
        "before_greedy": figures(before_greedy), "after_greedy": figures(after_greedy),
        "before_unseen_words": before_unseen.success_rate, "after_unseen_words": after_unseen.success_rate,
    }  # fmt: skip


class Curve(BaseCallback):
    """Stops training after some time, and records the success rate of roll-outs on the way."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.points: list[tuple[float, int, float]] = []
        self._deadline = 0.0

    def _on_training_start(self) -> None:
        self._deadline = time.perf_counter() + self.seconds

    def _on_step(self) -> bool:
        return time.perf_counter() < self._deadline

    def _on_rollout_end(self) -> None:
        elapsed = time.perf_counter() - self._deadline + self.seconds
        success = float(np.mean(self.model.ep_success_buffer)) if self.model.ep_success_buffer else float("nan")
        self.points.append((round(elapsed, 1), self.num_timesteps, success))


def figures(evaluation: Evaluation) -> dict[str, Any]:
    """Returns an evaluation as JSON."""
    return {
        "success_rate": evaluation.success_rate,
        "episodes": len(evaluation.judged),
        "faults": len(evaluation.results) - len(evaluation.judged),
        "mean_length": evaluation.mean_length,
        "per_task": {task: f"{solved}/{judged}" for task, (solved, judged) in evaluation.success_per_task.items()},
    }


def record(agent: CoachAgent, envs: VectorEnv, path: Path) -> None:
    """Plays held-out instances until one is solved, and draws its episode."""
    observations, _ = envs.reset(seed=50_000)
    state: tuple[Episode, ...] | None = None
    over = np.zeros(envs.num_envs, bool)
    while not over.all():
        actions, state = agent.predict(observations, state, episode_start=False if state else None)
        observations, rewards, terminations, truncations, _ = envs.step(actions)
        for index in np.flatnonzero((terminations | truncations) & ~over):
            state[index].outcome = float(rewards[index])
            if rewards[index] >= 1 and len(state[index].steps) > 3:
                episode_strip(state[index]).save(path)
                return
        over |= terminations | truncations


def summary(runs: list[dict[str, Any]], arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns all runs, their mean and spread, and what they were measured on."""
    gains = [100 * (run["after"]["success_rate"] - run["before"]["success_rate"]) for run in runs]
    return {
        "benchmark": "demo",
        "device": DEVICE,
        "suite": f"AndroidWorld, {SUITE} task families ({DEVICE}); not an AndroidWorld score",
        "command": f"python -m benchmarks.demo --seeds {' '.join(map(str, arguments.seeds))}"
        f" --minutes {arguments.minutes:g} --episodes {arguments.episodes}",
        "headline": {
            "success_before": _mean(runs, "before"),
            "success_after": _mean(runs, "after"),
            "greedy_before": _mean(runs, "before_greedy"),
            "greedy_after": _mean(runs, "after_greedy"),
            "gain_points": float(np.mean(gains)),
            "gain_points_std": float(np.std(gains)),
        },
        "tasks": list(TASKS),
        "settings": SETTINGS,
        "versions": {name: version(name) for name in ("coach-gym", "torch", "transformers", "gymnasium")},
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, {arguments.threads} thread(s)",
        "runs": runs,
    }


def _mean(runs: list[dict[str, Any]], when: str) -> float:
    return float(np.mean([run[when]["success_rate"] for run in runs]))


def print_table(results: dict[str, Any]) -> None:
    """Prints success before and after by task family, summed over seeds."""
    names = sorted({task for run in results["runs"] for task in run["before"]["per_task"]})
    print(f"\n{'task family (' + DEVICE + ')':44s}{'before':>10s}{'after':>10s}")
    for name in names:
        print(f"{name:44s}{_sum(results, 'before', name):>10s}{_sum(results, 'after', name):>10s}")
    head = results["headline"]
    for how, name in (("sampled", "success"), ("greedy", "greedy")):
        before, after = head[f"{name}_before"], head[f"{name}_after"]
        print(f"{'success on held-out instances, ' + how:44s}{before:>10.1%}{after:>10.1%}")
    unseen = [np.mean([run[f"{when}_unseen_words"] for run in results["runs"]]) for when in ("before", "after")]
    print(f"{'success with words of no training task':44s}{unseen[0]:>10.1%}{unseen[1]:>10.1%}")
    print(f"gain {head['gain_points']:+.1f} points, spread over {len(results['runs'])} seed(s) "
          f"{head['gain_points_std']:.1f}; rerun: {results['command']}")  # fmt: skip


def _sum(results: dict[str, Any], when: str, task: str) -> str:
    counts = [run[when]["per_task"].get(task, "0/0").split("/") for run in results["runs"]]
    return f"{sum(int(solved) for solved, _ in counts)}/{sum(int(judged) for _, judged in counts)}"


def plot(runs: list[dict[str, Any]], path: Path) -> None:
    """Draws the success rate of roll-outs over training time, with the held-out evaluations at both ends."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for run in runs:
        seconds, _, success = zip(*run["curve"], strict=True)
        minutes = np.array(seconds) / 60
        (line,) = axes.plot(minutes, 100 * np.array(success), label=f"seed {run['seed']}, roll-outs")
        ends = [100 * run["before"]["success_rate"], 100 * run["after"]["success_rate"]]
        axes.scatter([0, minutes[-1]], ends, color=line.get_color(), zorder=3, s=36, edgecolor="black")
    axes.scatter([], [], color="white", edgecolor="black", s=36, label="held-out instances")
    axes.set(xlabel="training time (minutes of CPU)", ylabel="success rate (%)", ylim=(0, 100))
    axes.set_title(f"CoachAgent, pocket policy, {len(TASKS)} task families ({DEVICE})")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    coach_gym.__version__  # noqa: B018  (importing the package registers its environments)
    main()
