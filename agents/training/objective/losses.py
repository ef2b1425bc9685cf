"""The clipped losses and a penalty. All return one number per element; the caller averages over its mini-batch."""

import torch
from torch import Tensor


def ppo_clip(log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip_range: float) -> Tensor:
    """Computes PPO's clipped surrogate loss (the paper's Equation 4, negated to be minimised).

        ratio = exp(log_probs - old_log_probs)
        loss  = -min(ratio * A, clip(ratio, 1 - clip_range, 1 + clip_range) * A)

    Args:
        log_probs: Log-probabilities of the sampled tokens under the policy in training, (N,).
        old_log_probs: Log-probabilities under the policy that sampled them, (N,), without gradient.
        advantages: Advantages of the actions that the tokens belong to, (N,), without gradient.
        clip_range: The clipping parameter epsilon.

    Returns:
        Losses of the tokens, (N,).
    """
    ratio = torch.exp(log_probs - old_log_probs)
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


def clip_diagnostics(log_probs: Tensor, old_log_probs: Tensor, clip_range: float) -> tuple[float, float]:
    """Returns the approximate KL divergence from the old policy and the share of tokens beyond the clip range.

    The KL estimator is `mean((ratio - 1) - log ratio)`, which is never negative ("k3" of Schulman 2020).
    """
    log_ratio = (log_probs - old_log_probs).detach()
    ratio = log_ratio.exp()
    approx_kl = ((ratio - 1) - log_ratio).mean().item()
    clip_fraction = ((ratio - 1).abs() > clip_range).float().mean().item()
    return approx_kl, clip_fraction


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
