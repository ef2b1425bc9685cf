"""The two clipped losses. Both return one number an element; the caller averages over its mini-batch."""

import torch
from torch import Tensor


def ppo_clip(log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip_range: float) -> Tensor:
    """PPO's clipped surrogate, to be minimised (the paper's Equation 4 with its sign turned).

        ratio = exp(log_probs - old_log_probs)
        loss  = -min(ratio * A, clip(ratio, 1 - clip_range, 1 + clip_range) * A)

    Args:
        log_probs: log-probability of each sampled token under the policy being trained, (N,).
        old_log_probs: the same under the policy that sampled them, (N,), no gradient.
        advantages: advantage of the action that each token belongs to, (N,), no gradient.
        clip_range: epsilon.

    Returns:
        Loss of each token, (N,).
    """
    ratio = torch.exp(log_probs - old_log_probs)
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    return -torch.min(ratio * advantages, clipped * advantages)


def clipped_value_loss(values: Tensor, old_values: Tensor, returns: Tensor, clip_range: float) -> Tensor:
    """Clipped squared error, half of it (the paper's Equation 2).

        loss = max((v - R)^2, (clip(v, v_old - clip_range, v_old + clip_range) - R)^2) / 2

    Args:
        values: current estimates, (N,).
        old_values: the estimates before this update, (N,), no gradient.
        returns: targets, (N,).
        clip_range: epsilon_v.

    Returns:
        Loss of each element, (N,).
    """
    clipped = old_values + (values - old_values).clamp(-clip_range, clip_range)
    return 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2)


def clip_diagnostics(log_probs: Tensor, old_log_probs: Tensor, clip_range: float) -> tuple[float, float]:
    """Approximate KL divergence from the old policy, and the share of tokens beyond the clip range.

    The KL estimator is `mean((ratio - 1) - log ratio)`, which is never negative (Schulman 2020, "k3").
    """
    log_ratio = (log_probs - old_log_probs).detach()
    ratio = log_ratio.exp()
    approx_kl = ((ratio - 1) - log_ratio).mean().item()
    clip_fraction = ((ratio - 1).abs() > clip_range).float().mean().item()
    return approx_kl, clip_fraction
