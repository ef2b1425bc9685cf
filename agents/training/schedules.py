"""Learning rates that may change during a training."""

from collections.abc import Callable
from numbers import Real

from torch import Tensor
from torch.optim import Optimizer

from coach_gym.checks import LARGEST_NUMBER, float_or_infinite

Schedule = float | Callable[[float], float]
"""A learning rate, or a function of the remaining progress, which goes from 1 to 0."""


def value_of(schedule: Schedule, progress_remaining: float) -> float:
    """Returns a learning rate that may be a function of the remaining progress.

    Raises:
        ValueError: The function returned something that is no learning rate.
    """
    value = schedule(progress_remaining) if callable(schedule) else schedule
    if not isinstance(value, Real) or not 0 <= float_or_infinite(value) <= LARGEST_NUMBER:
        at = f"at remaining progress {progress_remaining:g}"
        raise ValueError(f"the learning rate {at} is {value!r}; return a number from 0 to {LARGEST_NUMBER:g}")
    return float(value)


def set_learning_rate(optimizer: Optimizer, learning_rate: float) -> float:
    """Sets the learning rate of all parameters and returns it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):  # compiled steps read it from where it is
            group["lr"].fill_(learning_rate)
        else:
            group["lr"] = learning_rate
    return learning_rate
