"""Responses that count more or less than others, because they were not drawn independently from the policy itself."""

from collections.abc import Sequence

import torch

from coach_gym.agents.distributed import processes
from coach_gym.agents.training.updates import PolicySample


def mean_entropy(samples: Sequence[PolicySample]) -> float:
    """Estimates the entropy of the policy's responses in nats: the weighted mean of -log p over all of them."""
    surprises, weights = [], []
    for sample in samples:
        lengths = sample.lengths
        surprises.append(torch.stack([-part.sum() for part in sample.old_log_probs.split(lengths)]))
        weights.append(torch.stack([part[0] for part in sample.weights.split(lengths)]))
    surprise, weight = processes.concatenate(surprises), processes.concatenate(weights)
    return float((weight * surprise).sum() / weight.sum())
