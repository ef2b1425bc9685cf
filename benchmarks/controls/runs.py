"""One run of a method: trained for a number of device steps, and evaluated on the same instances as all others.

Every run is stored under a hash of all that decides it, at once or not at all, and is not repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from tqdm import tqdm
from transformers.utils import logging

from benchmarks.controls.methods import METHODS, SHARED, Method
from benchmarks.controls.work import Meter
from benchmarks.demo import make_envs
from coach_gym.agents import CoachAgent, Critic
from coach_gym.agents.evaluation import Evaluation, Predictor, evaluate
from coach_gym.agents.models.policy import POCKET, Policy
from coach_gym.agents.models.reward_models import SHIPPED_JUDGES
from coach_gym.agents.training.callbacks import BaseCallback
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.envs.tasks.words import Split
from coach_gym.episode import Episode

Result = dict[str, Any]
"""A run and what it measured, as JSON: `run`, `curve`, `instances`, `counts`, `seconds`, `log`."""

LOGGED = ("train/all_equal", "train/q_spread", "train/explained_variance", "train/value_loss", "train/entropy")
"""Diagnostics of the latest iteration that every point of a curve keeps."""


@dataclass(frozen=True)
class Run:
    """All that decides a run.

    Attributes:
        method: A key of `METHODS`.
        seed: Seed of the training and of sampled evaluations.
        steps: Device steps of the training, without those on forks.
        evaluations: Number of evaluations, evenly over the steps, the last one at the end.
        episodes: Instances of an evaluation, each played greedily and sampled.
        split: Split of the evaluation's instances; training's are always of `"train"`.
        settings: Arguments of the agent in addition to the method's.
        shuffled: Whether outcomes are dealt anew among the episodes of a roll-out before it is learned from.
        policy: The base: `"pocket"`, or a directory.
    """

    method: str
    seed: int
    steps: int
    evaluations: int
    episodes: int
    split: Split = "test"
    settings: dict[str, Any] = field(default_factory=dict)
    shuffled: bool = False
    policy: str = "pocket"

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the agent."""
        return {**SHARED, **METHODS[self.method].settings, **self.settings}

    def file(self) -> str:
        """Returns the name of the file that stores its result; other settings or weights give another one."""
        models = {self.policy, *(self.arguments.get(name) for name in ("critic", "reward_model", "judge"))}
        decides = [vars(self), self.arguments, sorted(weights(each) for each in models if each is not None)]
        digest = hashlib.blake2b(json.dumps(decides, sort_keys=True).encode(), digest_size=6).hexdigest()
        return f"{self.method}-{digest}-seed{self.seed}.json"


def weights(model: str) -> str:
    """Returns a digest of the files of a model's directory; names of shipped models stand for all of them."""
    folder = POCKET.parent if model in ("copy", "judge", *SHIPPED_JUDGES) else Path(model)
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*.safetensors")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def execute(run: Run, folder: Path | None = None) -> Result:
    """Trains, unless the method does not learn, and evaluates; saves the trained policy in the folder."""
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    method = METHODS[run.method]
    judges = make_envs(run.split)
    envs = make_envs("train") if method.learns else None
    agent = make_agent(run, envs)
    meter = Meter(agent)
    curve = Curve(agent, run, judges, meter)
    if envs is None:
        curve.points.append(curve.evaluate(_player(method, agent)) | {"steps": 0, "work": {}})
        meter.counts["steps"] = curve.played
    else:
        if run.shuffled:
            _shuffle_rewards(agent, run.seed)
        agent.learn(run.steps, callback=curve, log_interval=None)  # so that the log keeps its latest entry
        meter.counts["steps"] = curve.steps
        envs.close()
        if folder is not None:
            agent.policy.save(folder)
    judges.close()
    return {
        "run": {**vars(run), "label": method.label, "arguments": run.arguments}, "curve": curve.points,
        "instances": curve.instances, "counts": dict(meter.counts), "seconds": dict(meter.seconds),
    }  # fmt: skip


def make_agent(run: Run, envs: VectorEnv | None) -> OnlineAgent:
    """Makes the agent of a run."""
    arguments = run.arguments
    if arguments.get("critic") == "copy":
        arguments["critic"] = Critic.from_policy(Policy.load(run.policy))
    if arguments.get("critic") == "judge":
        arguments["critic"] = Critic.from_policy(Policy.load(POCKET.parent / "prm"))
    policy = Policy.load(run.policy)  # an object, because a name would bring its own settings along
    return METHODS[run.method].agent(policy, envs, seed=run.seed, **arguments)


