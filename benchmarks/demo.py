"""`make demo`: CoachAgent learns on the embedded phone, on a CPU, in minutes.

Trains the pocket policy on training instances, keeps the checkpoint that does best on validation, and measures base and
agent on test instances, sampled and greedy. A judge, which forks of the same families' training instances have taught,
scores the candidates and chooses which one is executed. Controls stand beside: the base that acts by the judge's
choice, or by the shipped critic's, without any training; and the same practice without the judge, where the shipped
critic scores, frozen. Writes results.json, learning_curve.png, episode.png, TensorBoard logs and the trained agent to
`runs/demo/`. docs/results/demo.md says how much of the gain is learning from the environment.

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
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from gymnasium.vector import VectorEnv  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.figures.style import Theme, plt, save  # noqa: E402
from coach_gym.agents import CoachAgent  # noqa: E402
from coach_gym.agents.evaluation import Evaluation, evaluate  # noqa: E402
from coach_gym.agents.training.callbacks import BaseCallback  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.splits import Selection, Unseen  # noqa: E402
from coach_gym.envs.tasks.words import Split  # noqa: E402
from coach_gym.envs.tuning import require_validation  # noqa: E402
from coach_gym.episode import Episode  # noqa: E402
from coach_gym.recording.strip import episode_strip  # noqa: E402

TASKS = (
    "ContactsPhoneNumberOf", "MarkorCreateNote", "MarkorNoteLine", "RecipeServingsOf", "SmsSendToContact",
    "TasksCompleteTask", "TasksDeleteTask", "TurnOnWifiAndOpenApp",
)  # fmt: skip
"""The families that practice can improve most: of those that the pocket policy was shown, these have the largest
difference between the best of eight tries and one try on training instances (`python -m benchmarks.controls.headroom`).
SystemBrightnessMax and SystemBrightnessMin would be among them, but all their instances want the same touches, so that
they are solved all or not at all.
"""
CHOSEN = load_suite("android_world").only(TASKS)
WORDED = tuple(
    name for name, family in CHOSEN.families.items() if Selection("test", "words").has(family, CHOSEN.apart)
)
"""Those of them whose instances show words."""
SCREEN = (270, 600)
NUM_ENVS = 16
DEVICE = "embedded phone"
SUITE = "builtin"
BEST_OF = 8  # responses, of which the base executes the best by Q in one control
VALIDATION, EVALUATIONS = 105, 4  # episodes per evaluation, and evaluations after the first
WORDS = {"greedy": "unseen_words", "sampled": "unseen_words_sampled"}
HOW, WHEN = ("greedy", "sampled"), ("before", "after", "after_frozen_critic")
Point = tuple[float, int, float]

SETTINGS: dict[str, Any] = {
    "learning_rate": 1.5e-4,  # a pocket model has millions of weights, not billions
    "critic_learning_rate": 5e-5,
    "critic_warmup_ratio": 0.0,  # the critic is pre-trained
    "outcome_correction": 1.0,  # and not to be trusted blindly
    "negative_weight": 0.1,
    "self_imitation": 100,
    "reward_model": "pocket",
    "batch_size": 32,  # episodes per iteration
    "mini_batch_size": 8,
    "max_new_tokens": 48,
    "max_prompt_length": 3072,
}

PRACTICE: dict[str, Any] = {
    "batch_size": 24,
    "mini_batch_size": 4,  # twice as many updates as of 8, for the same work
    "curriculum": 2.0,  # families that are solved less are played more
    "self_imitation": 800,
    "max_replayed": 160,  # drawn anew in every iteration, which would otherwise take ever longer
    "reword": 0.5,  # half of these in other words, so that what is to be typed is read
    "outcome_correction": 0.0,
    "collection": "rounds",  # a seed repeats its run
}
"""What the demo's trainings add to `SETTINGS`, which other benchmarks share, or change in them."""
JUDGED: dict[str, Any] = {
    "reward_model": "pocket-judge-demo", "scorer": "reward_model", "execute": "best",
    "k": 4, "max_k": 16, "vary_answers": True,
}  # fmt: skip
FROZEN: dict[str, Any] = {"critic_learning_rate": 0.0}


