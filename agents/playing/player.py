"""A policy at play: from states to prompts, from prompts to responses, from responses to actions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from coach_gym.agents.generation.generator import DistinctGenerator, Generator, OnFirst, require_drawn
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.playing.rollout import (
    Attempt,
    goal_of,
    observation_of,
    require_observation,
    sub_observation,
)
from coach_gym.checks import require_temperature
from coach_gym.episode import Candidate, Episode, Observation, Step

JudgeSteps = Callable[[list[tuple[Episode, int]]], None]
"""Judges the executed actions of some steps, each given by its episode and index."""


class Situation(Protocol):
    """A state that waits for an action.

    Attributes:
        episode: The goal and the steps so far.
        observation: What is seen now.
    """

    episode: Episode
    observation: Observation


class PolicyPlayer:
    """Plays with the responses of a policy.

    Args:
        policy: Writes the prompts and reads the responses.
        generator: Draws the responses.
        temperature: Sampling temperature.
        max_new_tokens: Length at which a response is cut off.

    Attributes:
        k: Candidates drawn in every state.
        rollout_temperature: Sampling temperature of these candidates, in place of `temperature`.
        distinct: Draws them without replacement.
        judge: Judges executed steps during the roll-out; None to leave that for later.
        version: Number of updates that the policy has had, noted in every step.
    """

    def __init__(self, policy: Policy, generator: Generator, temperature: float, max_new_tokens: int) -> None:
        require_temperature(temperature=temperature)
        self.policy = policy
        self.generator = generator
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.k = 1
        self.rollout_temperature = temperature
        self.distinct = False
        self.judge: JudgeSteps | None = None
        self.version = 0

    def prompts(self, situations: Sequence[Situation]) -> list[Prompt]:
        """Returns the prompt of each state."""
        return [self.policy.prompt(s.episode.goal, s.episode.steps, s.observation) for s in situations]

    def draw(self, situations: Sequence[Situation], on_first: OnFirst | None = None) -> list[list[Candidate]]:
        """Draws k candidates in every state; `on_first` receives the first of each as soon as it is complete."""
        return self.explore(self.prompts(situations), self.k, on_first)

    def explore(self, prompts: Sequence[Prompt], k: int, on_first: OnFirst | None = None) -> list[list[Candidate]]:
        """Draws k candidates for every prompt as in a roll-out: at its temperature, and distinct if that is set.

        Raises:
            ValueError: The generator returns something else, or does not call `on_first` for every prompt.
        """
        sampling = prompts, k, self.rollout_temperature, self.max_new_tokens
        told: set[int] = set()

        def tell(number: int, first: Candidate) -> None:
            assert on_first is not None
            told.add(number)
            on_first(number, first)

        asked = None if on_first is None else tell  # some generators make a request of its own for the firsts
        if not self.distinct or k == 1:
            drawn = self.generator.sample(*sampling, on_first=asked)
        else:
            assert isinstance(self.generator, DistinctGenerator)  # checked when the agent was made
            drawn = self.generator.sample_distinct(*sampling, on_first=asked)
        if on_first is not None and len(told) != len(prompts):
            raise ValueError(
                f"the generator called on_first for {len(told)} of {len(prompts)} prompts; it must for each, "
                f"also where k is 1"
            )
        return self._required(drawn, prompts, k)

    def respond(self, situations: Sequence[Situation], deterministic: bool) -> list[list[Candidate]]:
        """Returns the responses of `predict`, of which the first is executed: one for every state."""
        prompts = self.prompts(situations)
        drawn = self.generator.sample(prompts, 1, self.temperature, self.max_new_tokens, greedy=deterministic)
        return self._required(drawn, prompts, 1)

    def _required(self, drawn: list[list[Candidate]], prompts: Sequence[Prompt], k: int) -> list[list[Candidate]]:
        require_drawn(drawn, len(prompts), k, self.policy.model.config.get_text_config().vocab_size)
        return drawn

    def step(self, observation: Observation, candidates: list[Candidate]) -> Step:
        """Returns the step that executes the first candidate."""
        action = self.policy.parse(candidates[0].text, self.policy.frame(observation))
        return Step(observation, candidates, executed=0, action=action, version=self.version)

    def own_success(self, episode: Episode) -> float:
        """Returns whether an episode that this player has played was solved, as far as the policy alone did it."""
        return float(episode.success)

    def predict(
        self,
        observation: Mapping[str, Any],
        state: Sequence[Episode | None] | None = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, tuple[Episode, ...]]:
        """Returns the next action, or one for each observation of a batch.

        Args:
            observation: Observation of one environment, or a vector environment's batch.
            state: The state that the last call returned, which is the history of each episode; None at the start.
            episode_start: Whether each episode has just begun, so that its history is dropped; one bool for each
                observation, or one for all.
            deterministic: Takes the most likely response instead of drawing one.

        Returns:
            The action text, or a tuple of texts for a batch; and the state for the next call.

        Raises:
            TypeError: The observation is no dict.
            ValueError: It lacks the goal or the screenshot, or one of them is none.
        """
        require_observation(observation)
        single = isinstance(observation["goal"], str)
        observations = [observation] if single else [
            sub_observation(dict(observation), index) for index in range(len(observation["goal"]))
        ]  # fmt: skip
        known = state or [None] * len(observations)
        starts = np.broadcast_to(False if episode_start is None else episode_start, len(observations))
        episodes = [
            Episode(goal_of(dict(seen))) if past is None or start else past
            for seen, past, start in zip(observations, known, starts, strict=True)
        ]
        waiting = [
            Attempt(number, number, episode, observation_of(dict(each)))
            for number, (episode, each) in enumerate(zip(episodes, observations, strict=True))
        ]
        drawn = self.respond(waiting, deterministic)
        following = tuple(
            Episode(each.episode.goal, [*each.episode.steps, self.step(each.observation, candidates)])
            for each, candidates in zip(waiting, drawn, strict=True)
        )
        actions = tuple(episode.steps[-1].action for episode in following)
        return (actions[0] if single else actions), following
