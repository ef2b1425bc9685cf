"""Who executes an environment in a process of its own, on this machine or another."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym

from coach_gym.envs.errors import DeviceError

GRACE = 5.0  # seconds beyond a time limit in which an environment may still answer or close in order


@dataclass(frozen=True)
class Call:
    """A reset or step, on its way to the host."""

    method: Literal["reset", "step"]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """Seconds that a reset and a step may take; what takes longer is ended by force."""

    reset: float
    step: float


class Host:
    """Hosts an environment, which the first call builds. Nothing that it raises ends the host.

    Args:
        make_env: Builds the environment.
    """

    def __init__(self, make_env: Callable[[], gym.Env]) -> None:
        self._make_env = make_env
        self._env: gym.Env | None = None

    def answer(self, call: Call) -> Any:
        """Returns what the call returns, or the exception that it raises."""
        try:
            if self._env is None:
                self._env = self._make_env()
            if call.method == "reset":
                return self._env.reset(**call.arguments)
            return self._env.step(call.arguments["action"])
        except BaseException as error:  # also a SystemExit raised by a device's library
            return _portable(error)

    def close(self) -> None:
        """Closes the environment, if there is one."""
        env, self._env = self._env, None
        if env is not None:
            env.close()


def unsendable(error: Exception) -> DeviceError:
    """Returns what to answer if an answer cannot be pickled."""
    return DeviceError(f"what the environment returned cannot go to another process: {error}; remove it from info")


def _portable(error: BaseException) -> BaseException:
    """Returns an exception that survives the way to another process, with its traceback as a note."""
    lines = "".join(traceback.format_exception(error))
    try:
        error = pickle.loads(pickle.dumps(error))
    except Exception:  # not every library's exceptions can be pickled
        error = DeviceError(f"{type(error).__name__}: {error}")
    error.add_note(lines)
    return error
