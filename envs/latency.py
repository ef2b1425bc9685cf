"""How long devices take: a model of an emulator's latencies, and an environment that takes that long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np


@dataclass(frozen=True)
class Latency:
    """Heavy-tailed latencies, as those of a farm of emulators: most steps are alike, some stall, resets are slow.

    The defaults are an assumption within what is reported of Android emulators, 3 to 8 seconds a step: a log-normal
    step of 4 s with a coefficient of variation of 0.6, three of a hundred steps 30 s longer, and resets that are
    uniform between 20 and 60 s.

    Attributes:
        step: mean seconds of a step that does not stall.
        variation: standard deviation of such a step over its mean.
        stalls: share of the steps that stall.
        stall: seconds that these take longer.
        reset: least and most seconds of a reset.
    """

    step: float = 4.0
    variation: float = 0.6
    stalls: float = 0.03
    stall: float = 30.0
    reset: tuple[float, float] = (20.0, 60.0)

    def scaled(self, factor: float) -> Latency:
        """The same distribution with all seconds multiplied."""
        least, most = self.reset
        return Latency(
            factor * self.step, self.variation, self.stalls, factor * self.stall, (factor * least, factor * most)
        )

    def steps(self, rng: np.random.Generator) -> Iterator[float]:
        """Seconds of one device's steps, for ever."""
        variance = np.log1p(self.variation**2)
        while True:
            usual = self.step * rng.lognormal(-variance / 2, np.sqrt(variance))
            yield float(usual + self.stall * (rng.random() < self.stalls))

    def resets(self, rng: np.random.Generator) -> Iterator[float]:
        """Seconds of one device's resets, for ever."""
        while True:
            yield float(rng.uniform(*self.reset))


class SlowEnv(gym.Wrapper):
    """An environment that sleeps as long as a device would take.

    Args:
        env: the environment.
        latency: of its steps and resets.
        seed: of their draws.
    """

    def __init__(self, env: gym.Env, latency: Latency, seed: int) -> None:
        super().__init__(env)
        rng = np.random.default_rng(seed)
        self._steps, self._resets = latency.steps(rng), latency.resets(rng)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Resets, and takes its time."""
        time.sleep(next(self._resets))
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps, and takes its time."""
        time.sleep(next(self._steps))
        return super().step(action)
