"""Advantage estimators, one for each method."""

from typing import Literal

import torch
from torch import Tensor

Baseline = Literal["leave_one_out", "mean", "value", "none"]


def acloo(q_values: Tensor) -> Tensor:
    """Computes actor-critic leave-one-out advantages (the paper's Equation 3).

        A_i = Q_i - mean_{j != i} Q_j

    The other candidates of a state are the baseline. They are drawn independently of candidate i, so the baseline
    adds no bias, and the critic's opinion of the state as a whole cancels.

    Args:
        q_values: Q of the k candidates of each state, (..., k).

    Returns:
        Advantages of the same shape. With k = 1 there is no baseline and A = Q.
    """
    k = q_values.shape[-1]
    if k == 1:
        return q_values.clone()
    # The same as Q_i minus the mean of the others, and exactly zero where all are equal.
    return (q_values - q_values.mean(-1, keepdim=True)) * (k / (k - 1))


def less_baseline(q_values: Tensor, baseline: Baseline, state_values: Tensor | None = None) -> Tensor:
    """Computes advantages of the candidates of each state with ACLOO's baseline or one of its alternatives.

    Args:
        q_values: Q of the k candidates of each state, (T, k).
        baseline: `"leave_one_out"` is `acloo`. `"mean"` includes the candidate itself, which shrinks advantages to
            (k - 1) / k of ACLOO's. `"value"` subtracts `state_values`, and `"none"` nothing.
        state_values: V of each state, (T,); for `"value"`.

    Returns:
        Advantages, (T, k).
    """
    if baseline == "leave_one_out":
        return acloo(q_values)
    if baseline == "mean":
        return q_values - q_values.mean(-1, keepdim=True)
    if baseline == "value":
        assert state_values is not None
        return q_values - state_values[:, None]
    return q_values.clone()


def corrected(
    advantages: Tensor,
    q_values: Tensor,
    executed: Tensor,
    returns: Tensor,
    weight: float = 1.0,
    shares: Tensor | None = None,
) -> Tensor:
    """Corrects the advantages of a state's candidates by the return of the executed one.

        A_e + weight * k * (R - Q_e)

    A critic alone teaches its own mistakes. With `weight` = 1, the mean over the k candidates has the expectation of
    REINFORCE on the returns, whatever Q is: the executed candidate is a draw like the others, and the two terms with
    its Q cancel. A good Q then only reduces the variance.

    Args:
        advantages: Advantages of the k candidates of each state, (T, k).
        q_values: The critic's values of the candidates before it is fitted to these returns, (T, k).
        executed: Index of the executed candidate, (T,).
        returns: Return of the executed candidate, (T,); nan where unknown, which corrects nothing.
        weight: Share of the correction: 0 leaves everything to the critic, as in the paper.
        shares: Weights of the candidates in that mean, (T, k); None for 1 / k.

    Returns:
        Corrected advantages, (T, k).
    """
    column = executed[:, None]
    surprise = (returns[:, None] - q_values.gather(1, column)).nan_to_num(0.0)
    share = 1 / q_values.shape[1] if shares is None else shares.gather(1, column)
    return advantages.scatter_add(1, column, weight * surprise / share)


def gae(rewards: Tensor, values: Tensor, gamma: float | Tensor, lam: float) -> Tensor:
    """Computes generalised advantage estimates over one finished episode (Schulman et al. 2016).

    With `lam` = 1 this is the discounted return minus the value. Nothing is bootstrapped after the last step, since an
    episode that runs out of steps has failed.

    Args:
        rewards: Rewards of the steps, (T,).
        values: V of the states, (T,).
        gamma: Discount factor, or one for each step, (T,).
        lam: GAE's lambda in [0, 1]: 0 looks one step ahead, 1 to the end of the episode.

    Returns:
        Advantages, (T,). Value targets are `advantages + values`.
    """
    advantages = torch.zeros_like(values)
    following_value = following_advantage = torch.zeros_like(values[0])
    gammas = torch.as_tensor(gamma).expand(len(values))
    for step in reversed(range(len(values))):
        delta = rewards[step] + gammas[step] * following_value - values[step]
        following_advantage = delta + gammas[step] * lam * following_advantage
        following_value = values[step]
        advantages[step] = following_advantage
    return advantages


def grpo(outcomes: Tensor, eps: float = 1e-6) -> Tensor:
    """Computes group-relative advantages: outcomes normalised within their group (Shao et al. 2024).

    Args:
        outcomes: Outcomes of the episodes of one task instance, (G,).
        eps: Added to the standard deviation.

    Returns:
        Advantages, (G,); all zero for a single episode or equal outcomes.
    """
    if len(outcomes) < 2:
        return torch.zeros_like(outcomes)
    return (outcomes - outcomes.mean()) / (outcomes.std() + eps)


def rloo(outcomes: Tensor) -> Tensor:
    """Computes leave-one-out advantages of episodes: each outcome less the mean of the others (Kool et al. 2019).

    Args:
        outcomes: Outcomes of the episodes of one task instance, (G,).

    Returns:
        Advantages, (G,); zero for a single episode, which has nothing to be compared with.
    """
    return acloo(outcomes) if len(outcomes) > 1 else torch.zeros_like(outcomes)
