"""A model of device latencies, and an environment that takes as long as its device would."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from coach_gym.checks import require_not_negative, require_whole


@dataclass(frozen=True)
class Latency:
    """Heavy-tailed latencies like those of an emulator farm: most steps are alike, some stall, resets are slow.

    The defaults are an assumption in line with the 3 to 8 seconds a step reported for Android emulators: log-normal
    steps of 4 s with a coefficient of variation of 0.6, 3 % of the steps 30 s longer, and resets uniform between 20 and
    60 s.

    Attributes:
        step: Mean seconds of a step that does not stall.
        variation: Standard deviation of such a step over its mean.
        stalls: Share of steps that stall.
        stall: Additional seconds of a stalled step.
        reset: Least and most seconds of a reset.

    Raises:
        ValueError: A number is negative or not finite, `stalls` is above 1, or `reset` is not the lesser time first.
        TypeError: A number is none.
    """

    step: float = 4.0
    variation: float = 0.6
    stalls: float = 0.03
    stall: float = 30.0
    reset: tuple[float, float] = (20.0, 60.0)

    def __post_init__(self) -> None:
        least, most = self.reset
        require_not_negative(
            step=self.step, variation=self.variation, stalls=self.stalls, stall=self.stall, least=least, most=most
        )
        if self.stalls > 1:
            raise ValueError(f"stalls={self.stalls} is a share of the steps; pass a number from 0 to 1")
        if least > most:
            raise ValueError(f"reset={self.reset} must be the least and the most seconds of a reset, in this order")

    def scaled(self, factor: float) -> Latency:
        """Returns the same distribution with all times multiplied."""
        least, most = self.reset
        return Latency(
            factor * self.step, self.variation, self.stalls, factor * self.stall, (factor * least, factor * most)
        )

    def steps(self, rng: np.random.Generator) -> Iterator[float]:
        """Yields the seconds of a device's steps, endlessly."""
        variance = np.log1p(self.variation**2)
        while True:
            usual = self.step * rng.lognormal(-variance / 2, np.sqrt(variance))
            yield float(usual + self.stall * (rng.random() < self.stalls))

    def resets(self, rng: np.random.Generator) -> Iterator[float]:
        """Yields the seconds of a device's resets, endlessly."""
        while True:
            yield float(rng.uniform(*self.reset))


class SlowEnv(gym.Wrapper):
    """An environment that sleeps as long as a device would take.

    Args:
        env: The environment to slow down.
        latency: Distribution of step and reset times.
        seed: Seed of their draws.
    """

    def __init__(self, env: gym.Env, latency: Latency, seed: int) -> None:
        require_whole(0, seed=seed)
        super().__init__(env)
        rng = np.random.default_rng(seed)
        self._steps, self._resets = latency.steps(rng), latency.resets(rng)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Sleeps, then resets the environment."""
        time.sleep(next(self._resets))
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Sleeps, then steps the environment."""
        time.sleep(next(self._steps))
        return super().step(action)
