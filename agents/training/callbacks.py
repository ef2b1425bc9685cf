"""Hooks into training, with Stable-Baselines3's names and order of calls; its own callbacks work as well."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gymnasium.vector import VectorEnv

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.training.logs.logger import Logger
from coach_gym.checks import WrongType

EPISODES = "episodes"
"""Name of the folder of episodes in the folder of a run."""


class Trainee(Protocol):
    """What callbacks see of the agent; every agent of this package has more.

    Attributes:
        num_timesteps: Environment steps taken, over all sub-environments and processes.
        total_timesteps: Number of steps at which the current call of `learn` ends.
        n_updates: Iterations that ended in an update.
        batch_size: Episodes of one roll-out.
        policy: The policy.
    """

    num_timesteps: int
    total_timesteps: int
    n_updates: int
    batch_size: int
    policy: Policy

    @property
    def logger(self) -> Logger:
        """Receives what training logs."""
        ...

    @property
    def played_ahead(self) -> Sequence[Attempt]:
        """The finished attempts that a later update learns from."""
        ...

    @property
    def in_progress(self) -> Sequence[Attempt]:
        """The attempts that have begun and are not over; any thread may ask."""
        ...

    @property
    def ep_success_buffer(self) -> deque[float]:
        """Success of the latest episodes, 0 or 1."""
        ...

    @property
    def doing(self) -> str | None:
        """The part of the log's `time/` that is in progress; None between them."""
        ...

    def timed(self, part: str) -> AbstractContextManager[None]:
        """Adds the seconds spent in the context to `time/{part}`."""
        ...

    def get_env(self) -> VectorEnv | None:
        """Returns the vector environment that is trained on."""
        ...

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        """Returns actions for a batch of observations, and the states to pass next time."""
        ...

    def save(self, path: str | Path) -> None:
        """Writes the agent as a directory."""
        ...

    def save_shards(self, path: str | Path) -> None:
        """Writes the agent as a directory, each process its own part."""
        ...


@runtime_checkable
class Callback(Protocol):
    """The hooks that `learn` calls. `BaseCallback` has them, and so has Stable-Baselines3's.

    Attributes:
        parent: The callback that triggers this one, if one does.
    """

    parent: Any

    def init_callback(self, model: Any) -> None:
        """Called once, before everything else."""
        ...

    def on_training_start(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        """Called before the first roll-out."""
        ...

    def on_rollout_start(self) -> None:
        """Called before every roll-out."""
        ...

    def on_step(self) -> bool:
        """Called after every call of `env.step`; False stops the training."""
        ...

    def on_rollout_end(self) -> None:
        """Called after every roll-out, before the update."""
        ...

    def on_training_end(self) -> None:
        """Called when `learn` returns or raises."""
        ...

    def update_locals(self, locals_: dict[str, Any]) -> None:
        """Called before `on_step` with the variables of the roll-out."""
        ...


class BaseCallback:
    """Base class of callbacks. Override hooks that start with an underscore; a false `_on_step` stops the training.

    Episodes on the training environment are in progress in `_on_step`: evaluate on another environment, or in
    `_on_rollout_start`.

    Args:
        verbose: 0 for no output, 1 for messages.

    Attributes:
        model: The agent.
        n_calls: Number of calls of `on_step`, that is of `env.step`.
        num_timesteps: Environment steps taken, over all sub-environments.
        locals: Local variables of the calling loop.
        globals: Global variables of the calling loop.
        parent: The callback that triggers this one, if one does.
    """

    model: Trainee
    parent: Any = None

    def __init__(self, verbose: int = 0) -> None:
        if not isinstance(verbose, int):  # as True is
            raise WrongType(f"verbose={verbose!r:.60} is of type {type(verbose).__name__}; pass 0 or 1")
        self.verbose = verbose
        self.n_calls = 0
        self.num_timesteps = 0
        self.locals: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}

    @property
    def training_env(self) -> VectorEnv:
        """The vector environment that is trained on."""
        env = self.model.get_env()
        assert env is not None
        return env

    @property
    def logger(self) -> Logger:
        """The agent's logger."""
        return self.model.logger

    def init_callback(self, model: Trainee) -> None:
        """Attaches the callback to an agent; `learn` calls it once, before everything else."""
        self.model = model
        self._init_callback()

    def on_training_start(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        """Called before the first roll-out."""
        self.locals, self.globals = locals_, globals_
        self.num_timesteps = self.model.num_timesteps
        self._on_training_start()

    def on_rollout_start(self) -> None:
        """Called before every roll-out, when nothing is half done."""
        self._on_rollout_start()

    def on_step(self) -> bool:
        """Called after every call of `env.step`; False stops the training."""
        self.n_calls += 1
        self.num_timesteps = self.model.num_timesteps
        return self._on_step()

    def on_rollout_end(self) -> None:
        """Called after every roll-out, before the update."""
        self._on_rollout_end()

    def on_training_end(self) -> None:
        """Called when `learn` returns or raises."""
        self._on_training_end()

    def update_locals(self, locals_: dict[str, Any]) -> None:
        """Called before `on_step` with the variables of the roll-out: `rewards`, `dones`, `infos`, `episodes`."""
        self.locals.update(locals_)
        self.update_child_locals(locals_)

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Passes the variables on to the callbacks that this one calls."""

    def _init_callback(self) -> None: ...

    def _on_training_start(self) -> None: ...

    def _on_rollout_start(self) -> None: ...

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None: ...

    def _on_training_end(self) -> None: ...


Function = Callable[[dict[str, Any], dict[str, Any]], bool | None]
MaybeCallback = None | Function | Callback | Sequence[Any]


class ConvertCallback(BaseCallback):
    """Makes a callback of a function of `locals` and `globals`; training stops when it returns False."""

    def __init__(self, callback: Function, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.callback = callback

    def _on_step(self) -> bool:
        return self.callback(self.locals, self.globals) is not False


class CallbackList(BaseCallback):
    """Calls several callbacks in order; training stops when one of them returns False."""

    def __init__(self, callbacks: Sequence[Any]) -> None:
        super().__init__()
        self.callbacks = [as_callback(callback) for callback in callbacks]

    def _init_callback(self) -> None:
        for callback in self.callbacks:
            callback.init_callback(self.model)
            callback.parent = self.parent

    def _on_training_start(self) -> None:
        for callback in self.callbacks:
            callback.on_training_start(self.locals, self.globals)

    def _on_rollout_start(self) -> None:
        for callback in self.callbacks:
            callback.on_rollout_start()

    def _on_step(self) -> bool:
        return all([callback.on_step() for callback in self.callbacks])  # a list: everyone is called

    def _on_rollout_end(self) -> None:
        for callback in self.callbacks:
            callback.on_rollout_end()

    def _on_training_end(self) -> None:
        for callback in self.callbacks:
            callback.on_training_end()

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Passes the variables on to all of them."""
        for callback in self.callbacks:
            callback.update_locals(locals_)


def as_callback(callback: MaybeCallback) -> Callback:
    """Makes one callback of what `learn` was given: nothing, a function, a callback, or a sequence of them.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(callback, type):
        raise WrongType(f"callback={callback.__name__} is a class; pass an instance of it, {callback.__name__}(...)")
    if isinstance(callback, Callback):
        return callback
    if callable(callback):
        return ConvertCallback(callback)
    if callback is not None and (isinstance(callback, str | Mapping) or not isinstance(callback, Iterable)):
        kind = type(callback).__name__
        raise WrongType(f"callback={callback!r:.60} is of type {kind}; pass a callback, a function or a list of them")
    return CallbackList([] if callback is None else list(callback))
