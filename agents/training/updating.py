"""An agent with the gradient updates that the methods share: PPO's clipped step, and imitation of successes."""

import random
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.vllm.generator import warn_of_rounding
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Candidates, Tree, build_tree, separate_tree
from coach_gym.agents.training.agent import Agent
from coach_gym.agents.training.batching import mini_batches
from coach_gym.agents.training.objective.imitation import minimize_imitation_loss
from coach_gym.agents.training.objective.importance import mean_entropy, rescore, score
from coach_gym.agents.training.objective.losses import ImportanceLevel
from coach_gym.agents.training.objective.updates import PolicySample, minimize_policy_loss, token_ratio
from coach_gym.agents.training.remembered import Remembered, Success, Visited, pack
from coach_gym.agents.training.rewording import reworded, words_of
from coach_gym.agents.training.schedules import Schedule, set_learning_rate, value_of
from coach_gym.episode import Episode

Item = TypeVar("Item")
Memory = TypeVar("Memory", bound=Remembered)

KEPT_BYTES = 1 << 31
"""Bytes of the successes that stay packed; others are packed again whenever they are imitated."""


class UpdatingAgent(Agent):
    """An `Agent` that updates its policy; `OnlineAgent` describes what its constructor takes.

    Attributes:
        successes: The latest successful episodes, for agents that imitate them again.
        max_replayed: Number of these that all processes together imitate in an iteration; None for all.
        rehearsal: Folder of episodes whose successes are imitated besides; None for none.
        rehearsed: These successes, each in one of the processes; `learn` reads them.
        max_rehearsed: Number of these that all processes together imitate in an iteration; None for all.
        reword: Share of all these that are imitated in other words.
        visited: The latest episodes, for agents that visit their states again.
        logged_as: What the names that an update logs begin with.
    """

    learning_rate: Schedule
    mini_batch_size: int | None
    n_epochs: int
    clip_range: float
    importance_sampling_level: ImportanceLevel
    entropy_coef: float
    kl_coef: float
    reference: Policy | None
    max_grad_norm: float
    rollout_temperature: float
    max_importance_weight: float
    trajectory_trees: bool
    max_branch_tokens: int
    recompute_log_probs: bool
    successes: deque[Success]
    max_replayed: int | None = None
    rehearsal: str | Path | None = None
    rehearsed: Sequence[Success] = ()
    max_rehearsed: int | None = None
    reword: float = 0.0
    visited: deque[Visited]
    logged_as: str = "train"

    def tree(self, episode: Episode, candidates: Candidates = "all") -> Tree:
        """Packs an episode for policy and critic, with all its candidates or with the executed ones only."""
        if self.trajectory_trees:
            return build_tree(self.policy, episode, candidates, self.max_branch_tokens)
        return separate_tree(self.policy, episode, candidates)

    def policy_sample(
        self, episode: Episode, tree: Tree, advantages: Tensor, first: int = 0, weights: Tensor | None = None
    ) -> PolicySample:
        """Returns an episode as `update_policy` takes it.

        Args:
            episode: Its candidates have the sampler's log-probabilities.
            tree: The episode's tree with all candidates.
            advantages: Advantages of the candidates from `first` on, (T, k), or (T,) for one candidate per step.
            first: Leading candidates of every step that are not learned from.
            weights: Importance weights of the candidates, of the shape of `advantages`; None for 1.
        """
        chosen = [candidate for step in episode.steps for candidate in step.candidates[first:]]
        for candidate, advantage in zip(chosen, advantages.flatten().tolist(), strict=True):
            candidate.advantage = advantage
        lengths = torch.tensor([len(candidate.token_ids) for candidate in chosen], device=self.device)
        old = torch.tensor([value for candidate in chosen for value in candidate.logprobs], device=self.device)
        weights = torch.ones_like(advantages) if weights is None else weights
        of_tokens = [each.flatten().repeat_interleave(lengths) for each in (advantages, weights)]
        return PolicySample(tree, old, of_tokens[0], of_tokens[1], first)

    def update_policy(self, samples: list[PolicySample]) -> None:
        """Makes PPO's clipped update in `n_epochs` passes over the samples, and logs it."""
        hot = self.rollout_temperature != self.temperature
        if hot or self.recompute_log_probs:
            rescore(self.policy, samples, self.temperature, self.max_importance_weight if hot else None)
        else:
            warn_of_rounding(self.generator)
        if self.reference is not None:
            scored = score(self.reference, samples, self.temperature)
            for sample, of_tokens in zip(samples, scored, strict=True):
                sample.reference_log_probs = of_tokens
        optimizer = self.optimizers["policy.optimizer"]
        learning_rate = set_learning_rate(optimizer, value_of(self.learning_rate, self.progress_remaining))
        with self.timed("update"):
            batches = self.mini_batches(samples, self.n_epochs)
            limits, coefs = (self.clip_range, self.max_grad_norm), (self.entropy_coef, self.kl_coef)
            level = self.importance_sampling_level
            means = minimize_policy_loss(self.policy, optimizer, batches, *limits, self.temperature, *coefs, level)
        advantages = processes.concatenate([sample.advantages for sample in samples])
        self.log_training(
            **means,
            loss=means.get("policy_gradient_loss", 0.0)
            - self.entropy_coef * means.get("token_entropy", 0.0)
            + self.kl_coef * means.get("kl", 0.0),
            advantage_std=advantages.std(correction=0).item(),
            entropy=mean_entropy(samples),
            clip_range=self.clip_range,
            learning_rate=learning_rate,
            token_ratio=token_ratio([sample.tree for sample in samples]),
        )
        self.logger.record(f"{self.logged_as}/advantages", advantages)
        self.logger.record("train/n_updates", self.n_updates + 1, exclude="tensorboard")

    def mini_batches(self, items: Sequence[Item], n_epochs: int) -> list[list[Item]]:
        """Shuffles items into mini-batches of `mini_batch_size`, `n_epochs` times over (`batching.mini_batches`)."""
        return mini_batches(items, n_epochs, self.mini_batch_size, self.rng)

    def imitate(self, episodes: Sequence[Episode]) -> None:
        """Raises the likelihood of all executed responses of successes: new, earlier and rehearsed ones; and logs it.

        Args:
            episodes: Those of this roll-out; `successes` receives the successful ones.
        """
        solved = [episode for episode in episodes if episode.success]
        new = [self.tree(episode, candidates="executed") for episode in solved]
        replayed = self._turn(self.successes, self.max_replayed)
        items: list[Success | Tree] = [*replayed, *self._turn(self.rehearsed, self.max_rehearsed), *new]
        if self.successes.maxlen:
            self.successes.extend(Success(pack(episode)) for episode in solved)
        optimizer = self.optimizers["policy.optimizer"]
        learning_rate = set_learning_rate(optimizer, value_of(self.learning_rate, self.progress_remaining))
        with self.timed("update"):
            batches = map(self._packed, self.mini_batches(items, self.n_epochs))
            means = minimize_imitation_loss(self.policy, optimizer, batches, self.max_grad_norm, self.temperature)
        self.log_training(**means, imitated=float(sum(processes.gather(len(items)))), learning_rate=learning_rate)

    def _turn(self, remembered: Iterable[Memory], most: int | None) -> list[Memory]:
        """Returns those whose turn it is among this process's episodes; `most` is for all processes together."""
        kept = list(remembered)
        if most is None or len(kept) <= (number := processes.share(most)):
            return kept
        return [kept[index] for index in self.rng.choice(len(kept), number, replace=False)]

    def _packed(self, batch: list[Success | Tree]) -> list[Tree]:
        """Returns a mini-batch packed to be learned from, some of its successes in other words."""
        if not self.reword:
            return list(map(self._tree_of, batch))
        same: list[Tree] = []
        others: list[Episode] = []
        for item in batch:
            if isinstance(item, Success) and self.rng.random() < self.reword:
                others.append(item.episode())
            else:
                same.append(self._tree_of(item))
        words, rng = words_of(others), random.Random(int(self.rng.integers(1 << 32)))
        retold = (reworded(self.policy, episode, words, rng) for episode in others)
        return same + [self.tree(episode, candidates="executed") for episode in retold]

    def _tree_of(self, item: Success | Tree) -> Tree:
        """Returns a success packed to be learned from, and keeps it so while there is room."""
        if isinstance(item, Tree):
            return item
        if item.tree is not None:
            return item.tree
        tree = self.tree(item.episode(), candidates="executed")
        kept = (each.tree for each in chain(self.successes, self.rehearsed) if each.tree is not None)
        if tree.nbytes + sum(each.nbytes for each in kept) <= KEPT_BYTES:
            item.tree = tree
        return tree

    # ---- logging --------------------------------------------------------------------------------------------------

    def log_training(self, **values: float) -> None:
        """Records `train/*` values, or what `logged_as` says."""
        for name, value in values.items():
            self.logger.record(f"{self.logged_as}/{name}", value)

    def timed(self, part: str) -> AbstractContextManager[None]:
        """Adds the seconds spent in the context to `time/{part}`."""
        return self.log.timed(part)
