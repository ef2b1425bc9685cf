"""Both ends of an environment that lives in another process: who hosts it there, and who stands for it here."""

from __future__ import annotations

import pickle
import traceback
from abc import abstractmethod
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


class RemoteEnv(gym.Env):
    """Stands for an environment in another process. It raises what the environment raises.

    It cannot be forked, because the phone's memory is elsewhere.

    Args:
        limits: Seconds that calls may take.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Resets the environment. See `gymnasium.Env.reset`."""
        return self._result(Call("reset", {"seed": seed, "options": options}), self._limits.reset)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps the environment. See `gymnasium.Env.step`."""
        return self._result(Call("step", {"action": action}), self._limits.step)

    def _result(self, call: Call, limit: float) -> Any:
        outcome = self._ask(call, limit + GRACE)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    @abstractmethod
    def _ask(self, call: Call, timeout: float) -> Any:
        """Returns the host's answer.

        Raises:
            TimeoutError: There is none after `timeout` seconds; the host has been ended.
            DeviceError: The host has died.
        """


def _portable(error: BaseException) -> BaseException:
    """Returns an exception that survives the way to another process, with its traceback as a note."""
    lines = "".join(traceback.format_exception(error))
    try:
        error = pickle.loads(pickle.dumps(error))
    except Exception:  # not every library's exceptions can be pickled
        error = DeviceError(f"{type(error).__name__}: {error}")
    error.add_note(lines)
    return error
