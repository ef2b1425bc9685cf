"""What a training reports: statistics of its latest episodes, the time each part took, and the logger's entries."""

import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from coach_gym.agents.distributed import processes
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.training.logs.logger import Logger


class TrainingLog:
    """Collects what one log entry shows.

    Args:
        window: Number of episodes that `rollout/*` averages over, shared by all processes.

    Attributes:
        logger: Receives the entries.
        ep_info_buffer: Reward `r`, length `l` and time `t` of the latest episodes.
        ep_success_buffer: Success of the latest episodes, 0 or 1.
        doing: The part of `time/` that is in progress; None between them.
    """

    def __init__(self, window: int) -> None:
        self.logger = Logger(None, [])
        self.ep_info_buffer: deque[dict[str, float]] = deque(maxlen=window)
        self.ep_success_buffer: deque[float] = deque(maxlen=window)
        self.doing: str | None = None
        self._seconds: dict[str, float] = defaultdict(float)
        self._begun_at, self._begun_with = time.perf_counter(), 0

    def begin(self, num_timesteps: int) -> None:
        """Starts the clock of a training that has taken `num_timesteps` steps so far."""
        self._begun_at, self._begun_with = time.perf_counter(), num_timesteps
        self._seconds.clear()

    def set_episodes(self, infos: Iterable[dict[str, float]] = (), successes: Iterable[float] = ()) -> None:
        """Replaces the statistics of all episodes."""
        for buffer, values in ((self.ep_info_buffer, infos), (self.ep_success_buffer, successes)):
            buffer.clear()
            buffer.extend(values)  # type: ignore[arg-type]

    def resize(self, window: int) -> None:
        """Keeps the statistics of the latest `window` episodes from now on."""
        self.ep_info_buffer = deque(self.ep_info_buffer, window)
        self.ep_success_buffer = deque(self.ep_success_buffer, window)

    def add_episodes(self, finished: Iterable[Attempt]) -> None:
        """Records finished episodes; those without a verdict say nothing about the agent and are left out."""
        for attempt in finished:
            reward = attempt.episode.outcome
            if attempt.episode.learnable and reward is not None:
                elapsed = time.perf_counter() - self._begun_at
                self.ep_info_buffer.append({"r": reward, "l": attempt.length, "t": round(elapsed, 3)})
                self.ep_success_buffer.append(float(attempt.episode.success))

    def recent_episodes(self) -> tuple[list[dict[str, float]], list[float]]:
        """Returns `ep_info_buffer` and `ep_success_buffer` of all processes."""
        theirs = processes.gather((list(self.ep_info_buffer), list(self.ep_success_buffer)))
        return [info for infos, _ in theirs for info in infos], [each for _, successes in theirs for each in successes]

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Adds the seconds spent inside to `time/{part}`."""
        started, before, self.doing = time.perf_counter(), self.doing, part
        try:
            yield
        finally:
            self.doing = before
        self._seconds[part] += time.perf_counter() - started

    def dump(self, num_timesteps: int, iteration: int = 0) -> None:
        """Writes the entry of the iterations since the last one.

        Args:
            num_timesteps: Environment steps so far, the entry's position on the x-axis.
            iteration: Number of the latest iteration; 0 leaves it out.
        """
        elapsed = max(time.perf_counter() - self._begun_at, sys.float_info.epsilon)
        if iteration > 0:
            self.logger.record("time/iterations", iteration, exclude="tensorboard")
        infos, successes = self.recent_episodes()
        if infos:
            self.logger.record("rollout/ep_rew_mean", np.mean([info["r"] for info in infos]))
            self.logger.record("rollout/ep_len_mean", np.mean([info["l"] for info in infos]))
            self.logger.record("rollout/success_rate", np.mean(successes))
        self.logger.record("time/fps", int((num_timesteps - self._begun_with) / elapsed))
        self.logger.record("time/time_elapsed", int(elapsed), exclude="tensorboard")
        self.logger.record("time/total_timesteps", num_timesteps, exclude="tensorboard")
        for part, seconds in self._seconds.items():
            self.logger.record(f"time/{part}", seconds)
        self._seconds.clear()
        self.logger.dump(step=num_timesteps)
