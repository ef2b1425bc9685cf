"""Plays held-out instances and gathers what gradient estimates are made of, for every draw of every state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from benchmarks.demo import SCREEN, TASKS
from benchmarks.judging.measure import FIRST_SEED
from coach_gym.agents import CoachAgent
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import StepwisePRM
from coach_gym.agents.models.tree import log_probs, prompt_tree
from coach_gym.agents.playing.forks import State, measure_q, play_states
from coach_gym.agents.playing.scorers import VerdictScorer, sureness
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.tasks.words import Split
from coach_gym.episode import Candidate, Episode

SKETCH = 8192
"""Numbers to which a gradient is sketched; products of two sketches are off by about a hundredth of their norms'."""


@dataclass
class Draws:
    """The k draws of one state, the first of which was executed.

    Attributes:
        gradients: Gradients of the log-probabilities of the distinct responses, scaled and sketched, (d, SKETCH).
        which: Which of these every draw is, (k,).
        q: What every draw is worth, (k,), by who says so: `"measured"` from the episode itself or from forks,
            `"again"` in an independent measurement, `"critic"` and `"judge"`.
    """

    gradients: Tensor
    which: Tensor
    q: dict[str, Tensor]


@dataclass
class Played:
    """An episode.

    Attributes:
        instance: Number of its task instance, which other episodes share.
        outcome: 1 if it solved the task, else 0.
        states: Its states.
    """

    instance: int
    outcome: float
    states: list[Draws]


class Sketch:
    """A random linear map to few numbers that keeps products: each entry is added to one of them, with a random sign.

    It is the count sketch of Charikar, Chen and Farach-Colton (2002).
    """

    def __init__(self, inputs: int, outputs: int = SKETCH, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.places = torch.randint(outputs, (inputs,), generator=generator)
        self.signs = torch.randint(2, (inputs,), generator=generator) * 2.0 - 1
        self.outputs = outputs

    def __call__(self, values: Tensor) -> Tensor:
        """Sketches (inputs,) to (outputs,)."""
        return torch.zeros(self.outputs).index_add_(0, self.places, values * self.signs)


def play(agent: CoachAgent, seed: int, split: Split, instances: int, group: int, k: int) -> list[Played]:
    """Plays and measures with one seed, which chooses the instances and the draws.

    Args:
        agent: Its policy plays; its critic and its process reward model are asked about all draws.
        seed: The seed.
        split: Split of the instances.
        instances: Instances of each of the demo's families.
        group: Episodes of each instance.
        k: Draws in a state.
    """
    agent.set_random_seed(seed)
    episodes = list(_episodes(agent, seed, split, instances, group, k))
    states = [state for _, _, along in episodes for state in along]
    fresh = [replace(state, outcome=nan) for state in states]
    with tqdm(desc=f"seed {seed}: measuring", unit="step") as bar:
        measured = measure_q(agent.player, states, 1.0, progress=bar.update)
        again = measure_q(agent.player, fresh, 1.0, progress=bar.update)
    rows = zip(measured, again, strict=True)
    scale = _scale(agent.policy, tqdm(states, f"seed {seed}: scale", unit="state"))
    sketch = Sketch(len(scale))
    found = []
    for instance, episode, along in tqdm(episodes, f"seed {seed}: gradients", unit="episode"):
        told = []
        for state, estimate in zip(along, _estimates(agent, episode, along), strict=True):
            one, other = next(rows)
            sketched = torch.stack([sketch(scale * each) for each in _gradients(agent.policy, state)])
            told.append(Draws(sketched, _which(state), {"measured": one, "again": other, **estimate}))
        assert episode.outcome is not None
        found.append(Played(instance, episode.outcome, told))
    return found


def _episodes(
    agent: CoachAgent, seed: int, split: Split, instances: int, group: int, k: int
) -> Iterator[tuple[int, Episode, list[State]]]:
    player = copy(agent.player)
    player.k = k
    for number, family in enumerate(tqdm(TASKS, f"seed {seed}: playing", unit="family")):
        env = AndroidEnv(screen_size=SCREEN, tasks=(family,), split=split)
        for index in range(instances):
            for _ in range(group):
                episode, states = play_states(player, env, FIRST_SEED + seed * instances + index)
                if episode.outcome is not None:  # an episode that broke says nothing
                    yield (seed * len(TASKS) + number) * instances + index, episode, states
        env.close()


@torch.no_grad()
def _estimates(agent: CoachAgent, episode: Episode, states: Sequence[State]) -> list[dict[str, Tensor]]:
    """Asks critic and process reward model about all draws of an episode, and returns what they say of each state."""
    (q,) = agent.ask_critic(agent.critic.q_values, [agent.tree(episode)])
    masks = agent.worthless(episode)
    fresh = [[Candidate(each.text, [], []) for each in state.candidates] for state in states]
    assert isinstance(agent.prm, StepwisePRM)
    VerdictScorer(agent.policy, agent.prm.judge).judge(states, fresh)
    return [
        {"critic": values.masked_fill(mask, 0.0), "judge": torch.tensor([sureness(each) for each in candidates])}
        for values, mask, candidates in zip(q, masks, fresh, strict=True)
    ]


def _scale(policy: Policy, states: Iterable[State]) -> Tensor:
    """Returns the factors by which Adam scales gradients, (weights,): one over the root of their mean square."""
    total: Tensor | float = 0.0
    for state in states:
        counts = _which(state).bincount()
        total += sum(count * gradient**2 for count, gradient in zip(counts, _gradients(policy, state), strict=True))
    assert isinstance(total, Tensor)
    return torch.where(total > 0, total.rsqrt(), 0.0)


def _gradients(policy: Policy, state: State) -> Iterator[Tensor]:
    """Returns the gradients of the log-probabilities of the distinct responses of a state, (weights,) each."""
    distinct = {candidate.text: candidate for candidate in state.candidates}
    weights = [weights for weights in policy.model.parameters() if weights.requires_grad]
    prompt = policy.prompt(state.episode.goal, state.episode.steps, state.observation)
    (scored,) = log_probs(policy, prompt_tree(policy, prompt, list(distinct.values())))
    for of_tokens in scored:
        each: Any = torch.autograd.grad(of_tokens.sum(), weights, retain_graph=True, materialize_grads=True)
        yield torch.cat([gradient.flatten() for gradient in each])


def _which(state: State) -> Tensor:
    """Returns which of the distinct responses of a state each of its draws is, (k,)."""
    places = {text: place for place, text in enumerate(dict.fromkeys(each.text for each in state.candidates))}
    return torch.tensor([places[candidate.text] for candidate in state.candidates])
