"""GRPO: no critic; outcomes are normalised within groups of episodes of the same task instance."""

from torch import Tensor

from coach_gym.agents.group import GroupAgent
from coach_gym.agents.training.objective.advantages import grpo


class GRPOAgent(GroupAgent):
    """The paper's second baseline: a group-relative advantage for all steps of an episode, without a KL penalty.

    Args: those of `GroupAgent` and `OnlineAgent`. `help()` lists them.
    """

    def advantages(self, outcomes: Tensor) -> Tensor:
        """Returns the outcomes of a group less their mean, over their standard deviation."""
        return grpo(outcomes)
