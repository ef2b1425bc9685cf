"""PPO with a state-value critic: one action a state, advantage = return - V."""

from typing import Any

import torch

from coach_gym.agents.actor_critic import ActorCriticAgent
from coach_gym.agents.distributed import processes
from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.training.advantages import gae
from coach_gym.agents.training.base import Env
from coach_gym.agents.training.online import Schedule
from coach_gym.agents.training.updates import CriticSample
from coach_gym.episode import Episode


class PPOAgent(ActorCriticAgent):
    """The paper's first baseline: generalised advantage estimation on the outcome, no KL penalty.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: environment, vector environment, or an id.
        learning_rate: AdamW's, of the policy; or a function of the remaining progress.
        gamma: discount factor.
        gae_lambda: 1 makes the advantage the Monte-Carlo return minus V.
        normalize_advantage: brings the advantages of a roll-out to zero mean and unit variance.
        shared: everything that `ActorCriticAgent` and `OnlineAgent` take.
    """

    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        gamma: float = 0.95,
        gae_lambda: float = 1.0,
        normalize_advantage: bool = True,
        **shared: Any,
    ) -> None:
        super().__init__(policy, env, learning_rate, **shared)
        self.gamma = gamma
        self.gae_lambda = gae_lambda
        self.normalize_advantage = normalize_advantage

    def train(self, groups: list[list[Episode]]) -> None:
        """Advantages from the critic as it is, then its fit, then the policy's clipped step."""
        episodes = [episode for group in groups for episode in group]
        trees = [self.tree(episode) for episode in episodes]
        values = self.score(self.critic.state_values, trees)
        advantages = [
            gae(self._rewards(episode), v, self.gamma, self.gae_lambda)
            for episode, v in zip(episodes, values, strict=True)
        ]
        targets = [
            CriticSample(tree, a + v, torch.ones_like(v, dtype=torch.bool), v)
            for tree, a, v in zip(trees, advantages, values, strict=True)
        ]
        self.regress(self.critic.state_values, targets)
        if self.normalize_advantage:
            everything = processes.concatenate(advantages)
            mean, std = everything.mean(), everything.std(correction=0)
            advantages = [(a - mean) / (std + 1e-8) for a in advantages]
        batch = zip(episodes, trees, advantages, strict=True)
        self.update_policy([self.policy_sample(episode, tree, a) for episode, tree, a in batch])

    def _rewards(self, episode: Episode) -> torch.Tensor:
        """The outcome at the last step, nothing before."""
        rewards = torch.zeros(episode.length, device=self.device)
        rewards[-1] = episode.outcome or 0.0
        return rewards
