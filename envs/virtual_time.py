"""Slow devices on a virtual clock: the agent's computing is measured, and waits for devices are skipped."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from coach_gym.checks import require_whole
from coach_gym.envs.latency import Latency
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.protocols import Arrival


class VirtualClock:
    """A clock that counts the calling thread's computing and the time it would have waited for devices.

    It measures processor time, so other programs on the machine do not count. Use it in programs that compute in one
    thread.
    """

    def __init__(self) -> None:
        self._begun = time.thread_time()
        self.waited = 0.0
        """Seconds spent waiting."""

    @property
    def now(self) -> float:
        """Seconds since the clock was created."""
        return time.thread_time() - self._begun + self.waited

    def wait_until(self, moment: float) -> None:
        """Skips ahead to a moment, unless it has passed."""
        self.waited += max(0.0, moment - self.now)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops the clock for the length of a `with` block."""
        begun = time.thread_time()
        yield
        self._begun += time.thread_time() - begun


class _Delays(NamedTuple):
    """Seconds of coming resets and steps."""

    resets: Iterator[float]
    steps: Iterator[float]


class VirtualTimeEnv(AndroidVectorEnv):
    """Environments whose answers are held back until a device would have given them.

    `recv` skips ahead to the moment when enough answers are due. So hours with slow devices take only as long as the
    agent computes, and the simulation is exact whatever the order of sending and receiving.

    Args:
        env_fns: Functions that build the environments.
        latency: Latency of every device.
        clock: The clock that waits are added to.
        seed: Seed of the latencies. An episode reset with a seed has the same latencies on every device and in any
            order, so that compared methods play the same episodes. Its repetitions have latencies of their own.
    """

    def __init__(
        self, env_fns: Sequence[Callable[[], gym.Env]], latency: Latency, clock: VirtualClock, seed: int = 0
    ) -> None:
        require_whole(0, seed=seed)
        super().__init__(env_fns)
        self.clock = clock
        self.latency = latency
        self.seed = seed
        self._begun: Counter[tuple[int, int]] = Counter()
        self._delays = [self._episode(0, env_id) for env_id in range(self.num_envs)]
        self._held: dict[int, tuple[float, Arrival]] = {}
        self._sent = np.zeros(self.num_envs)

    def send(self, actions: Sequence[str], env_ids: Iterable[int] | None = None) -> None:
        """Begins steps. See `AndroidVectorEnv.send`."""
        ids = self._ids(env_ids)
        delays = {i: next(self._delays[i].resets if self._slots[i].over else self._delays[i].steps) for i in ids}
        super().send(actions, ids)
        self._hold(delays)

    def send_reset(
        self,
        env_ids: Iterable[int] | None = None,
        seeds: Sequence[int | None] | None = None,
        options: Sequence[dict[str, Any] | None] | None = None,
    ) -> None:
        """Begins new episodes. See `AndroidVectorEnv.send_reset`."""
        ids = self._ids(env_ids)
        super().send_reset(ids, seeds, options)
        for env_id, seed in zip(ids, seeds or [None] * len(ids), strict=True):
            if seed is not None:
                self._delays[env_id] = self._episode(1, seed)
        self._hold({env_id: next(self._delays[env_id].resets) for env_id in ids})

    @property
    def busy(self) -> np.ndarray:
        """Seconds each device has worked so far."""
        left = np.zeros(self.num_envs)
        for env_id, (moment, _) in self._held.items():
            left[env_id] = max(0.0, moment - self.clock.now)
        return self._sent - left

    def recv(self, min_ready: int = 1) -> list[Arrival]:
        """Skips to the moment when `min_ready` answers are due. See `AndroidVectorEnv.recv`."""
        if not self._held:
            return super().recv(min_ready)
        moments = sorted(moment for moment, _ in self._held.values())
        if min_ready:
            self.clock.wait_until(moments[min(min_ready, len(moments)) - 1])
        now = self.clock.now
        return [self._held.pop(env_id)[1] for env_id, (moment, _) in list(self._held.items()) if moment <= now]

    def _hold(self, delays: dict[int, float]) -> None:
        now = self.clock.now
        for arrival in super().recv(len(delays)):
            delay = delays[arrival.env_id]
            self._sent[arrival.env_id] += delay
            self._held[arrival.env_id] = (now + delay, arrival)

    def _episode(self, kind: int, number: int) -> _Delays:
        """Draws the delays of a device without seeds (kind 0) or of an episode with a seed (kind 1)."""
        self._begun[kind, number] += 1
        resets, steps = np.random.default_rng([self.seed, kind, number, self._begun[kind, number]]).spawn(2)
        return _Delays(self.latency.resets(resets), self.latency.steps(steps))

    def _is_busy(self, env_id: int) -> bool:
        return env_id in self._held or super()._is_busy(env_id)
