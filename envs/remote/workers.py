"""Where the environments of a vector environment live."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import gymnasium as gym

from coach_gym.envs.remote.host import Limits
from coach_gym.envs.remote.process import ProcessEnv

Workers = Literal["thread", "process", "ray"]


def placed(
    workers: Workers, actor_options: Mapping[str, Any] | None, limits: Limits
) -> Callable[[Callable[[], gym.Env]], Callable[[], gym.Env]]:
    """Returns a function that turns one that builds an environment into one that builds it where workers live.

    Args:
        workers: `"thread"`, `"process"` or `"ray"`.
        actor_options: Options of Ray's actors; None for any others.
        limits: Seconds that a reset and a step may take.

    Raises:
        ValueError: `workers` is none of those, or `actor_options` are given without Ray.
        ImportError: Ray is not installed.
    """
    if actor_options is not None and workers != "ray":
        raise ValueError(f"actor_options are Ray's, and workers={workers!r}; pass workers='ray'")
    if workers == "thread":
        return lambda make_env: make_env
    if workers == "process":
        return lambda make_env: partial(ProcessEnv, make_env, limits)
    if workers == "ray":
        try:
            from coach_gym.envs.remote.actor import ActorEnv
        except ImportError as error:
            raise ImportError("workers='ray' needs Ray: pip install 'coach-gym[ray]'") from error
        return lambda make_env: partial(ActorEnv, make_env, limits, actor_options or {})
    raise ValueError(f"workers={workers!r} is unknown; pass 'thread', 'process' or 'ray'")
