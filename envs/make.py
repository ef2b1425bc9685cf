"""What `gymnasium.make_vec` calls: makes vector environments of the benchmarks, and opens the fleets they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

import gymnasium as gym

from coach_gym.checks import require_at_most, require_known, require_whole
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.both import BothBenchmarks, require_settings
from coach_gym.envs.devices.fleet import Fleet
from coach_gym.envs.devices.fleet_file import OneOfFleet, read_fleet
from coach_gym.envs.remote.workers import Workers
from coach_gym.envs.vector import RESET_TIMEOUT, STEP_TIMEOUT, AndroidVectorEnv

MOST_ENVS = 1 << 14
"""The most environments that one process makes, each of which takes a thread."""


def make_vector_env(
    num_envs: int = 1,
    *,
    workers: Workers = "thread",
    actor_options: Mapping[str, Any] | None = None,
    step_timeout: float = STEP_TIMEOUT,
    reset_timeout: float = RESET_TIMEOUT,
    **kwargs: Any,
) -> AndroidVectorEnv:
    """Makes `num_envs` environments with the same arguments; the entry point of `gymnasium.make_vec`.

    Args:
        num_envs: Number of environments.
        workers: Where they live. See `AndroidVectorEnv`.
        actor_options: Ray's options of each actor. See `AndroidVectorEnv`.
        step_timeout: Seconds that a step may take.
        reset_timeout: Seconds that a reset may take.
        kwargs: Arguments of `AndroidEnv`. Its `device` may also be a TOML file that describes a fleet
            (`coach_gym.envs.devices.fleet_file`), of which each process takes its part, and each worker outside this
            process one device.

    Raises:
        TypeError: `AndroidEnv` has no such argument.
        ValueError: Several environments would share one real device, or the file describes no fleet.
    """
    _require_known(AndroidEnv, kwargs)
    close_fleets = open_fleets([kwargs], workers, num_envs)
    return AndroidVectorEnv(
        [partial(AndroidEnv, **kwargs)] * num_envs, workers=workers, actor_options=actor_options,
        step_timeout=step_timeout, reset_timeout=reset_timeout, on_close=close_fleets,
    )  # fmt: skip


def make_both_vector_env(
    num_envs: int = 1,
    *,
    workers: Workers = "thread",
    actor_options: Mapping[str, Any] | None = None,
    step_timeout: float = STEP_TIMEOUT,
    reset_timeout: float = RESET_TIMEOUT,
    **kwargs: Any,
) -> AndroidVectorEnv:
    """Makes `num_envs` environments of both benchmarks, as `make_vector_env` makes those of one.

    Args:
        num_envs: Number of environments.
        workers: Where they live. See `AndroidVectorEnv`.
        actor_options: Ray's options of each actor. See `AndroidVectorEnv`.
        step_timeout: Seconds that a step may take.
        reset_timeout: Seconds that a reset may take.
        kwargs: Arguments of `BothBenchmarks`; devices as for `make_vector_env`.

    Raises:
        TypeError: As for `make_vector_env`.
        ValueError: As for `make_vector_env`.
    """
    _require_known(BothBenchmarks, kwargs)
    require_settings(**{name: kwargs.get(name) for name in ("world", "lab")})
    own = {name: dict(kwargs.get(name) or {}) for name in ("world", "lab")}
    kwargs |= own
    close_fleets = open_fleets([kwargs, *own.values()], workers, num_envs)
    return AndroidVectorEnv(
        [partial(BothBenchmarks, **kwargs)] * num_envs, workers=workers, actor_options=actor_options,
        step_timeout=step_timeout, reset_timeout=reset_timeout, on_close=close_fleets,
    )  # fmt: skip


def _require_known(env: type[gym.Env], given: Iterable[str]) -> None:
    """Checks that environments, or the functions above, have the arguments that they are given."""
    functions = (make_vector_env, env, AndroidEnv)  # `BothBenchmarks` hands over what it does not know
    known = [name for each in functions for name in signature(each).parameters if name not in ("kwargs", "shared")]
    require_known(env.__name__, known, given)


def open_fleets(users: Sequence[dict[str, Any]], workers: Workers, num_envs: int) -> Callable[[], object]:
    """Replaces fleet files by fleets in the arguments of environments, and returns a function that closes these.

    Args:
        users: Arguments of environments, changed in place.
        workers: Where the environments live.
        num_envs: How many there are.

    Raises:
        ValueError: There are more than `MOST_ENVS`, several would share one real device, or a file describes no fleet.
    """
    require_whole(1, num_envs=num_envs)
    require_at_most(MOST_ENVS, num_envs=num_envs)
    fleets: list[Fleet] = []
    for given in users:
        device = given.get("device", "phone")
        if isinstance(device, str) and device.endswith(".toml"):
            if workers == "thread":
                fleets.append(read_fleet(device))
                given["device"] = fleets[-1]
            else:
                given["device"] = OneOfFleet(device)
        elif isinstance(device, str) and device != "phone" and num_envs > 1:
            raise ValueError(
                f"{num_envs} environments cannot share the device {device!r}; pass device=Fleet(...) or 'fleet.toml'"
            )

    def close() -> None:
        for fleet in fleets:
            fleet.close()

    return close
