"""A tiny policy that can give seven responses only, so that expectations over its draws are sums."""

from collections.abc import Sequence

import torch
from torch import Tensor

from coach_gym.agents import CoachAgent
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.tree import build_tree, log_probs
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv

LIMIT = 2
"""Tokens of a response, two of which or the end of the turn can follow one another."""
SCREEN = Observation(ButtonEnv().reset(seed=0)[0]["screenshot"])


def policy(seed: int = 0) -> Policy:
    """Returns a policy that answers with up to two of the letters a and b."""
    made = tiny.policy(seed)
    letters = [made.tokenizer.convert_tokens_to_ids(letter) for letter in "ab"]
    made.banned = [token for token in range(len(made.tokenizer)) if token not in (*letters, made.eos)]
    return made


def prompt(policy: Policy) -> Prompt:
    """Returns the prompt of the one state."""
    return policy.prompt("red", [], SCREEN)


def responses(policy: Policy, temperature: float = 1.0) -> list[Candidate]:
    """Returns all seven responses with their log-probabilities at a temperature."""
    a, b = (policy.tokenizer.convert_tokens_to_ids(letter) for letter in "ab")
    tokens = [[policy.eos], *([first, second] for first in (a, b) for second in (a, b, policy.eos))]
    drawn = [policy.candidate(token_ids, [0.0] * len(token_ids)) for token_ids in tokens]
    with torch.no_grad():
        scored = log_probs(policy, build_tree(policy, state(drawn)), temperature)[0]
    for candidate, of_tokens in zip(drawn, scored, strict=True):
        candidate.logprobs = of_tokens.tolist()
    return drawn


def state(candidates: Sequence[Candidate]) -> Episode:
    """Returns an episode of one step with these candidates, the first of which is executed."""
    return Episode("red", [Step(SCREEN, list(candidates), 0, "")], outcome=0.0)


def probabilities(drawn: Sequence[Candidate]) -> Tensor:
    """Returns the probabilities of responses under what they were drawn from, float64."""
    return torch.tensor([sum(candidate.logprobs) for candidate in drawn], dtype=torch.double).exp()


def gradient(policy: Policy) -> Tensor:
    """Returns the gradient of all weights, float64."""
    weights = policy.model.parameters()
    return torch.cat([(torch.zeros_like(w) if w.grad is None else w.grad).flatten() for w in weights]).double()


def policy_gradient(policy: Policy, q: Tensor) -> Tensor:
    """Returns the gradient of the policy's mean of Q over all seven responses."""
    policy.model.zero_grad()
    scored = log_probs(policy, build_tree(policy, state(responses(policy))))[0]
    probs = torch.stack([of_tokens.sum() for of_tokens in scored]).exp()
    (probs * q).sum().backward()
    return gradient(policy)


def learned(agent: CoachAgent, candidates: Sequence[Candidate], q: Sequence[float]) -> Tensor:
    """Returns what an update of the agent adds up over the tokens of these candidates, whose Q is given."""
    agent.critic.q_values = lambda tree: [torch.tensor([*q])]  # type: ignore[method-assign]
    agent.update_policy(agent.policy_samples([state(candidates)]))
    return -gradient(agent.policy) * sum(len(candidate.token_ids) for candidate in candidates) / len(candidates)
