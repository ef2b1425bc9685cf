"""All that is trained, in one place, and the frozen reference beside it."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import nn
from torch.optim import Optimizer

from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy


@runtime_checkable
class CompactOptimizer(Protocol):
    """An optimizer that keeps its moments in fewer bits than its checkpoints do."""

    def compact(self) -> None:
        """Quantizes the moments that something has put into its `state` in float32."""
        ...


@dataclass(frozen=True)
class Learner:
    """A policy, the critic of the methods that have one, and their optimizers.

    Attributes:
        policy: The policy.
        critic: The critic, or None.
        optimizers: `"policy.optimizer"`, and `"critic.optimizer"` if there is a critic.
        reference: The policy that this one is kept near to, which is not trained; None without a KL penalty.
    """

    policy: Policy
    critic: Critic | None
    optimizers: dict[str, Optimizer]
    reference: Policy | None = None

    @property
    def models(self) -> dict[str, nn.Module]:
        """The trained models by name: `"policy"`, and `"critic"` if there is one."""
        critic: dict[str, nn.Module] = {} if self.critic is None else {"critic": self.critic}
        return {"policy": self.policy.model, **critic}

    def optimizer(self, name: str) -> Optimizer:
        """Returns the optimizer of the model called `name`."""
        return self.optimizers[f"{name}.optimizer"]
