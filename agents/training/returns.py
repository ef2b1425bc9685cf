"""Phase 2 of Android Coach: the return that each executed action is given, from verdicts on steps and outcome."""

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
) -> list[float | None]:
    """Monte-Carlo return of every step, from process rewards and the outcome (Section 3.2 of the paper).

        R_t = process_weight * sum_{i>=t} d_i * r_i  +  outcome_weight * outcome

    The outcome is not discounted. A return that needs a process reward nobody knows is itself unknown: to
    leave that term out would be to score it 0.

    Args:
        process_rewards: verdict r_t on each of the T executed actions, in [0, 1], or None where unknown.
        outcome: verdict on the whole episode, in [0, 1].
        gamma: discount factor.
        process_weight: the paper's omega_p.
        outcome_weight: the paper's omega_o.
        discount: `"forward"` takes d_i = gamma^(i-t), as the authors' code does; `"paper"` takes
            d_i = gamma^(T-i) with T the last step, as the equation is printed.

    Returns:
        T returns, None where unknown.
    """
    last = len(process_rewards) - 1
    returns: list[float | None] = []
    tail: float | None = 0.0
    for step, reward in reversed(list(enumerate(process_rewards))):
        if tail is None or reward is None:
            tail = None
        elif discount == "forward":
            tail = reward + gamma * tail
        else:
            tail = gamma ** (last - step) * reward + tail
        returns.append(None if tail is None else process_weight * tail + outcome_weight * outcome)
    return returns[::-1]


def discounted_outcome(length: int, outcome: float, gamma: float = 0.95) -> list[float]:
    """Return of every step when only the outcome is judged: `gamma^(T-1-t) * outcome`, T = `length`."""
    return [gamma ** (length - 1 - step) * outcome for step in range(length)]
