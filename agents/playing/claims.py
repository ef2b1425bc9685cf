"""Who plays on which environments: two at once would take each other's observations."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium as gym
from gymnasium.vector import SyncVectorEnv, VectorEnv

_LOCK = threading.Lock()
_CLAIMED: set[int] = set()


def beneath(envs: gym.Env | VectorEnv) -> list[int]:
    """Returns the identities of the environments under all wrappers, of which `SyncVectorEnv` is one, too."""
    inner = envs.unwrapped
    return [id(env.unwrapped) for env in inner.envs] if isinstance(inner, SyncVectorEnv) else [id(inner)]


@contextmanager
def claimed(envs: VectorEnv) -> Iterator[None]:
    """Keeps environments for one training.

    Raises:
        RuntimeError: Another training is running on them; it goes on.
    """
    mine = set(beneath(envs))
    with _LOCK:
        if mine & _CLAIMED:
            raise RuntimeError(
                "another call of learn() is running on these environments, and two would take each other's "
                "observations; give each agent its own"
            )
        _CLAIMED.update(mine)
    try:
        yield
    finally:
        _CLAIMED.difference_update(mine)
