"""What a training costs: counted, so that other load on the machine does not matter, and priced afterwards.

A run counts device steps, prompts and tokens that models read and write, and measures processor time of its parts. The
prices of the counts, seconds for each, are one fit to all runs together. Time on a device is a multiple of the
inference of one step, since this ratio is what decides between methods; the paper's is 1.7 (its Figure 1).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coach_gym.agents.actor_critic import ActorCriticAgent
from coach_gym.agents.cloning import FilteredCloningAgent
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.training.online import OnlineAgent

PARTS = {
    "generate": ("policy_prompts", "policy_drawn"),
    "judge": ("judge_prompts",),
    "update": ("policy_learned", "policy_scored"),
    "critic": ("critic_learned", "critic_scored"),
}
"""What the processor time of each part is spent on."""

Work = dict[str, float]
"""Counts by name: `steps` of devices, those on forks included, and those of `PARTS`."""


class Meter:
    """Counts an agent's work as it happens.

    Attributes:
        counts: Prompts and tokens so far, and optimizer steps of the policy (`updates`).
        seconds: Processor time of the parts so far.
    """

    def __init__(self, agent: OnlineAgent) -> None:
        self.counts: dict[str, float] = defaultdict(float)
        self.seconds: dict[str, float] = defaultdict(float)
        self._running = True
        self._count_draws("policy", agent.generator)
        self._count_passes("policy", agent.policy.model.model)
        agent.optimizers["policy.optimizer"].register_step_post_hook(lambda *_: self._add("updates", 1))
        if isinstance(agent, ActorCriticAgent):
            self._count_passes("critic", agent.critic.backbone)
        if isinstance(agent, ActorCriticAgent | FilteredCloningAgent) and isinstance(agent.prm, GenerativePRM):
            self._count_draws("judge", agent.prm.generator)
        self._time_parts(agent)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Counts nothing in this context."""
        self._running = False
        yield
        self._running = True

    def snapshot(self) -> dict[str, float]:
        """Returns the counts so far."""
        return dict(self.counts)

    def _add(self, name: str, number: float) -> None:
        if self._running:
            self.counts[name] += number

    def _count_draws(self, model: str, generator: Generator) -> None:
        sample: Callable[..., Any] = generator.sample

        def counted(prompts: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
            drawn = sample(prompts, *args, **kwargs)
            self._add(f"{model}_prompts", len(prompts))
            self._add(f"{model}_drawn", sum(len(one.token_ids) for candidates in drawn for one in candidates))
            return drawn

        generator.sample = counted  # type: ignore[method-assign]

    def _count_passes(self, model: str, backbone: Any) -> None:
        def count(_: nn.Module, hidden: tuple[Tensor, ...], arguments: dict[str, Any]) -> None:
            if arguments.get("past_key_values") is None:  # else it is part of a draw
                kind = "learned" if torch.is_grad_enabled() else "scored"
                self._add(f"{model}_{kind}", hidden[0].shape[:2].numel())

        backbone.language_model.layers[0].register_forward_pre_hook(count, with_kwargs=True)

    def _time_parts(self, agent: OnlineAgent) -> None:
        timed = agent.log.timed

        @contextmanager
        def measured(part: str) -> Iterator[None]:
            begun = time.thread_time()
            with timed(part):
                yield
            if self._running:
                self.seconds["generate" if part == "forks" else part] += time.thread_time() - begun

        agent.log.timed = measured  # type: ignore[method-assign]


Prices = dict[str, float]


def fit_prices(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> Prices:
    """Fits the seconds that one of each count costs to the processor time of all runs together.

    Args:
        runs: `counts` and `seconds` of every run, as `Meter` has them. One that did not time a part has no say in its
            prices.

    Returns:
        Seconds by count. None is negative.
    """
    prices: Prices = {}
    for part, names in PARTS.items():
        timed = [run for run in runs if part in run["seconds"]]
        counts = np.array([[run["counts"].get(name, 0.0) for name in names] for run in timed]).reshape(-1, len(names))
        seconds = np.array([run["seconds"][part] for run in timed])
        prices |= dict(zip(names, _not_negative(counts, seconds), strict=True))
    return prices


def _not_negative(counts: np.ndarray, seconds: np.ndarray) -> list[float]:
    """Least squares; what would have a negative price is free, and the rest is fitted again."""
    fitted = np.linalg.lstsq(counts, seconds, rcond=None)[0]
    if (fitted >= 0).all():
        return [float(price) for price in fitted]
    return _not_negative(np.where(fitted < 0, 0.0, counts), seconds)


def device_seconds(prices: Prices, base: Work, ratio: float) -> float:
    """Returns the seconds of one device step at a ratio of device time to inference with one response per state.

    Args:
        prices: Seconds by count.
        base: Work of the base policy while it acts.
        ratio: Device time over inference time.
    """
    inference = sum(prices[name] * base[name] for name in PARTS["generate"])
    return ratio * inference / base["policy_prompts"]


def seconds_of(work: Work, prices: Prices, per_step: float) -> float:
    """Returns the time of some work: devices wait while models compute, in lockstep, for every method alike."""
    return per_step * work["steps"] + sum(price * work.get(name, 0.0) for name, price in prices.items())
