"""One environment in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

import gymnasium as gym

from coach_gym.envs.errors import UsageError

Answer = TypeVar("Answer")
_ANSWERED = object()
_log = logging.getLogger(__name__)


class Worker:
    """Executes resets and steps of one environment in order, and reports each result as a message.

    The first call builds the environment. The thread that built it also closes it, because devices hold resources
    that belong to a thread, such as SQLite connections. An exception can leave an environment in any state, so the
    worker then closes it and ends.

    Args:
        env_id: Index of this environment among several.
        make_env: Builds the environment.
        results: Receives `(worker, outcome)`, where the outcome is what the call returned or the exception it raised.
    """

    def __init__(self, env_id: int, make_env: Callable[[], gym.Env], results: SimpleQueue[tuple[Worker, Any]]) -> None:
        self.env_id = env_id
        self._inbox: SimpleQueue[Callable[[gym.Env], Any] | None] = SimpleQueue()
        # A daemon thread, because a device that hangs must not keep the process alive.
        self._thread = threading.Thread(target=self._serve, args=(make_env, results), daemon=True)
        self._thread.start()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Requests `env.reset` and returns at once."""
        self._inbox.put(lambda env: env.reset(seed=seed, options=options))

    def step(self, action: Any) -> None:
        """Requests `env.step` and returns at once."""
        self._inbox.put(lambda env: env.step(action))

    def ask(self, question: Callable[[gym.Env], Answer], timeout: float) -> Answer:
        """Waits for what a function of the environment returns; no reset or step is in progress.

        What it raises is raised here, and the worker goes on.

        Raises:
            TimeoutError: There is no answer after `timeout` seconds.
        """
        answer: Future[Answer] = Future()

        def call(env: gym.Env) -> object:
            try:
                answer.set_result(question(env))
            except Exception as error:
                answer.set_exception(error)
            return _ANSWERED

        self._inbox.put(call)
        return answer.result(timeout)

    def stop(self) -> None:
        """Asks the worker to close the environment and end after the call in progress; returns at once."""
        self._inbox.put(None)

    def join(self, timeout: float) -> None:
        """Waits up to `timeout` seconds for the worker to end."""
        self._thread.join(timeout)

    def _serve(self, make_env: Callable[[], gym.Env], results: SimpleQueue[tuple[Worker, Any]]) -> None:
        env: gym.Env | None = None
        while (call := self._inbox.get()) is not None:
            try:
                if env is None:
                    env = make_env()
                outcome = call(env)
            except BaseException as error:  # also reports a SystemExit raised by a device's library
                outcome = error
            if outcome is _ANSWERED:
                continue
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
