"""Plays held-out instances and gathers, for every state, what is estimated and what is true."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import get_args

import torch
from torch import Tensor
from tqdm import tqdm

from benchmarks.demo import SCREEN, SETTINGS, SUITE, TASKS
from coach_gym.agents import CoachAgent
from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.models.reward_models import StepwisePRM
from coach_gym.agents.models.tree import log_probs
from coach_gym.agents.playing.forks import State, measure_q, play_states
from coach_gym.agents.playing.player import PolicyPlayer, Situation
from coach_gym.agents.playing.scorers import VerdictScorer, sureness
from coach_gym.agents.pocket.solutions import good_candidates
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.splits import Unseen
from coach_gym.envs.tasks.words import Split
from coach_gym.episode import Candidate, Episode

GAMMA = 0.95
FIRST_SEED = 20_000
"""Of the instances of every family, below the seeds that training draws (`batching.FIRST_TRAINING_SEED`)."""


@dataclass(frozen=True)
class Setting:
    """What is played.

    Attributes:
        families: Task families; None for those of the demo's that the split has.
        split: Split of the instances; None for the whole suite.
        unseen: What training lacks of them.
        instances: Instances of each family for every seed.
        k: Candidates per state.
        hot: Temperature of all candidates but the executed one; None for the agent's own.
        distinct: Draws all candidates but the executed one without replacement.
        repeats: Episodes per distinct candidate in each of the two measurements of Q; 0 measures no Q.
        solve: Whether to find out which candidates are good, and to ask the process reward model.
    """

    families: Sequence[str] | None = None
    split: Split | None = "test"
    unseen: Unseen = "instances"
    instances: int = 2
    k: int = 4
    hot: float | None = None
    distinct: bool = False
    repeats: int = 1
    solve: bool = True

    @property
    def chosen(self) -> Sequence[str]:
        """The families that are played."""
        there = load_suite("android_world", SUITE).of(self.split, self.unseen).families
        return self.families or [family for family in TASKS if family in there]


@dataclass
class Record:
    """A state and its k candidates, the first of which was executed.

    Attributes:
        family: The task family.
        episode: Identifies the episode.
        texts: The candidates.
        q: The critic's Q as advantages are computed from it: 0 for a response that is no action.
        log_prob: Log-probability of every candidate.
        measured: Measured Q of every candidate; nan if every attempt ended in a fault.
        again: The same, measured independently.
        good: Whether every candidate is good, by `solutions.good_candidates`: 1, 0, or nan for unknown.
        returned: Return of the executed action as the agent learns from it; None if unknown.
        verdict: The process reward model's verdict on it, 1 or 0; None if it gave none.
        verdicts: How sure it is that each candidate is good, as if that were Q: 0 for a response that is no action,
            `UNKNOWN` without a verdict.
    """

    family: str
    episode: int
    texts: list[str]
    q: list[float]
    log_prob: list[float]
    measured: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    good: list[float] = field(default_factory=list)
    returned: float | None = None
    verdict: float | None = None
    verdicts: list[float] = field(default_factory=list)

    @property
    def truth(self) -> list[float]:
        """The mean of both measurements."""
        return [(one + other) / 2 for one, other in zip(self.measured, self.again, strict=True)]


def load_agent(source: str, seed: int = 0) -> CoachAgent:
    """Returns the shipped models with the demo's settings for `"pocket"`, else the agent saved in a directory."""
    if source == "pocket":
        return CoachAgent("pocket", None, seed=seed, device="cpu", **SETTINGS)
    return CoachAgent.load(source, device="cpu", seed=seed)


def records(agent: CoachAgent, seed: int, setting: Setting) -> list[Record]:
    """Plays and measures with one seed, which chooses the instances and the draws."""
    agent.set_random_seed(seed)
    played = list(_play(agent, seed, setting))
    found = [_estimate(agent, number, *each) for number, each in enumerate(played)]
    if setting.solve:
        for (episode, states), along in zip(tqdm(played, "solving", unit="episode"), found, strict=True):
            _judge(agent, episode, states, along)
    gathered = [record for along in found for record in along]
    if setting.repeats:
        _measure(agent.player, [state for _, states in played for state in states], gathered, setting.repeats)
    for record in gathered:
        record.episode += seed * len(played)
    return gathered


