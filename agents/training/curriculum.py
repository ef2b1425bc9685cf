"""Which task families a training practises more: those that it solves less.

A family that is hardly ever solved gives a method that learns from successes hardly anything to learn, while episodes
of one that is always solved teach nothing new. Instances are therefore drawn as the environment draws them, and each is
played with a chance that falls with the success rate of its family.
"""

from collections.abc import Iterable, Mapping

FLOOR = 0.05
"""Weight of a family that is always solved, so that it is not forgotten."""
UNKNOWN = 0.5
"""Success rate of a family before its first episode."""
WINDOW = 16
"""Episodes that a success rate remembers, as an exponential average."""


def updated_rates(rates: Mapping[str, float], played: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Returns success rates by family after further episodes, given as family and success, from 0 to 1, in order."""
    after = dict(rates)
    for task, success in played:
        rate = after.get(task, UNKNOWN)
        after[task] = rate + (success - rate) / WINDOW
    return after


def play_probability(rates: Mapping[str, float], task: str, power: float) -> float:
    """Returns the probability that an instance of a family is played once it is drawn.

    It is in proportion to `(1 - rate) ** power + FLOOR`, and 1 for the family that is solved least.
    """
    weights = {name: (1 - rate) ** power + FLOOR for name, rate in rates.items()}
    weight = weights.get(task, (1 - UNKNOWN) ** power + FLOOR)
    return min(1.0, weight / max(weights.values(), default=weight))
