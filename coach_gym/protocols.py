"""What agents ask of environments beyond Gymnasium: to be served one by one as they become ready, to tell which task a
seed draws, and to be forked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable


@dataclass
class Arrival:
    """The result of one reset or step of one sub-environment.

    Attributes:
        env_id: Index of the sub-environment.
        observation: Its observation, not batched.
        info: Its info dict.
        reward: Reward of the step; 0 after a reset.
        terminated: Whether the task ended the episode; False after a reset.
        truncated: Whether something else ended the episode; False after a reset.
    """

    env_id: int
    observation: dict[str, Any]
    info: dict[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False

    @property
    def over(self) -> bool:
        """Whether the episode ended."""
        return self.terminated or self.truncated


@runtime_checkable
class EventDriven(Protocol):
    """Sub-environments that reset and step independently of one another.

    `send` and `send_reset` start calls and return at once; `recv` waits for results. A sub-environment has at most one
    call in progress.
    """

    @property
    def pending(self) -> tuple[int, ...]:
        """Indices of the sub-environments whose result `recv` has not returned yet."""
        ...

    def send(self, actions: Sequence[str], env_ids: Sequence[int]) -> None:
        """Starts a step in each of `env_ids`, with one action for each."""
        ...

    def send_reset(self, env_ids: Sequence[int], seeds: Sequence[int | None]) -> None:
        """Starts an episode in each of `env_ids`, with one seed for each."""
        ...

    def recv(self, min_ready: int) -> list[Arrival]:
        """Waits for at least `min_ready` results, or for all that are pending, and returns every one that is there."""
        ...


@runtime_checkable
class TaskTelling(Protocol):
    """An environment that tells which task a seed draws, before any reset, such as `AndroidEnv`."""

    def task_of(self, seed: int) -> str:
        """Returns the task family of the episode that `reset(seed=seed)` starts; any thread may ask."""
        ...


@runtime_checkable
class ForkableEnv(Protocol):
    """An environment that can be doubled in mid-episode, such as `AndroidEnv` on the embedded phone."""

    def fork(self) -> Self:
        """Returns another environment in the same state. From then on neither influences the other."""
        ...

    def reset(self, *, seed: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode, as `gymnasium.Env.reset` does."""
        ...

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Executes an action, as `gymnasium.Env.step` does."""
        ...


@runtime_checkable
class ForkableVectorEnv(Protocol):
    """Sub-environments that can be doubled in mid-episode, such as those of `AndroidVectorEnv`."""

    def fork(self, env_ids: Sequence[int]) -> list[ForkableEnv]:
        """Returns a fork of each of `env_ids`, which have no call in progress; any thread may use it."""
        ...
