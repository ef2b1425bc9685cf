"""GRPO: no critic, episodes are judged against others of the same task instance."""

from typing import Any

import torch

from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.training.advantages import grpo
from coach_gym.agents.training.base import Env
from coach_gym.agents.training.online import OnlineAgent, Schedule
from coach_gym.episode import Episode


class GRPOAgent(OnlineAgent):
    """The paper's second baseline: group-relative advantage, the same for all steps of an episode, no KL penalty.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: environment, vector environment, or an id. Resetting with the same seed has to give the same task
            instance: that is how the episodes of a group come to be comparable.
        learning_rate: AdamW's, of the policy; or a function of the remaining progress.
        group_size: episodes of the same task instance.
        shared: everything that `OnlineAgent` takes.
    """

    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        group_size: int = 4,
        **shared: Any,
    ) -> None:
        self.group_size = group_size
        super().__init__(policy, env, learning_rate, **shared)

    def _check_arguments(self) -> None:
        super()._check_arguments()
        if self.group_size < 2 or self.batch_size % self.group_size:
            raise ValueError(
                f"a roll-out of batch_size={self.batch_size} episodes does not divide into groups of group_size="
                f"{self.group_size}, at least 2; use a batch_size that is a multiple of it, such as "
                f"{8 * self.group_size}"
            )

    def train(self, groups: list[list[Episode]]) -> None:
        """Outcomes normalised within each group, then the policy's clipped step."""
        samples = []
        for group in groups:
            advantages = grpo(torch.tensor([float(episode.outcome or 0.0) for episode in group], device=self.device))
            for episode, advantage in zip(group, advantages, strict=True):
                tree = self.tree(episode)
                samples.append(self.policy_sample(episode, tree, advantage.expand(episode.length)))
        self.update_policy(samples)
