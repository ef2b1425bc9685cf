"""Learning rates that may change during a training."""

from collections.abc import Callable

from torch.optim import Optimizer

Schedule = float | Callable[[float], float]
"""A learning rate, or a function of the remaining progress, which goes from 1 to 0."""


def value_of(schedule: Schedule, progress_remaining: float) -> float:
    """Returns a learning rate that may be a function of the remaining progress."""
    return schedule(progress_remaining) if callable(schedule) else schedule


def set_learning_rate(optimizer: Optimizer, learning_rate: float) -> float:
    """Sets the learning rate of all parameters and returns it."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    return learning_rate
