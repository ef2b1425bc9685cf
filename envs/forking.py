"""Forks and snapshots of an environment that lives in a worker's thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.errors import UsageError
from coach_gym.envs.worker import Worker
from coach_gym.protocols import ForkableEnv


@dataclass(frozen=True)
class SubSnapshot:
    """A sub-environment in the middle of an episode. Only the environment that made it can return to it.

    Attributes:
        worker: The worker of that environment.
        state: The environment's own snapshot.
        episode: The info that the episode began with.
    """

    worker: Worker
    state: Any
    episode: dict[str, Any]


def fork(worker: Worker, timeout: float) -> ForkableEnv:
    """Returns a fork of a worker's environment. See `AndroidVectorEnv.fork`."""

    def double(env: gym.Env) -> ForkableEnv:
        if not isinstance(env, ForkableEnv):
            raise UsageError(
                f"{type(env).__name__} cannot be forked in mid-episode; AndroidEnv on the embedded phone can "
                f"(device='phone', workers='thread')"
            )
        return env.fork()

    return worker.ask(double, timeout)


def snapshot(worker: Worker, timeout: float, episode: dict[str, Any]) -> SubSnapshot:
    """Returns the state of a worker's environment. See `AndroidVectorEnv.snapshot`."""
    return SubSnapshot(worker, worker.ask(lambda env: _restorable(env).snapshot(), timeout), dict(episode))


def restore(worker: Worker, timeout: float, kept: SubSnapshot) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a worker's environment to a snapshot. See `AndroidVectorEnv.restore`."""
    if worker is not kept.worker:
        raise UsageError(
            f"environment {worker.env_id} did not make this snapshot, but environment {kept.worker.env_id} or the one "
            f"that it replaced after a fault; every environment returns to its own snapshots only"
        )
    return worker.ask(lambda env: _restorable(env).restore(kept.state), timeout)


def _restorable(env: gym.Env) -> AndroidEnv:
    if not isinstance(env, AndroidEnv):
        raise UsageError(f"{type(env).__name__} has no snapshots; AndroidEnv on the embedded phone has")
    return env
