"""An environment in an actor of Ray, on whatever machine of the cluster has room, or a phone, for it."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import cloudpickle
import gymnasium as gym
import ray
from ray.exceptions import GetTimeoutError, RayError

from coach_gym.envs.errors import DeviceError
from coach_gym.envs.remote.host import GRACE, Call, Host, Limits, unsendable


class ActorEnv(gym.Env):
    """Stands for an environment that an actor builds and executes. It raises what that environment raises.

    If the actor or its machine dies, the call raises `DeviceError`; if it exceeds its limit, `TimeoutError`, and the
    actor is killed. It cannot be forked, because the phone's memory is elsewhere.

    Args:
        make_env: Builds the environment on the actor's machine.
        limits: Seconds that calls may take; a reset includes the wait for a machine with room.
        options: Ray's options of an actor, such as `{"resources": {"phone": 1}}`; without `resources` it takes one CPU.
    """

    def __init__(self, make_env: Callable[[], gym.Env], limits: Limits, options: Mapping[str, Any]) -> None:
        self._limits = limits
        processors = 0 if "resources" in options else 1
        actor_class = ray.remote(_Actor).options(**{"num_cpus": processors, **options})
        self._actor = actor_class.remote(cloudpickle.dumps(make_env))
        self._end = weakref.finalize(self, _end, self._actor)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Resets the environment. See `gymnasium.Env.reset`."""
        return self._result(Call("reset", {"seed": seed, "options": options}), self._limits.reset + GRACE)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps the environment. See `gymnasium.Env.step`."""
        return self._result(Call("step", {"action": action}), self._limits.step + GRACE)

    def close(self) -> None:
        """Closes the environment and ends the actor; by force if that takes long."""
        self._end()

    def _result(self, call: Call, timeout: float) -> Any:
        try:
            outcome = pickle.loads(ray.get(self._actor.answer.remote(call), timeout=timeout))
        except GetTimeoutError:
            ray.kill(self._actor)
            raise TimeoutError(
                f"{call.method} took longer than {timeout:g} s, and its actor was killed; `ray status` says whether it "
                f"waited for a machine with room"
            ) from None
        except RayError as error:
            reason = str(error).strip().partition("\n")[0]
            raise DeviceError(f"the environment's actor died ({type(error).__name__}: {reason})") from error
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


class _Actor(Host):
    """A host whose answers are pickles, because what Ray shares between processes is read-only."""

    def __init__(self, make_env: bytes) -> None:
        super().__init__(pickle.loads(make_env))

    def answer(self, call: Call) -> bytes:
        answer = super().answer(call)
        try:
            return pickle.dumps(answer, protocol=5)
        except Exception as error:  # pickle raises of all kinds
            return pickle.dumps(unsendable(error), protocol=5)


def _end(actor: Any) -> None:
    if not ray.is_initialized():
        return
    try:
        ray.get(actor.close.remote(), timeout=GRACE)
        actor.__ray_terminate__.remote()  # unlike `kill`, it runs exit handlers, which stop emulators
    except RayError:  # it hangs, or has died already
        ray.kill(actor)
