"""A progress bar that says what a training is doing, and how long it still takes."""

import math
import sys
import threading
import time

import numpy as np
from tqdm.auto import tqdm
from tqdm.notebook import tqdm_notebook

from coach_gym.agents.training.callbacks import BaseCallback

PARTS = {
    "generate": "drawing", "env_wait": "waiting for devices", "forks": "playing forks", "judge": "judging",
    "verify": "judging", "critic": "fitting the critic", "update": "updating the policy", "evaluate": "evaluating",
}  # fmt: skip
"""What the parts of the log's `time/` are called."""
EVERY = 1.0  # seconds between two looks
_FORMAT = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} steps, {elapsed}{postfix}"


class ProgressBarCallback(BaseCallback):
    """Shows environment steps, what is going on, recent success and the time that is left; nothing if piped.

    A thread refreshes the bar, so it goes on while the policy is updated.
    """

    def __init__(self) -> None:
        super().__init__()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def _on_training_start(self) -> None:
        self.total = self.model.total_timesteps - self.model.num_timesteps
        hidden = not issubclass(tqdm, tqdm_notebook) and not sys.stderr.isatty()
        self.bar = tqdm(total=self.total, bar_format=_FORMAT, dynamic_ncols=True, disable=hidden)
        self.estimate = Estimate(self.total, time.perf_counter())
        self._over.clear()
        if not hidden:
            self._thread = threading.Thread(target=self._refresh, name="progress bar", daemon=True)
            self._thread.start()

    def _on_rollout_start(self) -> None:
        self.estimate.iterate(self._done, time.perf_counter())

    def _on_training_end(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self._show()
        self.bar.close()

    @property
    def _done(self) -> int:
        return self.model.num_timesteps - (self.model.total_timesteps - self.total)

    def _refresh(self) -> None:
        while not self._over.wait(EVERY):
            self._show()

    def _show(self) -> None:
        done = self._done
        self.bar.total = max(self.total, done)  # the last episodes are played to their end; tqdm takes no more than all
        self.bar.n = done
        self.bar.set_postfix_str(", ".join(filter(None, [self._doing(), self._success(), self._left()])))

    def _doing(self) -> str | None:
        doing = self.model.doing
        return None if doing is None or self._over.is_set() else PARTS.get(doing, doing)

    def _success(self) -> str | None:
        successes = list(self.model.ep_success_buffer)
        return f"success {np.mean(successes):.0%} of the last {len(successes)}" if successes else None

    def _left(self) -> str | None:
        left = self.estimate.left(time.perf_counter())
        return None if left is None or self._over.is_set() else f"about {tqdm.format_interval(math.ceil(left))} left"


class Estimate:
    """The time that a training still takes, from the iterations that are over, updates and evaluations included.

    Steps come in bursts, one roll-out after the other, so their momentary speed would promise too much.

    Args:
        total: Environment steps of the training.
        now: Seconds of a clock.
    """

    def __init__(self, total: int, now: float) -> None:
        self.total, self.begun, self.last = total, now, now
        self.done = self.iterations = 0

    def iterate(self, done: int, now: float) -> None:
        """Notes that an iteration begins after `done` steps."""
        if done > self.done:
            self.iterations, self.done, self.last = self.iterations + 1, done, now

    def left(self, now: float) -> float | None:
        """Returns the seconds until all whole iterations are over; None before the first one is."""
        if not self.iterations:
            return None
        still = math.ceil((self.total - self.done) * self.iterations / self.done)
        return max(0.0, still * (self.last - self.begun) / self.iterations - (now - self.last))