def main() -> None:
    """Runs the demo for every seed and prints the table."""
    arguments = _arguments()
    quiet()
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(arguments.processes, get_context("spawn")) as processes:
        runs = [run(seed, arguments, processes) for seed in arguments.seeds]
    results = summary(runs, arguments)
    report = Path(arguments.out) / "results.json"
    report.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    plot(runs, Path(arguments.out) / "learning_curve.png")
    print_table(results)
    first = f"{arguments.out}/seed_{arguments.seeds[0]}/agent"
    print(f"\nwritten: {arguments.out}/results.json, learning_curve.png, episode.png, {first}/")
    print(f"watch:   tensorboard --logdir {arguments.out}/tensorboard")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--minutes", type=float, default=13.0, help="most minutes of a training")
    parser.add_argument("--steps", type=int, default=3600, help="environment steps of a training")
    parser.add_argument("--episodes", type=int, default=140, help="test instances per evaluation")
    parser.add_argument("--processes", type=int, default=2, help="trainings at a time, one core each")
    parser.add_argument("--out", default="runs/demo")
    parser.add_argument("--json", help="write the results to this file too")
    return parser.parse_args()


def make_envs(split: Split = "train", unseen: Unseen = "instances") -> VectorEnv:
    """Makes the demo's environments: instances of one split."""
    return gym.make_vec(
        "AndroidWorld-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point",
        suite=SUITE, tasks=WORDED if unseen == "words" else TASKS, screen_size=SCREEN, split=split, unseen=unseen,
    )  # fmt: skip


def run(seed: int, arguments: argparse.Namespace, processes: Executor) -> dict[str, Any]:
    """Trains with a seed, and beside it with a frozen critic; measures the base and both agents."""
    out = Path(arguments.out)
    print(f"seed {seed}: training, beside it the control with a frozen critic; success on validation ({DEVICE}):")
    training, control = (processes.submit(train, seed, frozen, arguments) for frozen in (False, True))
    before = processes.submit(measure, "pocket", seed, arguments.episodes, best_of=True)
    frozen_path, *_ = control.result()  # it learns in fewer minutes
    frozen = processes.submit(measure, frozen_path, seed, arguments.episodes)
    path, curve, seconds, steps = training.result()
    after = [processes.submit(measure, path, seed, arguments.episodes, (how,)) for how in HOW]
    record(CoachAgent.load(path), out / "episode.png")
    return {
        "seed": seed, "env_steps": steps, "training_seconds": round(seconds, 1), "curve": curve,
        "before": before.result(), "after": after[0].result() | after[1].result(),
        "after_frozen_critic": frozen.result(),
    }  # fmt: skip


def train(
    seed: int, frozen: bool, arguments: argparse.Namespace, **more: Any
) -> tuple[Path, list[Point], float, int]:
    """Trains an agent.

    Args:
        seed: Seed of the agent.
        frozen: Trains the control, without the judge.
        arguments: Steps, most minutes, and the folder to write to.
        more: Further arguments of the agent.

    Returns:
        The directory of the best checkpoint, the success on validation over time, and the seconds and steps taken.
    """
    quiet()
    out = Path(arguments.out) / f"seed_{seed}{'_frozen' if frozen else ''}"
    envs, validation = make_envs(), make_envs("validation")
    settings = SETTINGS | PRACTICE | (FROZEN if frozen else JUDGED) | more
    agent = CoachAgent("pocket", envs, seed=seed, tensorboard_log=str(out.parent / "tensorboard"), **settings)
    curve = Curve(validation, out / "agent", 60 * arguments.minutes, arguments.steps / EVALUATIONS)
    started = time.perf_counter()
    agent.learn(arguments.steps, callback=[curve], tb_log_name=out.name, progress_bar=not frozen)
    seconds = time.perf_counter() - started
    envs.close()
    validation.close()
    return out / "agent", curve.points, seconds, agent.num_timesteps


