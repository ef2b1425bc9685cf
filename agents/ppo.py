"""PPO with a state-value critic: one action per state, advantage = return - V."""

from dataclasses import replace
from typing import Literal, Unpack

import torch
from torch import Tensor

from coach_gym.agents.actor_critic import ActorCriticAgent, ActorCriticSettings
from coach_gym.agents.distributed import processes
from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.models.tree import Tree
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import checked_arguments, require_share
from coach_gym.agents.training.objective.advantages import gae
from coach_gym.agents.training.objective.updates import CriticSample, PolicySample
from coach_gym.agents.training.schedules import Schedule
from coach_gym.episode import Episode


class PPOAgent(ActorCriticAgent):
    """The paper's first baseline: generalised advantage estimation, without a KL penalty.

    The outcome is the reward of the last step; with a reward model, every step also has its process reward.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: Environment, vector environment, or the id of one.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress.
        gae_lambda: Weight of long against short look-ahead; 1 makes the advantage the Monte-Carlo return minus V.
        normalize_advantage: Scales the advantages of a roll-out to zero mean and unit variance.
        value_level: What has a value of its own: each `"state"`, or each `"token"`, as in verl, whose advantage is then
            that of its own part of the response. Tokens take no time: `gamma` discounts from step to step.
        shared: Arguments of `ActorCriticAgent` and `OnlineAgent`. `help()` lists them.
    """

    @checked_arguments(ActorCriticAgent)
    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        gae_lambda: float = 1.0,
        normalize_advantage: bool = True,
        value_level: Literal["state", "token"] = "state",
        **shared: Unpack[ActorCriticSettings],
    ) -> None:
        require_share(gae_lambda=gae_lambda)
        super().__init__(policy, env, learning_rate, **shared)
        self.gae_lambda = gae_lambda
        self.normalize_advantage = normalize_advantage
        self.value_level = value_level

    def train(self, groups: list[list[Episode]]) -> None:
        """Takes advantages from the current critic, then fits the critic, then updates the policy."""
        episodes = [episode for group in groups for episode in group]
        self.judge_rest(episodes)
        unknown = _mean_process_reward(episodes)
        trees = [self.tree(episode) for episode in episodes]
        estimate = self.critic.token_values if self.value_level == "token" else self.critic.state_values
        values = self.ask_critic(estimate, trees)
        advantages = [
            gae(*self._rewards_and_discounts(episode, v, unknown), self.gae_lambda)
            for episode, v in zip(episodes, values, strict=True)
        ]
        targets = [
            CriticSample(tree, a + v, torch.ones_like(v, dtype=torch.bool), v)
            for tree, a, v in zip(trees, advantages, values, strict=True)
        ]
        self.fit_critic(estimate, targets)
        if self.policy_waits:
            return
        if self.normalize_advantage:
            everything = processes.concatenate(advantages)
            mean, std = everything.mean(), everything.std(correction=0)
            advantages = [(a - mean) / (std + 1e-8) for a in advantages]
        batch = zip(episodes, trees, advantages, strict=True)
        self.update_policy([self._sample(episode, tree, a) for episode, tree, a in batch])

    def _rewards_and_discounts(self, episode: Episode, values: Tensor, unknown: float) -> tuple[Tensor, Tensor, Tensor]:
        """Returns what `gae` takes, for each state or for each token: a step's reward is due at its last token."""
        rewards = self._rewards(episode, unknown)
        gammas = torch.full_like(rewards, self.gamma)
        if self.value_level == "state":
            return rewards, values, gammas
        ends = torch.tensor(_lengths(episode), device=self.device).cumsum(0) - 1
        zeros, ones = torch.zeros_like(values), torch.ones_like(values)
        return zeros.index_copy(0, ends, rewards), values, ones.index_copy(0, ends, gammas)

    def _sample(self, episode: Episode, tree: Tree, advantages: Tensor) -> PolicySample:
        if self.value_level == "state":
            return self.policy_sample(episode, tree, advantages)
        means = torch.stack([part.mean() for part in advantages.split(_lengths(episode))])
        return replace(self.policy_sample(episode, tree, means), advantages=advantages)

    def _rewards(self, episode: Episode, unknown: float) -> Tensor:
        """The outcome at the last step, and process rewards, with `unknown` in place of those that no judge gave."""
        judged = [unknown if step.process_reward is None else step.process_reward for step in episode.steps]
        rewards = self.process_reward_weight * torch.tensor(judged, device=self.device)
        rewards[-1] += self.outcome_reward_weight * (episode.outcome or 0.0)
        return rewards


def _mean_process_reward(episodes: list[Episode]) -> float:
    """The mean of the roll-out's known process rewards, of all processes, which the unknown count as; 0 without any."""
    rewards = [step.process_reward for episode in episodes for step in episode.steps]
    known = [reward for theirs in processes.gather(rewards) for reward in theirs if reward is not None]
    return sum(known) / max(1, len(known))


def _lengths(episode: Episode) -> list[int]:
    """Numbers of tokens of the executed responses."""
    return [len(step.candidates[step.executed].token_ids) for step in episode.steps]