def _player(method: Method, agent: OnlineAgent) -> Predictor:
    if not method.best_of:
        return agent
    assert isinstance(agent, CoachAgent)
    return agent.best_of(method.best_of, method.settings.get("max_k"), method.settings.get("vary_answers", False))


def _shuffle_rewards(agent: OnlineAgent, seed: int) -> None:
    """Lets an agent learn from outcomes, and from measured returns of candidates, that belong to others."""
    train, rng = agent.train, np.random.default_rng(seed)

    def shuffled(groups: list[list[Episode]]) -> None:
        episodes = [episode for group in groups for episode in group]
        outcomes = [episode.outcome for episode in episodes]
        for episode, number in zip(episodes, rng.permutation(len(episodes)), strict=True):
            episode.outcome = outcomes[number]
        train(groups)

    agent.train = shuffled  # type: ignore[method-assign]
    if not isinstance(agent, CoachAgent):
        return
    measure = agent.measure

    def mismeasured(episodes: list[Episode]) -> None:
        measure(episodes)
        measured = [c for e in episodes for s in e.steps for c in s.candidates if c.return_ is not None]
        returns = [candidate.return_ for candidate in measured]
        for candidate, number in zip(measured, rng.permutation(len(measured)), strict=True):
            candidate.return_ = returns[number]

    agent.measure = mismeasured  # type: ignore[method-assign]


class Curve(BaseCallback):
    """Evaluates evenly over the steps of a training and at its end; nothing of it enters the training.

    Attributes:
        points: `steps`, those on forks included; `work` so far; and success of every instance, `greedy` and `sampled`:
            `1`, `0`, or `-` without a verdict.
        instances: Task families of the instances, in order.
        played: Device steps of all evaluations.
    """

    def __init__(self, agent: OnlineAgent, run: Run, judges: VectorEnv, meter: Meter) -> None:
        super().__init__()
        self.agent, self.run, self.judges, self.meter = agent, run, judges, meter
        self.points: list[dict[str, Any]] = []
        self.instances: list[str] = []
        self.played = 0

    def evaluate(self, player: Predictor) -> dict[str, str]:
        """Returns success on every instance; sampling has its own random numbers, the same at every point."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.run.seed)
            found = {
                name: evaluate(player, self.judges, self.run.episodes, deterministic)
                for name, deterministic in (("greedy", True), ("sampled", False))
            }
        self.instances = [result.task for result in found["greedy"].results]
        self.played += sum(result.length for evaluation in found.values() for result in evaluation.results)
        return {name: _bits(evaluation) for name, evaluation in found.items()}

    @property
    def steps(self) -> int:
        """Device steps of the training so far, those on forks included."""
        return self.agent.num_timesteps + self.agent.num_fork_steps

    def _on_rollout_start(self) -> None:
        due = (len(self.points) + 1) * self.run.steps / self.run.evaluations
        if self.num_timesteps >= due and len(self.points) + 1 < self.run.evaluations:
            self._add()

    def _on_training_end(self) -> None:
        self._add()

    def _add(self) -> None:
        work = self.meter.snapshot() | {"steps": self.steps}
        with self.meter.stopped():
            point = self.evaluate(self.agent)
        log = self.agent.logger.name_to_value
        logged = {name: round(float(log[name]), 4) for name in LOGGED if name in log}
        self.points.append({"steps": self.steps, "work": work, **point, "log": logged})


def _bits(evaluation: Evaluation) -> str:
    return "".join("-" if result.success is None else str(int(result.success)) for result in evaluation.results)


def play(runs: Sequence[Run], out: Path, jobs: int = 1) -> list[Result]:
    """Returns the results of runs, which play in processes of their own unless `out` has them already.

    Args:
        runs: The runs, in the order in which they start. Methods that take turns meet the same load of the machine.
        out: Folder of the results.
        jobs: Runs at a time.
    """
    out.mkdir(parents=True, exist_ok=True)
    missing = [run for run in runs if not (out / run.file()).exists()]
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        waiting = [pool.submit(play_one, run, out) for run in missing]
        for done in tqdm(as_completed(waiting), total=len(missing), desc="runs", unit="run"):
            done.result()
    return [json.loads((out / run.file()).read_text("utf-8")) for run in runs]


def play_one(run: Run, out: Path) -> None:
    """Executes a run and stores its result, with the trained policy in a folder of the same name."""
    path = out / run.file()
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(execute(run, path.with_suffix(""))), encoding="utf-8")
    partial.rename(path)
