"""Phase 2 of Android Coach: returns of executed actions from verdicts on the steps and on the outcome."""

from collections.abc import Sequence
from typing import Literal

Discount = Literal["forward", "paper"]


def process_outcome_returns(
    process_rewards: Sequence[float | None],
    outcome: float,
    gamma: float = 0.95,
    process_weight: float = 0.2,
    outcome_weight: float = 1.0,
    discount: Discount = "forward",
    discount_outcome: bool = False,
) -> list[float | None]:
    """Computes Monte-Carlo returns from process rewards and the outcome (Section 3.2 of the paper).

        R_t = process_weight * sum_{i>=t} d_i * r_i  +  outcome_weight * outcome

    A step whose own process reward is unknown has no return. In the returns of earlier steps, its term counts as the
    mean of the episode's known process rewards: omitting it would score it 0, and discarding those returns too would
    let one missing verdict blank the whole episode.

    Args:
        process_rewards: Verdicts r_t on the T executed actions, in [0, 1]; None where unknown.
        outcome: Verdict on the whole episode, in [0, 1].
        gamma: Discount factor.
        process_weight: Weight of process rewards, the paper's omega_p.
        outcome_weight: Weight of the outcome, the paper's omega_o.
        discount: `"forward"` uses d_i = gamma^(i-t), as the authors' code does; `"paper"` uses d_i = gamma^(T-i), where
            T is the last step, as the paper prints the equation.
        discount_outcome: Multiplies the outcome by gamma^(T-t), which the paper does not.

    Returns:
        T returns, None where the step's own process reward is unknown.
    """
    known = [reward for reward in process_rewards if reward is not None]
    mean = sum(known) / len(known) if known else 0.0  # unused without a known reward: every return is None
    length = len(process_rewards)
    due = discounted_outcome(length, outcome, gamma) if discount_outcome else [outcome] * length
    tail = 0.0
    returns: list[float | None] = []
    for step, reward in reversed(list(enumerate(process_rewards))):
        term = mean if reward is None else reward
        tail = term + gamma * tail if discount == "forward" else gamma ** (length - 1 - step) * term + tail
        returns.append(None if reward is None else process_weight * tail + outcome_weight * due[step])
    return returns[::-1]


def discounted_outcome(length: int, outcome: float, gamma: float = 0.95) -> list[float]:
    """Computes the returns of T = `length` steps from the outcome alone: `gamma^(T-1-t) * outcome`."""
    return [gamma ** (length - 1 - step) * outcome for step in range(length)]
