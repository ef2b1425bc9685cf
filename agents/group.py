"""What the methods without a critic share: groups of episodes of the same task instance, compared with each other."""

from abc import abstractmethod
from typing import Unpack

import torch
from torch import Tensor

from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import checked_arguments, require_at_least
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.agents.training.schedules import Schedule
from coach_gym.agents.training.settings import OnlineSettings
from coach_gym.episode import Episode


class GroupAgent(OnlineAgent):
    """An `OnlineAgent` whose advantages compare the outcomes of a group; all steps of an episode have the same.

    Args:
        policy: As in `OnlineAgent`, which also describes everything that `shared` may hold.
        env: As in `OnlineAgent`. Resetting with the same seed must give the same task instance, because that makes the
            episodes of a group comparable.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress.
        group_size: Episodes per task instance.
        shared: Arguments of `OnlineAgent`.
    """

    @checked_arguments(OnlineAgent)
    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        group_size: int = 4,
        **shared: Unpack[OnlineSettings],
    ) -> None:
        require_at_least(2, group_size=group_size)
        self.group_size = group_size
        super().__init__(policy, env, learning_rate, **shared)

    @abstractmethod
    def advantages(self, outcomes: Tensor) -> Tensor:
        """Returns the advantages of a group's episodes, (G,), from their outcomes, (G,)."""

    def train(self, groups: list[list[Episode]]) -> None:
        """Takes the advantages within each group, then updates the policy."""
        samples = []
        for group in groups:
            outcomes = torch.tensor([float(episode.outcome or 0.0) for episode in group], device=self.device)
            for episode, advantage in zip(group, self.advantages(outcomes), strict=True):
                tree = self.tree(episode)
                samples.append(self.policy_sample(episode, tree, advantage.expand(episode.length)))
        self.update_policy(samples)
