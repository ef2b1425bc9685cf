"""Slow devices on a virtual clock: the agent's computing is measured, waits for devices are skipped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from coach_gym.envs.latency import Latency
from coach_gym.envs.vector import AndroidVectorEnv, Transition


class VirtualClock:
    """Seconds that the calling thread has computed, and those that it would have waited for devices.

    Processor time, so that what else runs on the machine does not count; for programs that compute in one thread.
    """

    def __init__(self) -> None:
        self._skipped = -time.thread_time()

    @property
    def now(self) -> float:
        """Seconds since the clock was made."""
        return time.thread_time() + self._skipped

    def wait_until(self, moment: float) -> None:
        """Skips to a moment, unless it is past."""
        self._skipped += max(0.0, moment - self.now)


class VirtualTimeEnv(AndroidVectorEnv):
    """Environments that answer at once and whose answers are held back until a device would have given them.

    Whoever has nothing to do but wait in `recv` is taken to the moment when the next answers are there. So hours
    with slow devices are simulated in the time that the agent computes, and exactly so, whatever the order in which
    it sends and receives.

    Args:
        env_fns: one function per environment that builds it.
        latency: of every device.
        clock: the time.
        seed: of the draws of latencies; each device has draws of its own.
    """

    def __init__(
        self, env_fns: Sequence[Callable[[], gym.Env]], latency: Latency, clock: VirtualClock, seed: int = 0
    ) -> None:
        super().__init__(env_fns)
        self.clock = clock
        generators = np.random.default_rng(seed).spawn(2 * self.num_envs)
        self._steps = [latency.steps(rng) for rng in generators[::2]]
        self._resets = [latency.resets(rng) for rng in generators[1::2]]
        self._held: dict[int, tuple[float, Transition]] = {}
        self.busy = np.zeros(self.num_envs)
        """Seconds that each device has worked."""

    def send(self, actions: Sequence[str], env_ids: Iterable[int] | None = None) -> None:
        """Begins steps; see `AndroidVectorEnv.send`."""
        ids = self._ids(env_ids)
        delays = {i: next(self._resets[i] if self._slots[i].over else self._steps[i]) for i in ids}
        super().send(actions, ids)
        self._hold(delays)

    def send_reset(
        self,
        env_ids: Iterable[int] | None = None,
        seeds: Sequence[int | None] | None = None,
        options: Sequence[dict[str, Any] | None] | None = None,
    ) -> None:
        """Begins new episodes; see `AndroidVectorEnv.send_reset`."""
        ids = self._ids(env_ids)
        super().send_reset(ids, seeds, options)
        self._hold({env_id: next(self._resets[env_id]) for env_id in ids})

    def recv(self, min_ready: int = 1) -> list[Transition]:
        """Skips to the moment when `min_ready` answers are there; see `AndroidVectorEnv.recv`."""
        moments = sorted(moment for moment, _ in self._held.values())
        if min_ready:
            self.clock.wait_until(moments[min(min_ready, len(moments)) - 1])
        now = self.clock.now
        return [self._held.pop(env_id)[1] for env_id, (moment, _) in list(self._held.items()) if moment <= now]

    def _hold(self, delays: dict[int, float]) -> None:
        now = self.clock.now
        for transition in super().recv(len(delays)):
            delay = delays[transition.env_id]
            self.busy[transition.env_id] += delay
            self._held[transition.env_id] = (now + delay, transition)

    def _is_busy(self, env_id: int) -> bool:
        return env_id in self._held or super()._is_busy(env_id)