def measure(
    source: str | Path, seed: int, episodes: int, ways: Sequence[str] = HOW, best_of: bool = False
) -> dict[str, Any]:
    """Measures a saved agent, or the shipped policy, on test instances, greedily or sampled or both."""
    quiet()
    envs, words = make_envs("test"), make_envs("test", "words")
    if source == "pocket":
        agent = CoachAgent("pocket", envs, seed=seed, **SETTINGS)
    else:
        agent = CoachAgent.load(source, env=envs)
    found = {}
    for how in ways:
        found[how] = figures(evaluate(agent, envs, episodes, how == "greedy"))
        found[WORDS[how]] = figures(evaluate(agent, words, episodes // 2, how == "greedy"))
    if best_of:
        judged = CoachAgent("pocket", envs, seed=seed, **SETTINGS | PRACTICE | JUDGED)
        by_judge = judged.best_of(JUDGED["k"], JUDGED["max_k"], JUDGED["vary_answers"])
        players = {"best_of": agent.best_of(BEST_OF), "best_by_judge": by_judge}
        for name, player in players.items():
            found[name] = figures(evaluate(player, envs, episodes, deterministic=False))
    envs.close()
    words.close()
    return found


def quiet() -> None:
    """Prepares a process: one thread, and no bars of loading weights."""
    torch.set_num_threads(1)
    logging.disable_progress_bar()


class Curve(BaseCallback):
    """Measures success on validation, sampled, keeps the best agent, of equals the later, and stops after some time.

    Args:
        envs: Validation instances.
        best: Directory of the best agent.
        seconds: Most seconds of training, without the evaluations.
        every: Environment steps between two evaluations.

    Attributes:
        points: Seconds, steps and success of each evaluation.
    """

    def __init__(self, envs: VectorEnv, best: Path, seconds: float, every: float) -> None:
        super().__init__()
        self.envs, self.best, self.seconds, self.every = envs, best, seconds, every
        self.points: list[Point] = []
        self._begun = self._paused = 0.0

    def _on_training_start(self) -> None:
        require_validation(self.envs)
        self._begun = time.perf_counter()

    def _on_step(self) -> bool:
        return self._elapsed < self.seconds

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= len(self.points) * self.every:
            self._evaluate()

    def _on_training_end(self) -> None:
        self._evaluate()

    @property
    def _elapsed(self) -> float:
        return time.perf_counter() - self._begun - self._paused

    def _evaluate(self) -> None:
        elapsed, started = self._elapsed, time.perf_counter()
        success = evaluate(self.model, self.envs, VALIDATION, deterministic=False).success_rate
        if not self.points or success >= max(best for *_, best in self.points):
            self.model.save(self.best)
        self.points.append((round(elapsed, 1), self.num_timesteps, success))
        self._paused += time.perf_counter() - started


def figures(evaluation: Evaluation) -> dict[str, Any]:
    """Returns an evaluation as JSON."""
    return {
        "success_rate": evaluation.success_rate,
        "episodes": len(evaluation.judged),
        "faults": len(evaluation.results) - len(evaluation.judged),
        "mean_length": evaluation.mean_length,
        "per_task": {task: f"{solved}/{judged}" for task, (solved, judged) in evaluation.success_per_task.items()},
    }


def record(agent: CoachAgent, path: Path) -> None:
    """Plays validation instances until one is solved, and draws its episode."""
    envs = make_envs("validation")
    observations, _ = envs.reset(seed=50_000)
    state: tuple[Episode, ...] | None = None
    over = np.zeros(envs.num_envs, bool)
    while not over.all():
        actions, state = agent.predict(observations, state, episode_start=False if state else None, deterministic=True)
        observations, rewards, terminations, truncations, _ = envs.step(actions)
        for index in np.flatnonzero((terminations | truncations) & ~over):
            state[index].outcome = float(rewards[index])
            if rewards[index] >= 1 and len(state[index].steps) > 3:
                episode_strip(state[index]).save(path)
                envs.close()
                return
        over |= terminations | truncations
    envs.close()


def summary(runs: list[dict[str, Any]], arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns all runs, their mean and spread, and what they were measured on."""
    gains = {how: [100 * (rate(run, "after", how) - rate(run, "before", how)) for run in runs] for how in HOW}
    over_frozen = [
        100 * (rate(run, "after", how) - rate(run, "after_frozen_critic", how)) for run in runs for how in HOW
    ]
    return {
        "benchmark": "demo",
        "device": DEVICE,
        "suite": f"AndroidWorld, {SUITE} task families ({DEVICE}); not an AndroidWorld score",
        "split": "test, unseen instances; trained on train, checkpoints chosen on validation",
        "command": f"python -m benchmarks.demo --seeds {' '.join(map(str, arguments.seeds))}"
        f" --steps {arguments.steps} --minutes {arguments.minutes:g} --episodes {arguments.episodes}",
        "headline": {
            **{f"{how}_{when}": mean(runs, when, how) for how in HOW for when in ("before", "after")},
            **{f"{how}_frozen_critic": mean(runs, "after_frozen_critic", how) for how in HOW},
            f"best_of_{BEST_OF}_before": mean(runs, "before", "best_of"),
            "best_by_judge_before": mean(runs, "before", "best_by_judge"),
            **{f"{named}_{when}": mean(runs, when, named) for named in WORDS.values() for when in ("before", "after")},
            **{f"gain_{how}_points": float(np.mean(gains[how])) for how in HOW},
            **{f"gain_{how}_points_std": float(np.std(gains[how])) for how in HOW},
            "over_frozen_critic_points": float(np.mean(over_frozen)),
        },
        "tasks": list(TASKS),
        "settings": SETTINGS | PRACTICE | JUDGED,
        "versions": {name: version(name) for name in ("coach-gym", "torch", "transformers", "gymnasium")},
        "machine": f"{platform.machine()}, Python {sys.version.split()[0]}, 1 thread a process",
        "runs": runs,
    }  # fmt: skip


def rate(run: dict[str, Any], when: str, how: str) -> float:
    """Returns one success rate of a run."""
    success: float = run[when][how]["success_rate"]
    return success


def mean(runs: list[dict[str, Any]], when: str, how: str) -> float:
    """Returns a success rate's mean over runs."""
    return float(np.mean([rate(run, when, how) for run in runs]))


def print_table(results: dict[str, Any]) -> None:
    """Prints success before and after by task family, greedy, summed over seeds; then all success rates."""
    runs, head = results["runs"], results["headline"]
    names = sorted({task for run in runs for task in run["before"]["greedy"]["per_task"]})
    print(f"\n{'task family, greedy (' + DEVICE + ')':48s}{'before':>10s}{'after':>10s}{'frozen':>10s}")
    for name in names:
        print(f"{name:48s}" + "".join(f"{_sum(runs, when, name):>10s}" for when in WHEN))
    for label, names in {"test instances": dict(zip(HOW, HOW, strict=True)), "unseen words": WORDS}.items():
        for how, name in names.items():
            shown = f"success on {label}, {how}"
            print(f"{shown:48s}" + "".join(f"{mean(runs, when, name):>10.1%}" for when in WHEN))
    best = {f"best of {BEST_OF} responses by Q": f"best_of_{BEST_OF}", "the judge's choice": "best_by_judge"}
    for label, name in best.items():
        print(f"{f'base, {label}, no training':48s}{head[f'{name}_before']:>10.1%}")
    for how in HOW:
        print(f"gain, {how}: {head[f'gain_{how}_points']:+.1f} points, spread over {len(runs)} seed(s) "
              f"{head[f'gain_{how}_points_std']:.1f}")  # fmt: skip
    print(f"over the frozen critic: {head['over_frozen_critic_points']:+.1f} points; rerun: {results['command']}")


def _sum(runs: list[dict[str, Any]], when: str, task: str) -> str:
    counts = [run[when]["greedy"]["per_task"].get(task, "0/0").split("/") for run in runs]
    return f"{sum(int(solved) for solved, _ in counts)}/{sum(int(judged) for _, judged in counts)}"


def plot(runs: list[dict[str, Any]], path: Path) -> None:
    """Draws success on validation over environment steps, with the test evaluations at both ends, in light and dark."""
    save(partial(_learning_curve, runs), path)


def _learning_curve(runs: list[dict[str, Any]], theme: Theme) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 4))
    markers = {"sampled": "o", "greedy": "^"}
    for number, run in enumerate(runs):
        _, steps, success = zip(*run["curve"], strict=True)
        label = None if number else "validation, sampled, a line per seed"
        axes.plot(steps, 100 * np.array(success), color=theme.cycle[0], alpha=0.5, label=label)
        kept = max(zip(success, steps, strict=True))[1]
        for color, (how, marker) in zip(theme.cycle, markers.items(), strict=False):
            ends = [100 * rate(run, when, how) for when in ("before", "after")]
            label = None if number else f"test, {how}"
            axes.scatter([0, kept], ends, color=color, zorder=3, s=30, marker=marker, label=label)
    axes.set(xlabel="environment steps", ylabel="success rate (%)", ylim=(0, 100))
    axes.set_title(f"CoachAgent, pocket policy, {len(TASKS)} task families ({DEVICE})")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    main()
