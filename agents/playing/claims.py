"""Who plays on which environments: two at once would take each other's observations."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium as gym
from gymnasium.vector import SyncVectorEnv, VectorEnv

from coach_gym.interruptions import held_back

_LOCK = threading.Lock()
_HOLDERS: dict[int, int] = {}
"""The thread that plays on each environment, by the identities of both."""


def beneath(envs: gym.Env | VectorEnv) -> list[int]:
    """Returns the identities of the environments under all wrappers, of which `SyncVectorEnv` is one, too."""
    inner = envs.unwrapped
    return [id(env.unwrapped) for env in inner.envs] if isinstance(inner, SyncVectorEnv) else [id(inner)]


@contextmanager
def claimed(envs: gym.Env | VectorEnv, within: bool = False) -> Iterator[None]:
    """Keeps environments for one training or evaluation.

    Args:
        envs: Environments, which only this thread may use meanwhile.
        within: Whether this may happen within what this thread does with them, as callbacks evaluate between roll-outs.

    Raises:
        RuntimeError: Another training or evaluation is running on them; it goes on.
    """
    me = threading.get_ident()
    with _LOCK:
        held = {env: _HOLDERS[env] for env in beneath(envs) if env in _HOLDERS}
        if any(not within or holder != me for holder in held.values()):
            raise RuntimeError(
                "another call of learn() or evaluate() is running on these environments, and two would take each "
                "other's observations; give each agent its own"
            )
        mine = set(beneath(envs)) - held.keys()
        _HOLDERS.update(dict.fromkeys(mine, me))
    try:
        yield
    finally:
        with held_back():
            for env in mine:
                del _HOLDERS[env]
