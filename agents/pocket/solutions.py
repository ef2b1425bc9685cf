"""The truth about single steps: the fewest steps in which a task can still be solved, found on forks.

Scripted experts cannot play from any state. So from a fork of a state we try what is known to lead to a solution: the
rest of the expert's own episode, if its screen is this one, or the expert from the start; both at once, and after
pressing back up to three times, or home. Only what the task's check accepts counts, so the number found is never too
small. It can be too large, where a shorter solution exists that neither the expert nor the policy has played.

Where there is no expert, episodes in which the policy solved the instance can take its place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.forks import State
from coach_gym.agents.playing.rollout import observation_of
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.play import Demonstration, play
from coach_gym.episode import Episode, Observation

BACK, HOME = "press_back()", "press_home()"
DETOURS: tuple[tuple[str, ...], ...] = ((), (BACK,), (HOME,), (BACK, BACK), (BACK, BACK, BACK))


class Way(NamedTuple):
    """The fewest steps known to solve a task from a state, and the first of them: infinity and None if none are."""

    steps: float
    first: str | None


NO_WAY = Way(math.inf, None)


class Known(NamedTuple):
    """A step of an episode that solved the task: the screen's text, and what was done there."""

    ui: str
    action: str


@dataclass
class Solutions:
    """What is known of how to solve a task instance.

    Attributes:
        episode: An episode of it, for its goal, task and parameters.
        ways: Solutions from the first state.
        expert: Whether the task's scripted expert may be asked where none of them fits.
    """

    episode: Episode
    ways: list[list[Known]]
    expert: bool = True

    @classmethod
    def of(cls, episode: Episode, start: AndroidEnv, first: Observation) -> Solutions | None:
        """Lets the expert play; returns None if it does not solve the instance.

        Args:
            episode: An episode of the instance.
            start: An environment in the instance's first state, which is forked.
            first: The first observation.
        """
        shown = _play(start.fork(), episode, first)
        return cls(episode, [[Known(seen["ui"], action) for seen, action in shown.steps]]) if shown else None

    @classmethod
    def found(cls, episodes: Sequence[Episode]) -> Solutions | None:
        """Takes the successes among episodes of one instance; returns None if there are none."""
        played = [[Known(step.observation.ui, step.action) for step in each.steps] for each in episodes if each.success]
        different = list({tuple(known.action for known in way): way for way in played}.values())
        return cls(episodes[0], different, expert=False) if different else None

    def shortest(self, env: AndroidEnv, seen: Observation) -> Way:
        """Returns the shortest way known to solve the task from the environment's state.

        Args:
            env: An environment in mid-episode, which is forked.
            seen: Its last observation.
        """
        best = NO_WAY
        for detour in DETOURS:
            if len(detour) + 1 < best.steps:
                there = _walk(env.fork(), detour, seen)
                way = self._from(*there) if there is not None else NO_WAY
                if len(detour) + way.steps < best.steps:
                    best = Way(len(detour) + way.steps, detour[0] if detour else way.first)
        return best

    def _from(self, env: AndroidEnv, seen: Observation) -> Way:
        """Continues a known way wherever it fits, else lets the expert start anew."""
        left = {tuple(k.action for k in way[n:]) for way in self.ways for n in range(len(way)) if way[n].ui == seen.ui}
        for actions in sorted(left, key=lambda actions: (len(actions), actions)):
            if _solves(env.fork(), actions):
                return Way(len(actions), actions[0])
        shown = _play(env, self.episode, seen) if self.expert else None
        return NO_WAY if shown is None else Way(len(shown.steps), shown.actions[0])


def good_candidates(
    policy: Policy, episode: Episode, states: Sequence[State], solutions: Solutions | None = None
) -> list[list[float]] | None:
    """Judges the candidates of an episode's states: is an action the first step of a shortest known solution?

    Known solutions are those of `Solutions`, from the state itself and from that after each candidate, and the episode
    if it succeeded. So a step that wastes time is not good, nor is one after which nothing solves the task any more.

    Args:
        policy: Reads its responses.
        episode: The episode.
        states: Its states, in order.
        solutions: What is known of the instance; None for what its expert does.

    Returns:
        For the k candidates of every state 1 (good), 0 (not), or nan where no solution from the state is known. None if
        the expert does not solve the instance.
    """
    solutions = solutions or Solutions.of(episode, android(states[0]), states[0].observation)
    if solutions is None:
        return None
    verdicts = []
    following = 0.0 if episode.success else math.inf  # steps left after the executed candidate
    for state in reversed(states):
        after: dict[str, float] = {state.candidates[0].text: following}
        for candidate in state.candidates:
            if candidate.text not in after:
                action = policy.parse(candidate.text, policy.frame(state.observation))
                after[candidate.text] = _steps_after(solutions, state, action)
        following = min(solutions.shortest(android(state), state.observation).steps, 1 + min(after.values()))
        verdicts.append([_verdict(1 + after[c.text], following) for c in state.candidates])
    return verdicts[::-1]


def _verdict(through: float, fewest: float) -> float:
    return math.nan if math.isinf(fewest) else float(through <= fewest)


def _steps_after(solutions: Solutions, state: State, action: str) -> float:
    env = android(state).fork()
    seen, reward, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        return 0.0 if reward >= 1.0 else math.inf
    return solutions.shortest(env, observation_of(seen)).steps


def android(state: State) -> AndroidEnv:
    """Returns the environment in a state; others have no scripted experts."""
    assert isinstance(state.env, AndroidEnv)
    return state.env


def _walk(env: AndroidEnv, actions: Sequence[str], seen: Observation) -> tuple[AndroidEnv, Observation] | None:
    """Carries actions out; returns None if that ends the episode."""
    for action in actions:
        shown, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return None
        seen = observation_of(shown)
    return env, seen


def _solves(env: AndroidEnv, actions: Sequence[str]) -> bool:
    for action in actions:
        _, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return reward >= 1.0
    return False


def _play(env: AndroidEnv, episode: Episode, seen: Observation) -> Demonstration | None:
    """Lets the expert play from the start of its script; returns None if it does not solve the task."""
    observation: dict[str, Any] = {"goal": episode.goal, "ui": seen.ui, "screenshot": seen.screenshot}
    try:
        shown = play(env, observation, {"task": episode.task, "params": episode.params})
    except (LookupError, RuntimeError, ValueError):
        return None  # the expert does not find what it looks for
    return shown if shown.reward >= 1.0 else None
