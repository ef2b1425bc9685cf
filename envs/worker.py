"""Environments at work: each executes its calls one after another, and reports their outcomes."""

from __future__ import annotations

import logging
import queue
import threading
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import gymnasium as gym

from coach_gym.envs.errors import UsageError

Answer = TypeVar("Answer")
_ANSWERED = object()
_log = logging.getLogger(__name__)


class Worker(Protocol):
    """Executes resets and steps of one environment in order, where that environment lives.

    The first call builds the environment. An exception other than `UsageError` can leave it in any state, so the worker
    then closes it and ends.

    Attributes:
        env_id: Index of this environment among several.
    """

    env_id: int

    @abstractmethod
    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Requests `env.reset` and returns at once."""

    @abstractmethod
    def step(self, action: Any) -> None:
        """Requests `env.step` and returns at once."""

    @abstractmethod
    def ask(self, question: Callable[[gym.Env], Answer], timeout: float) -> Answer:
        """Waits for what a function of the environment returns; no reset or step is in progress.

        What it raises is raised here, and the worker goes on.

        Raises:
            TimeoutError: There is no answer after `timeout` seconds.
            UsageError: The environment lives in another process.
        """

    @abstractmethod
    def stop(self) -> None:
        """Asks the worker to close the environment and end after the call in progress; returns at once."""

    @abstractmethod
    def join(self, timeout: float) -> None:
        """Waits up to `timeout` seconds for the worker to end."""


class Crew(Protocol):
    """Starts workers, and waits for all of them at once."""

    @abstractmethod
    def start(self, env_id: int, make_env: Callable[[], gym.Env]) -> Worker:
        """Returns a worker for the environment that `make_env` builds."""

    @abstractmethod
    def outcome(self, timeout: float) -> tuple[Worker, Any] | None:
        """Waits for the next outcome: what a reset or step has returned, or the exception that it raised.

        Returns:
            The worker and the outcome, which may be that of a worker that was stopped in the meantime; None if there is
            none after `timeout` seconds.
        """


class Threads(Crew):
    """A thread for each environment, for what is waited for: devices, and actors on other machines."""

    def __init__(self) -> None:
        self._outcomes: SimpleQueue[tuple[Worker, Any]] = SimpleQueue()

    def start(self, env_id: int, make_env: Callable[[], gym.Env]) -> Worker:
        return ThreadWorker(env_id, make_env, self._outcomes)

    def outcome(self, timeout: float) -> tuple[Worker, Any] | None:
        try:
            return self._outcomes.get(timeout=timeout)
        except queue.Empty:
            return None


class ThreadWorker(Worker):
    """A worker with a thread of its own.

    The thread that built the environment also closes it, because devices hold resources that belong to a thread, such
    as SQLite connections.

    Args:
        env_id: Index of this environment among several.
        make_env: Builds the environment.
        outcomes: Receives the worker and the outcome of each reset and step.
    """

    def __init__(self, env_id: int, make_env: Callable[[], gym.Env], outcomes: SimpleQueue[tuple[Worker, Any]]) -> None:
        self.env_id = env_id
        self._inbox: SimpleQueue[Callable[[gym.Env], Any] | None] = SimpleQueue()
        # A daemon thread, because a device that hangs must not keep the process alive.
        self._thread = threading.Thread(target=self._serve, args=(make_env, outcomes), daemon=True)
        self._thread.start()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._inbox.put(lambda env: env.reset(seed=seed, options=options))

    def step(self, action: Any) -> None:
        self._inbox.put(lambda env: env.step(action))

    def ask(self, question: Callable[[gym.Env], Answer], timeout: float) -> Answer:
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
        self._inbox.put(None)

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    def _serve(self, make_env: Callable[[], gym.Env], outcomes: SimpleQueue[tuple[Worker, Any]]) -> None:
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
            outcomes.put((self, outcome))
            if isinstance(outcome, BaseException) and not isinstance(outcome, UsageError):
                break
        if env is not None:
            _close(env)


def _close(env: gym.Env) -> None:
    try:
        env.close()
    except Exception as error:
        _log.warning("closing an environment failed: %s: %s", type(error).__name__, error)
