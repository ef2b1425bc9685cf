"""Filtered cloning: the policy imitates its own successful episodes."""

from collections import deque
from typing import Unpack

from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import checked_arguments, require_at_least
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.agents.training.schedules import Schedule
from coach_gym.agents.training.settings import OnlineSettings
from coach_gym.episode import Episode


class FilteredCloningAgent(OnlineAgent):
    """Keeps the episodes that solved their task and raises the likelihood of their responses; no critic, no baseline.

    This is REINFORCE with outcomes of 0 and 1 and without a baseline, or expert iteration, and is often the baseline to
    beat. Episodes with a part of the outcome do not count.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: Environment, vector environment, or the id of one.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress.
        replay: Successful episodes of earlier roll-outs to imitate again in every iteration, the latest ones; 0
            imitates each roll-out once. Checkpoints hold them too.
        shared: Arguments of `OnlineAgent`; `n_epochs` and `mini_batch_size` apply to the successes. `help()` lists
            them.
    """

    @checked_arguments(OnlineAgent)
    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        replay: int = 0,
        **shared: Unpack[OnlineSettings],
    ) -> None:
        require_at_least(0, replay=replay)
        super().__init__(policy, env, learning_rate, **shared)
        self.replay = replay
        self.successes = deque(maxlen=replay)

    def train(self, groups: list[list[Episode]]) -> None:
        """Imitates the successes of this roll-out, and those that are replayed."""
        self.imitate([episode for group in groups for episode in group])
        self.logger.record("train/n_updates", self.n_updates + 1, exclude="tensorboard")
