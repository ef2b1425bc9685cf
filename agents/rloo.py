"""RLOO: REINFORCE whose baseline is the mean outcome of the other episodes of the same task instance."""

from torch import Tensor

from coach_gym.agents.group import GroupAgent
from coach_gym.agents.training.objective.advantages import rloo


class RLOOAgent(GroupAgent):
    """REINFORCE leave-one-out (Kool et al. 2019, Ahmadian et al. 2024), without a KL penalty.

    Unlike GRPO's, its advantages are unbiased: a group in which one of four episodes succeeds counts no more than its
    outcomes say. With `n_epochs=1` and one mini-batch, the clipped ratio is 1 and the update is plain REINFORCE.

    Args: those of `GroupAgent` and `OnlineAgent`. `help()` lists them.
    """

    def advantages(self, outcomes: Tensor) -> Tensor:
        """Returns the outcome of every episode less the mean of the others."""
        return rloo(outcomes)
