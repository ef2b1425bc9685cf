"""Candidates drawn without replacement, and what keeps the policy gradient unbiased with them (Kool et al. 2020).

Candidates that are all different compare as much as k can, but a mean over them is no longer a mean over the policy:
rare responses are among them too often. The first one drawn is still a draw from the policy. Given which k were drawn,
and not in what order, each was the first with a probability that depends on the probabilities p of all of them.
Weighting them by it replaces the first one by its expectation: the same mean, and less variance.

    weight_i = P(i first | the set) = p_i P(the others next | i first) / P(the set)

This is the *unordered set estimator* of "Estimating Gradients for Discrete Random Variables by Sampling without
Replacement" (ICLR 2020), with its built-in baseline. `log_completions` computes the probabilities exactly, by dynamic
programming over the 2^k subsets.
"""

import torch
from torch import Tensor


def log_completions(log_probs: Tensor) -> Tensor:
    """Computes how likely draws without replacement complete a set that they have begun.

    Args:
        log_probs: Log-probabilities of the k different responses of each state, (..., k).

    Returns:
        Log-probabilities, (..., 2^k) float64, that the next draws are the rest of the set in any order, for each subset
        already drawn; response i is in the subsets whose number has bit i set. The first is that of the whole set, the
        last 0.
    """
    log_probs = log_probs.double()
    k = log_probs.shape[-1]
    bits = 1 << torch.arange(k, device=log_probs.device)
    subsets = torch.arange(1 << k, device=log_probs.device)
    drawn = (subsets[:, None] & bits) > 0
    left = _left(log_probs, ~drawn).log()
    result = log_probs.new_zeros(*log_probs.shape[:-1], 1 << k)
    for size in reversed(range(k)):
        begun = subsets[drawn.sum(1) == size]
        following = log_probs[..., None, :] + result[..., begun[:, None] | bits]
        following = following.masked_fill(drawn[begun], float("-inf"))
        result[..., begun] = following.logsumexp(-1) - left[..., begun]
    return result


def _left(log_probs: Tensor, not_drawn: Tensor) -> Tensor:
    """Probability of all but the drawn ones, (..., subsets), as a sum: 1 - p would lose all digits near p = 1."""
    probs = log_probs.exp()
    outside = (1 - probs.sum(-1, keepdim=True)).clamp(min=0)
    return (outside + probs @ not_drawn.to(probs.dtype).T).clamp(min=torch.finfo(probs.dtype).tiny)


def first_weights(log_probs: Tensor) -> Tensor:
    """Computes the probability of each candidate that it was drawn first, given the set of all.

    Args:
        log_probs: Log-probabilities of the k different candidates of each state, (..., k), under the distribution that
            they were drawn from.

    Returns:
        Weights, (..., k) in the same precision, with the sum 1. With weights for the mean, what is estimated from the
        candidates has the expectation of independent draws.
    """
    completions = log_completions(log_probs)
    singles = 1 << torch.arange(log_probs.shape[-1], device=log_probs.device)
    return (log_probs + completions[..., singles]).softmax(-1).to(log_probs.dtype)


def distinct_acloo(q_values: Tensor, log_probs: Tensor) -> Tensor:
    """Computes leave-one-out advantages of candidates drawn without replacement.

        A_i = Q_i - (p_i Q_i + (1 - p_i) sum_{j != i} P(j second | i first, the set) Q_j)

    The baseline is an unbiased estimate of V whichever i was drawn first, and so adds no bias (Kool et al. 2020). It
    contains Q_i, because the others are draws from the policy without i.

    Args:
        q_values: Q of the k different candidates of each state, (..., k).
        log_probs: Their log-probabilities under the distribution that they were drawn from, (..., k).

    Returns:
        Advantages, (..., k), to be averaged with `first_weights`.
    """
    k = q_values.shape[-1]
    completions = log_completions(log_probs)
    singles = 1 << torch.arange(k, device=log_probs.device)
    same = torch.eye(k, dtype=torch.bool, device=log_probs.device)
    second = log_probs[..., None, :] + completions[..., singles[:, None] | singles]
    others = second.masked_fill(same, float("-inf")).softmax(-1) @ q_values.double()[..., None]
    remaining = _left(log_probs.double(), ~same)
    return (remaining * (q_values - others[..., 0])).to(q_values.dtype)
