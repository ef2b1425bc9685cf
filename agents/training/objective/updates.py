"""The two gradient updates that the methods share: PPO's clipped step of the policy, and the critic's regression.

Both go episode by episode: one forward and one backward pass over each trunk of an episode's tree, gradients summed
over the mini-batch, then one optimizer step. Losses are means over the mini-batch, whatever the lengths of its
episodes. Several processes may share a mini-batch, and a process may have no part of it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor
from torch.optim import Optimizer

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import clip_gradients, in_step
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, log_probs, log_probs_and_entropies
from coach_gym.agents.training.objective.losses import (
    ImportanceLevel,
    approximate_kl,
    clipped_share,
    clipped_value_loss,
    kl_penalty,
    log_ratios,
    ppo_clip,
)


@dataclass
class PolicySample:
    """The responses of one episode that the policy learns from.

    Attributes:
        tree: The packed episode.
        old_log_probs: Log-probabilities of the tokens when they were sampled, (N,): all candidates of all steps in
            order.
        advantages: Advantages of the responses that the tokens belong to, (N,).
        weights: Importance weights of these responses, (N,); 1 for independent draws from the policy.
        first: Number of leading candidates of every step that are in the tree but not learned from.
        reference_log_probs: Log-probabilities of the tokens under the reference, (N,); None without one.
    """

    tree: Tree
    old_log_probs: Tensor
    advantages: Tensor
    weights: Tensor
    first: int = 0
    reference_log_probs: Tensor | None = None

    @property
    def lengths(self) -> list[int]:
        """Numbers of tokens of the responses that are learned from, in order."""
        return [span.length for trunk in self.tree.trunks for span in trunk.without(self.first).responses]

    @cached_property
    def parts(self) -> list["PolicySample"]:
        """One sample per trunk, restricted to the candidates that are learned from; each has its own passes."""
        trunks = [trunk.without(self.first) for trunk in self.tree.trunks]
        sizes = [sum(span.length for span in trunk.responses) for trunk in trunks]
        numbers = (each.split(sizes) for each in (self.old_log_probs, self.advantages, self.weights))
        reference = self.reference_log_probs
        references = [None] * len(sizes) if reference is None else reference.split(sizes)
        return [
            PolicySample(Tree([trunk]), old, advantages, weights, reference_log_probs=of_reference)
            for trunk, old, advantages, weights, of_reference in zip(trunks, *numbers, references, strict=True)
        ]


@dataclass
class CriticSample:
    """The targets of one episode: one per step, (T,), or one per response of the tree or per token of these, (N,).

    Attributes:
        tree: The packed episode.
        returns: Targets, (T,) or (N,).
        known: Which targets are known, bool, of the same shape.
        old_values: Estimates before the update, of the same shape; None until they are computed.
        executed: Which targets are returns of executed actions, bool, of the same shape; None if all are.
    """

    tree: Tree
    returns: Tensor
    known: Tensor
    old_values: Tensor | None = None
    executed: Tensor | None = None

    @cached_property
    def parts(self) -> list["CriticSample"]:
        """One sample per trunk."""
        if len(self.tree.trunks) == 1:
            return [self]
        trunks = self.tree.trunks
        per_response = [len(trunk.responses) for trunk in trunks]
        per_step = [len(trunk.prompt_ends) for trunk in trunks]
        per_token = [sum(span.length for span in trunk.responses) for trunk in trunks]
        sizes = next(each for each in (per_response, per_step, per_token) if sum(each) == len(self.returns))
        old, executed = (
            [None] * len(sizes) if each is None else each.split(sizes) for each in (self.old_values, self.executed)
        )
        pieces = zip(trunks, self.returns.split(sizes), self.known.split(sizes), old, executed, strict=True)
        return [CriticSample(Tree([trunk]), *rest) for trunk, *rest in pieces]

    def contrast(self, values: Tensor) -> Tensor:
        """Computes squared errors in the differences between candidates of a state.

        They are the errors of the known targets less their mean over the state; 0 for a state's only target.

        Args:
            values: Estimates, of the targets' shape.

        Returns:
            One squared error per known target.
        """
        spans = [span for trunk in self.tree.trunks for span in trunk.responses]
        if len(spans) != len(self.returns) or not self.known.any():  # one target per step, or none
            return values.new_zeros(int(self.known.sum()))
        states = torch.tensor([span.step for span in spans], device=values.device)[self.known]
        errors = (values - self.returns)[self.known]
        size = int(states.max()) + 1
        counts = torch.zeros(size, device=values.device).index_add(0, states, torch.ones_like(errors))
        means = torch.zeros(size, device=values.device).index_add(0, states, errors) / counts.clamp(min=1)
        return (errors - means[states]) ** 2


@dataclass
class Means:
    """Running means for the log, each value weighted by its number of elements."""

    _sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _weights: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, weight: float, **values: float) -> None:
        """Adds one value per name."""
        for name, value in values.items():
            self._sums[name] += weight * value
            self._weights[name] += weight

    def result(self) -> dict[str, float]:
        """Returns the means over all processes."""
        sums: dict[str, float] = defaultdict(float)
        weights: dict[str, float] = defaultdict(float)
        for their_sums, their_weights in processes.gather((dict(self._sums), dict(self._weights))):
            for name, total in their_sums.items():
                sums[name] += total
                weights[name] += their_weights[name]
        return {name: total / weights[name] for name, total in sums.items()}


def minimize_policy_loss(
    policy: Policy,
    optimizer: Optimizer,
    batches: Iterable[list[PolicySample]],
    clip_range: float = 0.2,
    max_grad_norm: float = 1.0,
    temperature: float = 1.0,
    entropy_coef: float = 0.0,
    kl_coef: float = 0.0,
    importance_sampling_level: ImportanceLevel = "token",
) -> dict[str, float]:
    """Minimises PPO's clipped surrogate (the paper's Equation 4), averaged over the tokens of a mini-batch.

        loss = weight * (clipped surrogate - entropy_coef * entropy + kl_coef * KL to the reference)

    Args:
        policy: The policy in training.
        optimizer: Optimizer of its parameters.
        batches: One mini-batch per optimizer step.
        clip_range: Clipping parameter epsilon of the probability ratio.
        max_grad_norm: Norm to which larger gradients are scaled down.
        temperature: Temperature of the policy.
        entropy_coef: Weight of the entropy of the next token, where the drawn responses lead.
        kl_coef: Weight of the KL penalty, for samples with `reference_log_probs`.
        importance_sampling_level: What has a probability ratio of its own (`losses.log_ratios`).

    Returns:
        Means over all batches by their names in the log; on a GPU also `peak_memory_gb`, the largest amount of memory
        that this process's tensors have occupied so far.
    """
    means = Means()

    def score(tree: Tree) -> Tensor:
        return torch.cat(sum(log_probs(policy, tree, temperature), []))

    for batch in batches:
        n_tokens = processes.mean(sum(len(sample.advantages) for sample in batch))
        optimizer.zero_grad(set_to_none=True)
        with in_step(policy.model, score):
            for sample in (part for whole in batch for part in whole.parts):
                if not len(sample.advantages):  # a trunk whose responses are left out
                    continue
                if not (sample.advantages.any() or entropy_coef or kl_coef):  # its gradient is zero
                    continue
                if entropy_coef:
                    new, entropies = log_probs_and_entropies(policy, sample.tree, temperature)
                else:
                    new, entropies = score(sample.tree), None
                old = sample.old_log_probs
                ratios = log_ratios(new, old, sample.lengths, importance_sampling_level)
                losses = sample.weights * ppo_clip(ratios, sample.advantages, clip_range)
                total = losses.sum()
                if entropies is not None:
                    total = total - entropy_coef * (sample.weights * entropies).sum()
                    means.add(float(sample.weights.sum()), token_entropy=_mean(entropies, sample.weights))
                if sample.reference_log_probs is not None:
                    penalties = kl_penalty(new, old, sample.reference_log_probs)
                    total = total + kl_coef * (sample.weights * penalties).sum()
                    means.add(float(sample.weights.sum()), kl=_mean(penalties, sample.weights))
                (total / n_tokens).backward()
                loss, entropy_loss = losses.mean().item(), new.mean().item()  # entropy: minus the mean log-probability
                means.add(
                    len(new),
                    policy_gradient_loss=loss,
                    entropy_loss=entropy_loss,
                    approx_kl=approximate_kl(new, old),
                    clip_fraction=clipped_share(ratios, clip_range),
                )
        norm = clip_gradients(optimizer, max_grad_norm)
        optimizer.step()
        means.add(1, grad_norm=norm)
    return {**means.result(), **_peak_memory(policy.device)}


def _mean(values: Tensor, weights: Tensor) -> float:
    return float((weights * values.detach()).sum() / weights.sum())


def _peak_memory(device: torch.device) -> dict[str, float]:
    return {"peak_memory_gb": torch.cuda.max_memory_allocated(device) / 1e9} if device.type == "cuda" else {}


def minimize_value_loss(
    critic: Critic,
    optimizer: Optimizer,
    estimate: Callable[[Tree], Tensor],
    batches: list[list[CriticSample]],
    clip_range: float = 0.5,
    max_grad_norm: float = 1.0,
    contrast: float = 0.0,
) -> dict[str, float]:
    """Minimises the clipped squared error (the paper's Equation 2), averaged over the targets of a mini-batch.

    Args:
        critic: The critic in training.
        optimizer: Optimizer of its parameters.
        estimate: Returns the critic's values of an episode, with gradient: Q of its responses, (N,), or V, (T,).
        batches: One mini-batch per optimizer step.
        clip_range: Distance from the old estimate beyond which the loss has no gradient.
        max_grad_norm: Norm to which larger gradients are scaled down.
        contrast: Weight of a second squared error, in the differences between a state's candidates, where several have
            targets. How good a state is explains most of the returns' variance; an advantage needs the rest. Only
            candidates of the same trunk are compared.

    Returns:
        Means over all batches by their names in the log.
    """
    means = Means()
    parts = [[part for sample in batch for part in sample.parts] for batch in batches]
    with in_step(critic, estimate):
        _remember_values(estimate, parts)
    for batch in parts:
        n_targets = processes.mean(sum(int(sample.known.sum()) for sample in batch))
        optimizer.zero_grad(set_to_none=True)
        with in_step(critic, estimate):
            for sample in batch:
                if not sample.known.any():
                    continue
                values = estimate(sample.tree)
                if sample.old_values is None:
                    sample.old_values = values.detach()
                known = sample.known  # selected before the loss, because one NaN would spoil every gradient
                losses = clipped_value_loss(values[known], sample.old_values[known], sample.returns[known], clip_range)
                means.add(len(losses), value_loss=losses.mean().item())
                if contrast:
                    apart = sample.contrast(values)
                    means.add(len(apart), contrast_loss=apart.mean().item())
                    losses = losses + contrast * apart
                (losses.sum() / n_targets).backward()
        norm = clip_gradients(optimizer, max_grad_norm)
        optimizer.step()
        means.add(1, critic_grad_norm=norm)
    return means.result()


@torch.no_grad()
def _remember_values(estimate: Callable[[Tree], Tensor], batches: list[list[CriticSample]]) -> None:
    """Stores the estimates before the update, except for the first mini-batch, whose own pass is early enough."""
    for sample in (sample for batch in batches[1:] for sample in batch):
        if sample.old_values is None and not any(sample is first for first in batches[0]):
            sample.old_values = estimate(sample.tree)


def explained_variance(samples: Sequence[CriticSample]) -> float:
    """Returns the share of the executed actions' variance of returns that the estimates before a fit explain.

    Args:
        samples: Samples after their fit. Those without old estimates are left out.

    Returns:
        At most 1; nan where the returns do not vary.
    """
    seen = [part for sample in samples for part in sample.parts if part.old_values is not None]
    if not processes.any_of(bool(seen)):
        return float("nan")
    chosen = [part.known if part.executed is None else part.known & part.executed for part in seen]
    returns = processes.concatenate([part.returns[which] for part, which in zip(seen, chosen, strict=True)])
    values = processes.concatenate(
        [part.old_values[which] for part, which in zip(seen, chosen, strict=True) if part.old_values is not None]
    )
    variance = returns.var(correction=0)
    return float(1 - (returns - values).var(correction=0) / variance) if variance > 0 else float("nan")


def token_ratio(trees: Sequence[Tree]) -> float:
    """Returns the tokens of one sequence per candidate, divided by the tokens of the trees."""
    trunks = [trunk for tree in trees for trunk in tree.trunks]
    separate = sum(span.prompt_end + span.length for trunk in trunks for step in trunk.spans for span in step)
    packed = sum(trunk.input_ids.shape[1] for trunk in trunks)
    return sum(processes.gather(separate)) / sum(processes.gather(packed))
