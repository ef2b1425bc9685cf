"""What the shared gradient steps do with what is unknown."""

import copy

import tiny
import torch
from warm_start import answers_to, letter

from coach_gym.agents.critic import Critic
from coach_gym.agents.tree import build_tree
from coach_gym.agents.updates import CriticSample, fit_critic


def test_an_unknown_return_changes_nothing_and_spoils_nothing():
    policy = tiny.policy()
    one = answers_to("red", [letter(policy, "a")])
    episode = copy.deepcopy(one)
    episode.steps = [*one.steps, *copy.deepcopy(one.steps)]
    critic = Critic.from_policy(policy)
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    tree = build_tree(policy, episode, candidates="executed")
    returns = torch.tensor([1.0, float("nan")])
    sample = CriticSample(tree, returns, ~returns.isnan())

    def estimate(tree):
        return torch.cat(critic.q_values(tree))

    fit_critic(critic, optimizer, estimate, [[sample]])
    assert all(parameter.isfinite().all() for parameter in critic.parameters())
    assert estimate(tree)[0] > 0, "the known return was learned from"
