"""Measured Q: what each candidate of a state leads to when it is played to its end on forks of the environment.

A critic estimates Q; an environment that can be forked tells it. The measurement follows Equation 2's return without a
process reward model: the outcome, discounted over the steps that remain.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch
from torch import Tensor

from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.agents.playing.rollout import observation_of
from coach_gym.answers import has_verdict, wrong_reward
from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.protocols import ForkableEnv


@dataclass
class State:
    """A state in which candidates were drawn.

    Attributes:
        env: The environment in this state; it is forked and never stepped.
        episode: The episode up to this state.
        observation: What the agent sees.
        candidates: The responses drawn here, k of them; the first one was executed.
        steps_left: Steps that the episode took from here to its end, this one included.
        outcome: Its outcome; nan if there is none.
    """

    env: ForkableEnv
    episode: Episode
    observation: Observation
    candidates: list[Candidate]
    steps_left: int = 0
    outcome: float = math.nan


_Returns = dict[tuple[int, str], list[float]]
"""Returns by state and text."""


@dataclass
class _Branch:
    """One candidate on its way to the end."""

    state: int
    text: str
    env: ForkableEnv
    episode: Episode
    observation: Observation
    length: int = 0
    result: float = math.nan
    over: bool = False
    known: bool = True

    def step(self, taken: Step) -> None:
        self.episode.steps.append(taken)
        seen, reward, terminated, truncated, info = self.env.step(taken.action)
        self.observation, self.length = observation_of(seen), self.length + 1
        self.over, self.known = terminated or truncated, self.known and wrong_reward(reward) is None
        if self.over and self.known and has_verdict(info):
            self.result = float(reward)


def play_states(player: PolicyPlayer, env: ForkableEnv, seed: int) -> tuple[Episode, list[State]]:
    """Plays an episode with the player's k candidates per state, and keeps every state on the way.

    Returns:
        The episode and its T states, in order.
    """
    seen, info = env.reset(seed=seed)
    episode = Episode(str(seen["goal"]), task=info.get("task", ""), params=dict(info.get("params", {})))
    states, over, known = [], False, True
    while not over:
        observation = observation_of(seen)
        past = Episode(episode.goal, list(episode.steps), task=episode.task)
        state = State(env.fork(), past, observation, [])
        state.candidates = candidates = player.draw([state])[0]
        states.append(state)
        episode.steps.append(player.step(observation, candidates))
        seen, reward, terminated, truncated, info = env.step(episode.steps[-1].action)
        over, known = terminated or truncated, known and wrong_reward(reward) is None
    episode.fault = info.get("fault")
    episode.outcome = float(reward) if known and has_verdict(info) else None
    for number, state in enumerate(states):
        state.steps_left = len(states) - number
        state.outcome = math.nan if episode.outcome is None else episode.outcome
    return episode, states


def play_on(player: PolicyPlayer, state: State, times: int) -> list[Episode]:
    """Plays from a state to the end, several times at once, with draws of the policy.

    Returns:
        The episodes, which begin with the steps before the state; the outcome is None where there is no verdict.
    """
    branches = []
    for _ in range(times):
        past = replace(state.episode, steps=list(state.episode.steps))
        branches.append(_Branch(0, "", state.env.fork(), past, state.observation))
    while not all(branch.over for branch in branches):
        _advance(player, branches, deterministic=False)
    return [replace(b.episode, outcome=None if math.isnan(b.result) else b.result) for b in branches]


def measure_q(
    player: PolicyPlayer, states: Sequence[State], gamma: float, repeats: int = 1, batch_size: int = 64,
    progress: Callable[[int], object] = lambda steps: None, deterministic: bool = False,
) -> list[Tensor]:
    """Measures Q of every candidate by playing it, and then the policy, to the end of the episode.

    Candidates with the same text share their measurement. The episode in which a state was met is the first one of its
    executed candidate, unless `deterministic`, so that a state with a single distinct candidate and `repeats` = 1 costs
    nothing more. To measure independently of that episode, pass copies of the states without its outcome.

    Args:
        player: Continues the episodes.
        states: States whose candidates are measured.
        gamma: Discount factor per step; Q is the mean of `gamma ** (n - 1) * outcome` for n steps from here to the end.
        repeats: Episodes played per distinct candidate.
        batch_size: Branches in progress at a time.
        progress: Called with numbers of steps taken on forks, which add up to all of them.
        deterministic: Whether episodes are continued with the most likely responses instead of draws.

    Returns:
        For every state Q of its k candidates, (k,) float32; nan where every attempt ended in a fault.
    """  # fmt: skip
    returns = {} if deterministic else _returns_of_episodes(states, gamma)
    waiting = _branches(player, states, repeats, returns)
    live = list(islice(waiting, batch_size))
    progress(len(live))
    while live:
        progress(_advance(player, live, deterministic))
        for branch in live:
            if branch.over:
                returned = gamma ** (branch.length - 1) * branch.result
                returns.setdefault((branch.state, branch.text), []).append(returned)
        live = [branch for branch in live if not branch.over]
        fresh = list(islice(waiting, batch_size - len(live)))
        progress(len(fresh))
        live += fresh
    return [
        torch.tensor([_mean(returns[number, candidate.text]) for candidate in state.candidates])
        for number, state in enumerate(states)
    ]


def measure_candidates(
    player: PolicyPlayer, episodes: Sequence[Episode], gamma: float, deterministic: bool = False
) -> int:
    """Sets `Candidate.return_` in every state that a roll-out has kept a fork of, and drops the fork.

    Every distinct candidate without a return is played to its end once. The executed one's return is known from the
    episode itself, if that was played in the same way.

    Args:
        player: Continues the episodes, as it did in the roll-out.
        episodes: Episodes with the returns of their executed actions.
        gamma: Discount factor per step.
        deterministic: Whether episodes are continued with the most likely responses instead of draws; then executed
            candidates are measured, too.

    Returns:
        The number of steps taken on forks.
    """
    taken: list[int] = []
    kept, states = [], []
    for episode in episodes:
        for t, step in enumerate(episode.steps):
            if step.env is not None:
                executed = step.candidates[step.executed]
                if not deterministic and executed.return_ is None:
                    executed.return_ = step.return_
                past = Episode(episode.goal, episode.steps[:t], task=episode.task)
                told = {candidate.text for candidate in step.candidates if candidate.return_ is not None}
                unknown = [candidate for candidate in step.candidates if candidate.text not in told]
                states.append(State(step.env, past, step.observation, unknown))
                kept.append(step)
    measured = measure_q(player, states, gamma, progress=taken.append, deterministic=deterministic)
    for step, state, row in zip(kept, states, measured, strict=True):
        returns: dict[str, float | None] = {}
        returns |= {candidate.text: candidate.return_ for candidate in step.candidates if candidate.return_ is not None}
        for candidate, value in zip(state.candidates, row.tolist(), strict=True):
            returns[candidate.text] = None if math.isnan(value) else value
        for candidate in step.candidates:
            candidate.return_ = returns[candidate.text]
        step.env = None
    return sum(taken)


def _returns_of_episodes(states: Sequence[State], gamma: float) -> _Returns:
    """What the states' own episodes tell of their executed candidates."""
    return {
        (number, state.candidates[0].text): [gamma ** (state.steps_left - 1) * state.outcome]
        for number, state in enumerate(states)
        if not math.isnan(state.outcome)
    }


def _branches(
    player: PolicyPlayer, states: Sequence[State], repeats: int, returns: _Returns
) -> Iterator[_Branch]:
    """Every distinct candidate, its first step taken, as often as it lacks returns at the start."""
    lacking = {
        (number, candidate.text): (candidate, repeats - len(returns.get((number, candidate.text), [])))
        for number, state in enumerate(states)
        for candidate in state.candidates
    }
    for (number, text), (candidate, times) in lacking.items():
        state = states[number]
        for _ in range(times):
            past = Episode(state.episode.goal, list(state.episode.steps), task=state.episode.task)
            branch = _Branch(number, text, state.env.fork(), past, state.observation)
            branch.step(player.step(state.observation, [candidate]))
            yield branch


def _advance(player: PolicyPlayer, branches: Sequence[_Branch], deterministic: bool) -> int:
    """Lets the policy take the next step of every branch that is not over, and returns how many these are."""
    going = [branch for branch in branches if not branch.over]
    drawn = player.respond(going, deterministic) if going else []
    for branch, candidates in zip(going, drawn, strict=True):
        branch.step(player.step(branch.observation, candidates))
    return len(going)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
