"""The clipped losses and a penalty. All return one number per element; the caller averages over its mini-batch."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

ImportanceLevel = Literal["token", "sequence", "action"]
"""What has a probability ratio of its own, see `log_ratios`."""


def log_ratios(log_probs: Tensor, old_log_probs: Tensor, lengths: Sequence[int], level: ImportanceLevel) -> Tensor:
    """Computes the logarithms of the probability ratios of tokens or of whole responses.

        token      r_j = pi(a_j) / pi_old(a_j)                      PPO as verl and TRL have it by default
        sequence   r   = (prod_j pi(a_j) / pi_old(a_j))^(1/length)  GSPO (Zheng et al. 2025)
        action     r   = prod_j pi(a_j) / pi_old(a_j)               the paper's Equation 4 to the letter

    A response's ratio is repeated for each of its tokens. Its gradient is dealt out among them as in verl's GSPO, each
    token receiving that of its own log-probability. Where pi = pi_old, all levels therefore have the same gradient:
    they differ in what is clipped.

    Args:
        log_probs: Log-probabilities of the sampled tokens under the policy in training, (N,).
        old_log_probs: Log-probabilities under the policy that sampled them, (N,), without gradient.
        lengths: Numbers of tokens of the responses, N in all.
        level: What has a ratio of its own.

    Returns:
        Log-ratios of the tokens, (N,).
    """
    of_tokens = log_probs - old_log_probs
    if level == "token":
        return of_tokens
    sums = torch.stack([part.sum() for part in of_tokens.detach().split(list(lengths))])
    sizes = torch.tensor(lengths, device=sums.device)
    whole = sums / sizes if level == "sequence" else sums
    return whole.repeat_interleave(sizes) + (log_probs - log_probs.detach())


def ppo_clip(log_ratios: Tensor, advantages: Tensor, clip_range: float) -> Tensor:
    """Computes PPO's clipped surrogate loss (the paper's Equation 4, negated to be minimised).

        loss  = -min(ratio * A, clip(ratio, 1 - clip_range, 1 + clip_range) * A)

    Args:
        log_ratios: Logarithms of the ratios, (N,).
        advantages: Advantages of the actions that the tokens belong to, (N,), without gradient.
        clip_range: The clipping parameter epsilon.

    Returns:
        Losses of the tokens, (N,).
    """
    ratio = torch.exp(log_ratios)
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    return -torch.min(ratio * advantages, clipped * advantages)


def clipped_value_loss(values: Tensor, old_values: Tensor, returns: Tensor, clip_range: float) -> Tensor:
    """Computes half the clipped squared error (the paper's Equation 2).

        loss = max((v - R)^2, (clip(v, v_old - clip_range, v_old + clip_range) - R)^2) / 2

    Args:
        values: Current estimates, (N,).
        old_values: Estimates before this update, (N,), without gradient.
        returns: Targets, (N,).
        clip_range: The clipping parameter epsilon_v.

    Returns:
        Losses of the elements, (N,).
    """
    clipped = old_values + (values - old_values).clamp(-clip_range, clip_range)
    return 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2)


def approximate_kl(log_probs: Tensor, old_log_probs: Tensor) -> float:
    """Estimates the KL divergence from the old policy by `mean((ratio - 1) - log ratio)`, which is never negative.

    This is "k3" of Schulman 2020, token by token.
    """
    log_ratio = (log_probs - old_log_probs).detach()
    return ((log_ratio.exp() - 1) - log_ratio).mean().item()


def clipped_share(log_ratios: Tensor, clip_range: float) -> float:
    """Returns the share of tokens whose ratio is beyond the clip range."""
    return ((log_ratios.detach().exp() - 1).abs() > clip_range).float().mean().item()


def kl_penalty(log_probs: Tensor, old_log_probs: Tensor, reference_log_probs: Tensor) -> Tensor:
    """Estimates the KL divergence of the policy from a reference at the sampled tokens.

        k3 = reference / policy - 1 - log(reference / policy)        (Schulman 2020, as in GRPO)

    The tokens are draws of the old policy, so the gradient of their mean is that of ratio * k3 and not of k3 (as in
    DeepSeek-V3.2). Its terms cancel to `ratio * log(policy / reference) * grad log(policy)`, and so it is computed:
    otherwise digits are lost where the reference is much larger than the policy.

    Args:
        log_probs: Log-probabilities under the policy in training, (N,).
        old_log_probs: Log-probabilities under the policy before the update, (N,), without gradient.
        reference_log_probs: Log-probabilities under the reference, (N,), without gradient.

    Returns:
        k3 of the tokens, (N,), none of which is negative.
    """
    log_ratio = (log_probs - reference_log_probs).detach()
    carrier = torch.exp(log_probs - old_log_probs) * log_ratio
    return (torch.expm1(-log_ratio) + log_ratio) + (carrier - carrier.detach())
