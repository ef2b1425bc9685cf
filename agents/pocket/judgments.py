"""Training data of the process reward model and the critic: answers, and whether an expert would agree.

The paper's rule (appendix B): at every state of an expert's episode the policy proposes answers. An answer that matches
the expert's action is good and any other is bad; equal numbers of both are kept.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from coach_gym.actions import Action, ActionError, parse_action
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM, format_judgment
from coach_gym.agents.pocket.demonstrations import Demonstration, blunder, small_picture
from coach_gym.agents.pocket.sequences import Sequence
from coach_gym.episode import Candidate, Episode, Step

NEAR = 0.14
"""Distance up to which points count as equal, as a share of the screen's width (GUI-Odyssey's rule, as the paper)."""

PROPOSALS, TEMPERATURE = 8, 1.2
"""Answers that the policy proposes at every state, and their temperature, which yields more near misses."""


def matches(action: Action, expert: Action, width: int) -> bool:
    """Returns whether an action equals the expert's in kind, words, and points up to `NEAR`."""
    if (action.kind, action.direction) != (expert.kind, expert.direction):
        return False
    if action.content.strip() != expert.content.strip():
        return False
    pairs = ((action.start, expert.start), (action.end, expert.end))
    return all(a is b or (a is not None and b is not None and math.dist(a, b) <= NEAR * width) for a, b in pairs)


@dataclass
class Judged:
    """An expert's episode with further answers to every state.

    Attributes:
        episode: The episode; candidate 0 of each step is the expert's answer, which was executed.
        good: Whether the expert would agree, for every candidate of every step.
    """

    episode: Episode
    good: list[list[bool]]


def judge(policy: Policy, shown: Demonstration, rng: random.Random, generator: TransformersGenerator | None) -> Judged:
    """Labels further answers to the states of a demonstration.

    These are a touch of a random element, the expert's answer to another state and, with a generator, the policy's own
    proposals.

    Args:
        policy: Its dialect and tokenizer write the answers.
        shown: The demonstration.
        rng: Source of randomness.
        generator: Draws the policy's proposals; None for none.
    """
    width, frame = shown.steps[0][0].screenshot.shape[1], policy.frame(shown.steps[0][0])
    steps: list[Step] = []
    prompts = []
    for observation, text, _ in shown.steps:
        if generator is not None:
            prompts.append(policy.prompt(shown.goal, steps, observation))
        steps.append(Step(observation, [_candidate(policy, text)], 0, policy.parse(text, frame)))
    proposals: list[list[Candidate]] = [[] for _ in steps]
    if generator is not None:
        proposals = generator.sample(prompts, PROPOSALS, TEMPERATURE, max_new_tokens=48)
    for step, proposed in zip(steps, proposals, strict=True):
        other = _candidate(policy, blunder(policy, step.observation, shown.goal, rng))
        elsewhere = rng.choice(steps).candidates[0]
        different: dict[str, Candidate] = {}
        for candidate in (step.candidates[0], *proposed, other, elsewhere):
            different.setdefault(candidate.text, candidate)
        step.candidates = list(different.values())
    good = [[_agrees(policy, c.text, step, width) for c in step.candidates] for step in steps]
    return Judged(Episode(shown.goal, steps, outcome=1.0, task=shown.task), good)


def _candidate(policy: Policy, text: str) -> Candidate:
    return Candidate(text, [*policy.chat.encode_text(text), policy.chat.turn_end], [])


def _agrees(policy: Policy, text: str, step: Step, width: int) -> bool:
    try:
        _, action = policy.dialect.parse(text, policy.frame(step.observation))
    except ActionError:
        return False
    return matches(action, parse_action(step.action)[1], width)


def balanced(judged: Judged, rng: random.Random) -> Iterator[tuple[int, int, bool]]:
    """Yields one good and one bad answer of every state that has both, as (step, candidate, verdict)."""
    for t, verdicts in enumerate(judged.good):
        for verdict in (True, False):
            of_kind = [i for i, good in enumerate(verdicts) if good is verdict]
            if not all(verdicts) and any(verdicts):
                yield t, rng.choice(of_kind), verdict


def verdict_sequences(prm: GenerativePRM, judged: Judged, rng: random.Random) -> Iterator[Sequence]:
    """Yields questions to the process reward model with their verdicts; the reasoning names the expert's target."""
    steps, chat = judged.episode.steps, prm.policy.chat
    done = [(step.observation, step.action) for step in steps]
    for t, i, verdict in balanced(judged, rng):
        observation, frame = steps[t].observation, prm.policy.frame(steps[t].observation)
        history = [*done[:t], (observation, prm.policy.parse(steps[t].candidates[i].text, frame))]
        reason = done[t][1].partition("\n")[0].removeprefix("Thought: ")
        sequence = Sequence(task=judged.episode.task, screenshots=small_picture(observation, frame)[None])
        sequence.add(prm.prompt(judged.episode.goal, history).input_ids)
        sequence.add([*chat.encode_text(format_judgment(verdict, reason)), chat.turn_end], 1.0)
        yield sequence
