"""Where the environments of a vector environment live."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import gymnasium as gym

from coach_gym.envs.remote.host import Limits
from coach_gym.envs.remote.process import Processes
from coach_gym.envs.worker import Crew, Threads, Worker

Workers = Literal["thread", "process", "ray"]


def hire(workers: Workers, actor_options: Mapping[str, Any] | None, limits: Limits) -> Crew:
    """Returns what starts workers where they live.

    Args:
        workers: `"thread"`, `"process"` or `"ray"`.
        actor_options: Options of Ray's actors; None for any others.
        limits: Seconds that a reset and a step may take before an actor is killed.

    Raises:
        ValueError: `workers` is none of those, or `actor_options` are given without Ray.
        ImportError: Ray is not installed.
    """
    if actor_options is not None and workers != "ray":
        raise ValueError(f"actor_options are Ray's, and workers={workers!r}; pass workers='ray'")
    if workers == "thread":
        return Threads()
    if workers == "process":
        return Processes()
    if workers == "ray":
        return _Actors(limits, actor_options or {})
    raise ValueError(f"workers={workers!r} is unknown; pass 'thread', 'process' or 'ray'")


class _Actors(Threads):
    """Actors of Ray, each waited for by a thread."""

    def __init__(self, limits: Limits, options: Mapping[str, Any]) -> None:
        super().__init__()
        try:
            from coach_gym.envs.remote.actor import ActorEnv
        except ImportError as error:
            raise ImportError("workers='ray' needs Ray: pip install 'coach-gym[ray]'") from error
        self._place = lambda make_env: partial(ActorEnv, make_env, limits, options)

    def start(self, env_id: int, make_env: Callable[[], gym.Env]) -> Worker:
        return super().start(env_id, self._place(make_env))