def _play(agent: CoachAgent, seed: int, setting: Setting) -> Iterator[tuple[Episode, list[State]]]:
    """Plays all instances of a seed; episodes that broke are left out."""
    player = _Contrasting(agent.player, setting)
    for family in tqdm(setting.chosen, f"seed {seed}: playing", unit="family"):
        env = AndroidEnv(screen_size=SCREEN, tasks=(family,), split=setting.split, unseen=setting.unseen)
        for number in range(setting.instances):
            episode, states = play_states(player, env, FIRST_SEED + seed * setting.instances + number)
            if episode.outcome is not None:
                yield episode, states
        env.close()


class _Contrasting(PolicyPlayer):
    """Draws the executed candidate as the agent does, and the others as the setting says."""

    def __init__(self, player: PolicyPlayer, setting: Setting) -> None:
        super().__init__(player.policy, player.generator, player.temperature, player.max_new_tokens)
        self.k = setting.k
        self.others = copy(self)
        self.others.k = setting.k - 1
        self.others.rollout_temperature = setting.hot or player.temperature
        self.others.distinct = setting.distinct
        self.alike = setting.hot is None and not setting.distinct

    def draw(self, situations: Sequence[Situation], on_first: OnFirst | None = None) -> list[list[Candidate]]:
        if self.alike:
            return super().draw(situations, on_first)
        prompts = self.prompts(situations)
        own = self.explore(prompts, 1, on_first)
        others = self.others.explore(prompts, self.others.k)
        return [[*first, *rest] for first, rest in zip(own, others, strict=True)]


@torch.no_grad()
def _estimate(agent: CoachAgent, number: int, episode: Episode, states: Sequence[State]) -> list[Record]:
    """Asks critic and policy about all candidates of an episode."""
    tree = agent.tree(episode)
    (estimated,) = agent.ask_critic(agent.critic.q_values, [tree])
    worthless = agent.worthless(episode)
    q = [values.cpu().masked_fill(mask, 0.0) for values, mask in zip(estimated, worthless, strict=True)]
    scores = [[_sum(response) for response in step] for step in log_probs(agent.policy, tree)]
    return [
        Record(episode.task, number, [c.text for c in state.candidates], values.tolist(), scored)
        for state, values, scored in zip(states, q, scores, strict=True)
    ]


def _judge(agent: CoachAgent, episode: Episode, states: Sequence[State], along: Sequence[Record]) -> None:
    """Adds truth, verdicts and returns of an episode's steps."""
    agent.assign_returns([episode])
    good = good_candidates(agent.policy, episode, states)
    if isinstance(agent.prm, StepwisePRM):
        fresh = [[Candidate(each.text, [], []) for each in state.candidates] for state in states]
        VerdictScorer(agent.policy, agent.prm.judge).judge(states, fresh)
        for record, candidates in zip(along, fresh, strict=True):
            record.verdicts = [sureness(each) for each in candidates]
    for number, (record, step) in enumerate(zip(along, episode.steps, strict=True)):
        record.good = good[number] if good is not None else [math.nan] * len(record.texts)
        record.verdict, record.returned = step.process_reward, step.return_


def _measure(player: PolicyPlayer, states: Sequence[State], gathered: Sequence[Record], repeats: int) -> None:
    """Measures Q of all candidates twice; the second time without what the states' own episodes tell."""
    fresh = [replace(state, outcome=math.nan) for state in states]
    with tqdm(desc="measuring", unit="step") as bar:
        measured = measure_q(player, states, GAMMA, repeats, progress=bar.update)
        again = measure_q(player, fresh, GAMMA, repeats, progress=bar.update)
    for record, one, other in zip(gathered, measured, again, strict=True):
        record.measured, record.again = one.tolist(), other.tolist()


def _sum(response: Tensor) -> float:
    return float(response.sum())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what both commands let their users choose."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--families", nargs="+", help="task families; the demo's by default")
    parser.add_argument("--split", choices=get_args(Split), default="test")
    parser.add_argument("--unseen", choices=get_args(Unseen), default="instances")
    parser.add_argument("--instances", type=int, default=2, help="per family and seed")
    parser.add_argument("--k", type=int, default=4, help="candidates per state")
    parser.add_argument("--hot", type=float, help="temperature of all candidates but the executed one")
    parser.add_argument("--distinct", action="store_true", help="draws these candidates without replacement")
    parser.add_argument("--repeats", type=int, default=1, help="episodes per candidate in each of two measurements")


def setting_of(options: argparse.Namespace, solve: bool) -> Setting:
    """Returns the setting that a command's options say."""
    return Setting(
        options.families, options.split, options.unseen, options.instances, options.k, options.hot, options.distinct,
        options.repeats, solve,
    )  # fmt: skip
