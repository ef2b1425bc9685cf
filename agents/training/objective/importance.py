"""Importance weights: responses that count more or less, because another distribution than the policy's drew them.

A response drawn from mu counts w = pi / mu, which makes the mean of w * f over draws from mu an estimate of the mean of
f over the policy pi. Here pi is the policy before the update, the *proximal* policy of PPO's ratio. This is decoupled
PPO (Hilton et al. 2022, "Batch size-invariance for policy optimization"):

    loss = -w * min(ratio * A, clip(ratio) * A)        w = min(pi_old / mu, c)        ratio = pi / pi_old

w is that of the whole response. At pi = pi_old the gradient is therefore the policy gradient exactly, except for the
truncation at c, which bounds the variance (as in IMPALA's V-trace). PPO's plain ratio pi / mu would be clipped from the
start, and differently for each token.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import in_step
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, log_probs
from coach_gym.agents.training.objective.updates import PolicySample


@torch.no_grad()
def score(policy: Policy, samples: Sequence[PolicySample], temperature: float) -> list[Tensor]:
    """Returns the log-probabilities of the samples' tokens under a policy, (N,) each; all processes call it."""

    def of_tree(tree: Tree, first: int = 0) -> Tensor:
        scored = log_probs(policy, tree, temperature)
        return torch.cat([candidate for step in scored for candidate in step[first:]])

    with in_step(policy.model, of_tree):
        return [of_tree(sample.tree, sample.first) for sample in samples]


def rescore(policy: Policy, samples: Sequence[PolicySample], temperature: float, largest: float | None) -> None:
    """Replaces the sampler's log-probabilities with those of the policy before the update.

    Args:
        policy: The policy.
        samples: They are changed.
        temperature: Temperature of the policy.
        largest: Weights the responses by importance, up to this; None leaves their weights as they are.
    """
    for sample, old in zip(samples, score(policy, samples, temperature), strict=True):
        if largest is not None:
            sample.weights = sample.weights * truncated_weights(old, sample.old_log_probs, sample.lengths, largest)
        sample.old_log_probs = old


def truncated_weights(old: Tensor, drawn: Tensor, lengths: Sequence[int], largest: float) -> Tensor:
    """Computes min(pi_old / mu, largest) of whole responses, repeated for each of their tokens, (N,).

    Args:
        old: Log-probabilities of the tokens under the policy before the update, (N,).
        drawn: Their log-probabilities under the distribution that they were drawn from, (N,).
        lengths: Numbers of tokens of the responses.
        largest: Bound of a weight.
    """
    ratios = torch.stack([part.sum() for part in (old - drawn).split(list(lengths))]).exp().clamp(max=largest)
    return ratios.repeat_interleave(torch.tensor(lengths, device=old.device))


def mean_entropy(samples: Sequence[PolicySample]) -> float:
    """Estimates the entropy of the policy's responses in nats: the weighted mean of -log p over all of them."""
    surprises, weights = [], []
    for sample in samples:
        lengths = sample.lengths
        surprises.append(torch.stack([-part.sum() for part in sample.old_log_probs.split(lengths)]))
        weights.append(torch.stack([part[0] for part in sample.weights.split(lengths)]))
    surprise, weight = processes.concatenate(surprises), processes.concatenate(weights)
    return float((weight * surprise).sum() / weight.sum())
