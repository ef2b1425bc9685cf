"""The lock of a served phone, which is also what makes its clock run."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from coach_gym.envs.phone.phone import Phone


class RunningPhone:
    """Keeps a phone to one thread at a time; whoever takes it finds as many seconds gone as on this machine.

    It can be taken again by the thread that has it, as a `threading.RLock` can. Time passes in whole seconds, so
    that what is on the screen is seldom built anew for it, and never while somebody works the phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._lock = threading.RLock()
        self._depth = 0
        self._shown = time.monotonic()  # when the phone's clock was right

    def acquire(self) -> bool:
        """Takes the phone."""
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1:
            seconds = int(time.monotonic() - self._shown)
            if seconds:
                self._shown += seconds
                self._phone.elapse(timedelta(seconds=seconds))
        return True

    def release(self) -> None:
        """Lets others have it."""
        self._depth -= 1
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()
