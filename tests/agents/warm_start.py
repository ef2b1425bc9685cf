"""A tiny policy that has learned to answer with one letter, but not which: RL lifts a warm start, not chance."""

from functools import cache

import torch

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import build_tree, log_probs
from coach_gym.agents.playing.rollout import observation_of
from coach_gym.agents.training.objective.updates import CriticSample, minimize_value_loss
from coach_gym.episode import Candidate, Episode, Step
from tests.agents import tiny
from tests.agents.trivial_env import COLOURS, LETTERS, ButtonEnv


def letter(policy: Policy, text: str) -> Candidate:
    """Returns the answer that consists of `text`, with made-up log-probabilities."""
    token_ids = [*policy.tokenizer.encode(text), policy.eos]
    return Candidate(text, token_ids, [0.0] * len(token_ids))


def answers_to(goal: str, candidates: list[Candidate]) -> Episode:
    """Returns an episode of one state with these candidates."""
    screen = observation_of(ButtonEnv().reset(seed=0)[0])
    return Episode(goal, [Step(screen, candidates, 0, "")])


def warm_policy() -> Policy:
    """Returns a policy that answers with one letter, the right one half of the time; trained once per process."""
    policy = tiny.policy()
    policy.model.load_state_dict(_warm_weights())
    return policy


@cache
def _warm_weights(updates: int = 60) -> dict[str, torch.Tensor]:
    policy = tiny.policy()
    optimizer = torch.optim.Adam(policy.model.parameters(), lr=3e-3)
    letters = [letter(policy, text) for text in LETTERS.values()]
    trees = [build_tree(policy, answers_to(goal, letters)) for goal in COLOURS]
    for _ in range(updates):
        optimizer.zero_grad()
        for right, tree in enumerate(trees):
            scored = log_probs(policy, tree)[0]
            (-torch.cat([*scored, scored[right]]).mean()).backward()
        torch.nn.utils.clip_grad_norm_(policy.model.parameters(), 1.0)
        optimizer.step()
    return policy.model.state_dict()


def trained_critic(policy: Policy, updates: int = 80, answers: int = 100) -> Critic:
    """Returns a critic pre-trained on labelled samples of the policy, as in the paper."""
    critic = Critic.from_policy(policy)
    optimizer = torch.optim.AdamW(critic.parameters(), lr=2e-3)
    batch = []
    for goal in COLOURS:
        prompt = policy.prompt(goal, [], answers_to(goal, []).steps[0].observation)
        drawn = TransformersGenerator(policy).sample([prompt], answers, max_new_tokens=3)[0]
        labels = torch.tensor([float(candidate.text[:1] == LETTERS[goal]) for candidate in drawn])
        tree = build_tree(policy, answers_to(goal, drawn))
        batch.append(CriticSample(tree, labels, torch.ones(answers, dtype=torch.bool)))
    for _ in range(updates):
        minimize_value_loss(critic, optimizer, lambda tree: critic.q_values(tree)[0], [batch], clip_range=10.0)
    return critic
