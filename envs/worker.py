"""One environment in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import gymnasium as gym

from coach_gym.envs.errors import UsageError

_log = logging.getLogger(__name__)


class Worker:
    """Carries out resets and steps of an environment one after the other, and reports each by a message.

    The environment is built by the first reset and is closed by the thread that built it, because devices hold
    things that belong to a thread (SQLite connections). After an exception, which may leave an environment in
    any state, the worker closes it and ends.

    Args:
        env_id: Which environment of several this is.
        make_env: Builds the environment.
        results: Receives ``(worker, outcome)``: what the call returned, or the exception that it raised.
    """

    def __init__(
        self, env_id: int, make_env: Callable[[], gym.Env], results: SimpleQueue[tuple[Worker, Any]]
    ) -> None:
        self.env_id = env_id
        self._inbox: SimpleQueue[tuple[str, tuple, dict[str, Any]] | None] = SimpleQueue()
        # A daemon: a device that hangs for ever must not keep the process from ending.
        self._thread = threading.Thread(target=self._serve, args=(make_env, results), daemon=True)
        self._thread.start()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Asks for ``env.reset``."""
        self._inbox.put(("reset", (), {"seed": seed, "options": options}))

    def step(self, action: Any) -> None:
        """Asks for ``env.step``."""
        self._inbox.put(("step", (action,), {}))

    def stop(self) -> None:
        """Asks to close the environment and to end, after what is under way; returns at once."""
        self._inbox.put(None)

    def join(self, timeout: float) -> None:
        """Waits until the worker has ended, at most ``timeout`` seconds."""
        self._thread.join(timeout)

    def _serve(self, make_env: Callable[[], gym.Env], results: SimpleQueue[tuple[Worker, Any]]) -> None:
        env: gym.Env | None = None
        while (call := self._inbox.get()) is not None:
            method, args, kwargs = call
            try:
                if env is None:
                    env = make_env()
                outcome = getattr(env, method)(*args, **kwargs)
            except BaseException as error:  # SystemExit from a device's library must not go unreported either
                outcome = error
            results.put((self, outcome))
            if isinstance(outcome, BaseException) and not isinstance(outcome, UsageError):
                break
        if env is not None:
            _close(env)


def _close(env: gym.Env) -> None:
    try:
        env.close()
    except Exception as error:
        _log.warning("closing an environment failed: %s: %s", type(error).__name__, error)
