"""What the methods with a critic share: the critic, its optimizer, and its fit."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.optim import AdamW

from coach_gym.agents.distributed.parallel import in_step
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.models.tree import Tree
from coach_gym.agents.training.base import Env
from coach_gym.agents.training.online import OnlineAgent, Schedule, set_learning_rate
from coach_gym.agents.training.updates import CriticSample, fit_critic

CriticSource = str | Path | Critic | None
Item = TypeVar("Item")


class ActorCriticAgent(OnlineAgent):
    """An `OnlineAgent` with a critic of the policy's architecture.

    Args:
        policy: as in `OnlineAgent`, which also describes all that `shared` may hold.
        env: as in `OnlineAgent`.
        learning_rate: of the policy.
        critic: a directory, `"pocket"`, or a `Critic`; None for the shipped one if the policy is `"pocket"`, else
            for a copy of the policy with a value head that starts at zero.
        critic_learning_rate: AdamW's, of the critic, after its warm-up.
        critic_warmup_ratio: share of the training during which that rises from zero.
        critic_epochs: passes of the critic over a roll-out.
        clip_range_vf: how far a value may move in one update.
    """

    critic: Critic

    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        critic: CriticSource = None,
        critic_learning_rate: float = 1e-5,
        critic_warmup_ratio: float = 0.1,
        critic_epochs: int = 1,
        clip_range_vf: float = 0.5,
        **shared: Any,
    ) -> None:
        if not 0 <= critic_warmup_ratio <= 1 or critic_epochs < 1:
            raise ValueError(
                f"critic_warmup_ratio={critic_warmup_ratio} must be a share of the training, from 0 for none to 1 "
                f"(0.1 in the paper), and critic_epochs={critic_epochs} at least 1"
            )
        super().__init__(policy, env, learning_rate, **shared)
        self.critic_learning_rate = critic_learning_rate
        self.critic_warmup_ratio = critic_warmup_ratio
        self.critic_epochs = critic_epochs
        self.clip_range_vf = clip_range_vf
        if critic is None and policy == "pocket":
            critic = "pocket"
        if critic is None:
            self.critic = Critic.from_policy(self.policy)
        else:
            self.critic = critic if isinstance(critic, Critic) else Critic.load(critic, self.device)
        self.optimizers["critic.optimizer"] = AdamW(self.critic.parameters(), lr=critic_learning_rate)

    def regress(self, estimate: Callable[[Tree], Tensor], samples: Sequence[CriticSample]) -> None:
        """Fits the critic's estimates to their targets, and records the log entries.

        Args:
            estimate: values of the steps of an episode, (T,): Q of the executed actions, or V.
            samples: one for each episode.
        """
        done = 1.0 - self.progress_remaining
        warmup = min(1.0, done / self.critic_warmup_ratio) if self.critic_warmup_ratio else 1.0
        optimizer = self.optimizers["critic.optimizer"]
        learning_rate = set_learning_rate(optimizer, warmup * self.critic_learning_rate)
        batches = self.mini_batches(samples, self.critic_epochs)
        with self.timed("critic"):
            means = fit_critic(self.critic, optimizer, estimate, batches, self.clip_range_vf, self.max_grad_norm)
        self.log_training(**means, critic_learning_rate=learning_rate)

    @torch.no_grad()
    def score(self, estimate: Callable[[Tree], Item], trees: Sequence[Tree]) -> list[Item]:
        """What the critic says of episodes.

        Args:
            estimate: `critic.q_values` or `critic.state_values`.
            trees: the episodes.
        """
        with self.timed("critic"), in_step(self.critic, self.critic.state_values):
            return [estimate(tree) for tree in trees]

    def q_of_executed(self, tree: Tree) -> Tensor:
        """Q of the executed actions of a tree without branches, (T,)."""
        return torch.cat(self.critic.q_values(tree))
