"""Estimates of the gradient of the success rate, each made of the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from benchmarks.gradients.draws import Draws, Played
from coach_gym.agents.training.objective.advantages import less_baseline

Source = Literal["measured", "mean", "critic", "judge"]
Baseline = Literal["none", "constant", "group", "state", "mean", "leave_one_out"]


@dataclass(frozen=True)
class Estimator:
    """A way to estimate the gradient from a roll-out.

    Attributes:
        label: Its name in tables.
        k: Candidates of a state that are scored; the first is executed.
        baseline: What is subtracted from Q: nothing, the mean outcome of all episodes, that of the other episodes of
            the same instance (`"group"`, as RLOO), the value of the state as twelve or more other draws tell it
            (`"state"`, as PPO with a V that is never wrong), or the mean of the candidates, or of the others.
        source: Who says what a candidate is worth: measurements, the mean of two, the shipped critic, or a judge.
    """

    label: str
    k: int
    baseline: Baseline
    source: Source = "measured"

    @property
    def unbiased(self) -> bool:
        """Whether its expectation is the gradient itself."""
        return self.source in ("measured", "mean") and self.baseline != "mean"


DRAWS = 16
TRUTH = Estimator("all draws, measured twice", DRAWS, "leave_one_out", "mean")
ESTIMATORS = (
    Estimator("k = 1, no baseline", 1, "none"),
    Estimator("k = 1, mean outcome (REINFORCE)", 1, "constant"),
    Estimator("k = 1, others of a group (RLOO)", 1, "group"),
    Estimator("k = 1, true value of the state (PPO)", 1, "state"),
    *(Estimator(f"k = {k}, leave-one-out", k, "leave_one_out") for k in (2, 4, 8, 16)),
    Estimator("k = 4, no baseline", 4, "none"),
    Estimator("k = 4, mean of Q", 4, "mean"),
    Estimator("k = 4, true value of the state", 4, "state"),
    *(Estimator(f"k = {k}, leave-one-out, shipped critic", k, "leave_one_out", "critic") for k in (4, 16)),
    *(Estimator(f"k = {k}, leave-one-out, judge", k, "leave_one_out", "judge") for k in (4, 16)),
)


def estimates(estimator: Estimator, played: Sequence[Played]) -> Tensor:
    """Returns the gradient that each episode yields, sketched, (episodes, size of a sketch)."""
    outcomes = torch.tensor([episode.outcome for episode in played])
    instances = torch.tensor([episode.instance for episode in played])
    rows = []
    for number, episode in enumerate(played):
        others = outcomes[(instances == episode.instance) & (torch.arange(len(played)) != number)]
        reference = others.mean() if estimator.baseline == "group" else outcomes.mean()
        rows.append(sum((_of_state(estimator, draws, reference) for draws in episode.states), torch.tensor(0.0)))
    return torch.stack(rows)


def _of_state(estimator: Estimator, draws: Draws, reference: Tensor) -> Tensor:
    advantages = _advantages(estimator, draws, reference)
    return advantages @ draws.gradients[draws.which[: estimator.k]] / estimator.k


def _advantages(estimator: Estimator, draws: Draws, reference: Tensor) -> Tensor:
    """The advantages of the first k draws, (k,)."""
    worth = draws.q | {"mean": (draws.q["measured"] + draws.q["again"]) / 2}
    q = worth[estimator.source][: estimator.k]
    match estimator.baseline:
        case "constant" | "group":
            return q - reference
        case "state":  # told by other draws, in the other measurement, and so independent of these
            return q - draws.q["again"][estimator.k :].mean()
        case "none" | "mean" | "leave_one_out" as baseline:
            return less_baseline(q[None], baseline)[0]
