"""Runs an evaluation: every task of a suite in order, on any number of devices, resumable."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from tqdm import tqdm

from coach_gym.agents.evaluation import HasPolicy, Predictor, origin_of, step_of
from coach_gym.agents.judging.chat import spent
from coach_gym.agents.judging.verifiers import RULES, OutcomeVerifier, Rules, ask_verifier, load_verifier
from coach_gym.agents.playing.rollout import Attempt, Rollout, settle
from coach_gym.checks import MOST, require_at_most, require_whole
from coach_gym.dialects.names import settings_of
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.make import open_fleets
from coach_gym.envs.suites.in_order import InOrder
from coach_gym.envs.suites.official_lab.metrics import operation_ratio, same_screen
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.episode import Episode, Step
from coach_gym.evaluation.players import Player, PredictorPlayer, as_player
from coach_gym.evaluation.records import Record, RecordFile
from coach_gym.evaluation.report import Report
from coach_gym.recording.keeper import EpisodeKeeper


def evaluate_suite(
    model: Player | Predictor,
    env: str = "AndroidWorld-v0",
    *,
    out: str | Path,
    agent: str = "",
    runs: int = 1,
    num_envs: int = 1,
    seed: int = 30,
    deterministic: bool = True,
    outcome_verifier: OutcomeVerifier | str = RULES,
    env_settings: Mapping[str, Any] | None = None,
    keep_episodes: bool = True,
    progress_bar: bool = False,
) -> Report:
    """Plays every task of a suite `runs` times, in order, and continues where an interruption has left off.

    Episodes without a verdict, because a device or a judge failed, are played again by the next call.

    Args:
        model: An agent, or a player such as `ExpertPlayer`.
        env: Id of the environment; its suite, split and tasks decide what is played.
        out: File of results, one line of JSON per episode. An existing one is continued.
        agent: Name of the agent, for the reports.
        runs: Times that every task is played, each time with other parameters.
        num_envs: Devices, which play independently of one another.
        seed: Seed of the instances; 30 is that of AndroidWorld's runner.
        deterministic: Whether an agent takes its most likely response instead of drawing one.
        outcome_verifier: Judges as in `OnlineAgent`, for tasks without a rule.
        env_settings: Arguments of the environment; `device` may be a TOML file that describes a fleet.
        keep_episodes: Writes the episodes to a folder beside `out`, for `coach-gym view`: `results.episodes` for
            `results.jsonl`.
        progress_bar: Shows a progress bar.

    Returns:
        The report of all episodes in the file.

    Raises:
        ValueError: The file belongs to another evaluation, there would be too many episodes, or several environments
            would share one real device.
    """
    require_whole(1, runs=runs, num_envs=num_envs)
    settings = dict(env_settings or {})
    close_fleets = open_fleets([settings], "thread", num_envs)
    make = partial(gym.make, env, disable_env_checker=True, **settings)
    suite = suite_of(make())
    require_at_most(MOST // len(suite.families), runs=runs)
    judge = outcome_verifier if isinstance(outcome_verifier, str) else type(outcome_verifier).__name__
    about = {
        "agent": agent, "env": env, "seed": seed, "deterministic": deterministic, "settings": _plain(env_settings),
        "outcome_verifier": judge, "dialect": _dialect(model),
    }  # fmt: skip
    file = RecordFile(Path(out), {**about, "suite": suite.source, "tasks": list(suite.families)})
    numbers = [n for n in range(runs * len(suite.families)) if n not in file.records or not file.records[n].valid]
    verifier = load_verifier(outcome_verifier)
    started, spent_before = time.perf_counter(), spent()
    number = min(num_envs, max(1, len(numbers)))
    envs = AndroidVectorEnv([lambda: InOrder(make(), seed)] * number, on_close=close_fleets)
    kept = Path(out).with_name(f"{Path(out).name.removesuffix('.jsonl')}.episodes") if keep_episodes else None
    try:
        with EpisodeKeeper(kept) as keeper:
            keeping = _Keeping(keeper, file, model, make(), seed)
            playing = _Playing(as_player(model, deterministic), verifier, suite, numbers, keeping)
            with tqdm(total=len(numbers), unit="episode", disable=not progress_bar) as bar:
                for record, episode in playing.records(envs):
                    keeping.keep(record, episode)
                    bar.update()
    finally:
        settle(envs)
        envs.close()
    seconds, usage = time.perf_counter() - started, spent() - spent_before
    played = [file.records[number] for number in sorted(file.records)]
    return Report(played, len(suite.families), agent, env, suite.source, seconds, usage)


class _Keeping:
    """Keeps the episodes of an evaluation, each before its record.

    Its identifier says the episode's number and which attempt it was: one that is played again, because a process was
    killed before it wrote the record, takes the place of the first.
    """

    def __init__(
        self, keeper: EpisodeKeeper, file: RecordFile, model: Player | Predictor, env: gym.Env, seed: int
    ) -> None:
        self.keeper = keeper
        self.file = file
        self.origin = origin_of(model.model if isinstance(model, PredictorPlayer) else model, env)
        self.order = InOrder(env, seed)

    def keep(self, record: Record, episode: Episode) -> None:
        seed, options = self.order.instance(record.number)
        origin = replace(self.origin, reset={"seed": seed, "options": options})
        id = f"{record.number:06d}-{self.file.attempts[record.number]}"
        self.keeper.keep(episode, origin, partial(self.file.add, record), id)


@dataclass
class _Track:
    """What is kept of an episode while it is played."""

    screenshot: np.ndarray
    goal: str
    started: float = field(default_factory=time.perf_counter)
    idle: list[bool] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


class _Playing:
    """Plays the episodes with some numbers."""

    def __init__(
        self,
        player: Player,
        verifier: OutcomeVerifier,
        suite: Suite,
        numbers: Sequence[int],
        keeping: _Keeping,
    ) -> None:
        self.keeping = keeping
        self.player = player
        self.verifier = verifier
        self.suite = suite
        self.numbers = numbers
        self.tracks: dict[int, _Track] = {}

    def records(self, envs: AndroidVectorEnv) -> Iterator[tuple[Record, Episode]]:
        """Yields every episode with its record, as it ends."""
        rollout = Rollout(envs, self.numbers)
        while rollout.waiting or rollout.busy:
            if waiting := rollout.waiting:
                actions = self.player.act(waiting)
                for attempt, action in zip(waiting, actions, strict=True):
                    self._before(attempt, action)
                rollout.send(waiting, actions)
            transition = rollout.receive(1)
            for attempt in transition.finished:
                yield self._record(attempt, transition.infos[attempt.index]), attempt.episode

    def _before(self, attempt: Attempt, action: str) -> None:
        """Notes the screen on which an action is taken."""
        shown = attempt.observation.screenshot
        track = self.tracks.get(attempt.number)
        if track is None:
            track = self.tracks[attempt.number] = _Track(shown, attempt.episode.goal)
        else:
            track.idle.append(same_screen(track.screenshot, shown))
            track.screenshot = shown
        if self.keeping.keeper.keeps or not isinstance(self.verifier, Rules):
            track.steps.append(step_of(attempt, action))

    def _record(self, attempt: Attempt, info: dict[str, Any]) -> Record:
        episode, track = attempt.episode, self.tracks.pop(attempt.number)
        episode.steps = track.steps
        if not isinstance(self.verifier, Rules) and episode.fault is None:
            episode.outcome = ask_verifier(self.verifier, [episode])[0]
        number = self.numbers[attempt.number]
        judged = info.get("judged")
        return Record(
            number=number,
            run=number // len(self.suite.families),
            task=episode.task,
            params=episode.params,
            goal=episode.goal,
            difficulty=info.get("difficulty", ""),
            kind=self.suite.families[episode.task].kind if episode.task in self.suite.families else "",
            score=episode.outcome,
            steps=attempt.length,
            seconds=round(time.perf_counter() - track.started, 3),
            operations=operation_ratio(track.idle),
            device=info.get("device", ""),
            fault=episode.fault,
            judged=None if judged is None else dict(judged),
            judged_steps=info.get("judged_steps"),
            human_steps=info.get("human_steps"),
        )


def suite_of(env: gym.Env) -> Suite:
    """Returns the tasks of an environment.

    Raises:
        ValueError: It has none to play in order.
    """
    inner = env.unwrapped
    if not isinstance(inner, AndroidEnv):
        raise ValueError(
            f"{type(inner).__name__} has no suite of tasks to play in order; pass AndroidWorld-v0, AndroidLab-v0 or "
            f"AndroidSight-v0, or use evaluate_policy"
        )
    return inner.suite


def _dialect(model: Player | Predictor) -> dict[str, Any] | str | None:
    """Settings of a model's dialect, or the class of one that has no name; None if the model has none."""
    inner = model.model if isinstance(model, PredictorPlayer) else model
    dialect = inner.policy.dialect if isinstance(inner, HasPolicy) else getattr(inner, "dialect", None)
    try:
        return None if dialect is None else settings_of(dialect)
    except ValueError:
        return type(dialect).__name__


def _plain(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Settings as JSON; objects by the names of their classes."""
    return {
        name: value if isinstance(value, str | int | float | bool | list | tuple | None) else type(value).__name__
        for name, value in (settings or {}).items()
    }
