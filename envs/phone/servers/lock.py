"""The lock of a served phone, which also makes its clock run."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from coach_gym.envs.phone.phone import Phone


class RunningPhone:
    """Gives a phone to one thread at a time, and moves its clock on by the seconds that have passed on this machine.

    The thread that holds it may take it again, as with `threading.RLock`. Time passes in whole seconds, so that the
    screen is seldom rebuilt for it, and never while somebody works the phone.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._lock = threading.RLock()
        self._depth = 0
        self._shown = time.monotonic()  # when the phone's clock was right

    def acquire(self) -> bool:
        """Takes the phone, unless an app fails as its clock moves on."""
        self._lock.acquire()
        self._depth += 1
        try:
            if self._depth == 1:
                self._catch_up()
        except BaseException:
            self.release()  # others can still take it
            raise
        return True

    def release(self) -> None:
        """Releases the phone."""
        self._depth -= 1
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _catch_up(self) -> None:
        seconds = int(time.monotonic() - self._shown)
        if seconds:
            self._shown += seconds
            self._phone.elapse(timedelta(seconds=seconds))
