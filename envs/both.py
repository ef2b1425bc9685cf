"""AndroidWorld's and AndroidLab's tasks in one environment, as the paper trains on both."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, Self

import gymnasium as gym
import numpy as np
from gymnasium.utils.seeding import np_random

from coach_gym.checks import WrongType, require_known
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.pool import BENCHMARKS, PoolTask, tasks_of


def require_settings(**given: Any) -> None:
    """Checks that arguments for one benchmark alone are given by their names.

    Raises:
        TypeError: They are not.
    """
    for name, settings in given.items():
        if not isinstance(settings, Mapping | None):
            raise WrongType(f"{name}={settings!r:.60} is of type {type(settings).__name__}; pass a dict of arguments")


class BothBenchmarks(gym.Env[dict[str, Any], str]):
    """An environment whose episodes are of one benchmark or the other, which the seed decides.

    With a pool, a benchmark is drawn as often as it has tasks there; without, both are drawn equally often. Each has
    its own embedded phone. A device of another kind is returned when the other benchmark's turn comes, so that two
    fleets, one with each benchmark's apps, serve any number of environments.

    Args:
        world: Arguments of `AndroidEnv` for AndroidWorld alone, such as its `device`.
        lab: Arguments of `AndroidEnv` for AndroidLab alone.
        pool: As for `AndroidEnv`.
        shared: Arguments of `AndroidEnv` for both.

    Attributes:
        parts: The environment of each benchmark.

    Raises:
        ValueError: An argument is wrong, the pool has no task of one benchmark, or their screens differ in size.

    Example:
        >>> envs = gym.make_vec("AndroidWorldAndLab-v0", 8, vectorization_mode="vector_entry_point", pool="pool.jsonl")
    """

    metadata = AndroidEnv.metadata

    def __init__(
        self,
        *,
        world: Mapping[str, Any] | None = None,
        lab: Mapping[str, Any] | None = None,
        pool: str | os.PathLike[str] | Iterable[PoolTask] | None = None,
        **shared: Any,
    ) -> None:
        if pool is not None:
            pool = tasks_of(pool)
        require_settings(world=world, lab=lab)
        own = {"android_world": world, "android_lab": lab}
        for given in (shared, world or {}, lab or {}):
            require_known("AndroidEnv", signature(AndroidEnv).parameters, given)
        settings = {name: {**shared, "pool": pool, **(given or {})} for name, given in own.items()}
        self.parts = {name: AndroidEnv(name, **given) for name, given in settings.items()}
        first, second = self.parts.values()
        if first.screen_size != second.screen_size:
            raise ValueError(
                f"the screens have {first.screen_size} and {second.screen_size} pixels, and an environment has one "
                f"size; pass one screen_size for both"
            )
        self.selection = first.selection
        self.render_mode = first.render_mode
        self.observation_space, self.action_space = first.observation_space, first.action_space
        sizes = Counter(BENCHMARKS.get(task.env) for task in pool or ())
        shares = [sizes[name] or 1 for name in self.parts]
        self._probabilities = [share / sum(shares) for share in shares]
        self._lent = {name for name, given in settings.items() if given.get("device", "phone") != "phone"}
        self._name = next(iter(self.parts))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode of one benchmark. See `AndroidEnv.reset`; the task that `options` names decides which."""
        super().reset(seed=seed)
        previous = self._name
        self._name, of_part = self._drawn(self.np_random)
        if (task := (options or {}).get("task")) is not None:
            self._name = self._home_of(task)
        if previous != self._name and previous in self._lent:
            self.parts[previous].close()
        return self.parts[self._name].reset(seed=of_part, options=options)

    def _drawn(self, rng: np.random.Generator) -> tuple[str, int]:
        """Draws a benchmark and the seed of its environment."""
        name = list(self.parts)[rng.choice(len(self.parts), p=self._probabilities)]
        return name, int(rng.integers(1 << 31))

    def task_of(self, seed: int) -> str:
        """Returns the task family of the episode that `reset(seed=seed)` starts."""
        name, of_part = self._drawn(np_random(seed)[0])
        return self.parts[name].task_of(of_part)

    def _home_of(self, task: Any) -> str:
        for name, part in self.parts.items():
            if task in part.suite.families:
                return name
        raise UsageError(f"neither AndroidWorld nor AndroidLab has a task {task!r:.60}; `coach-gym envs` lists all")

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carries out one action. See `AndroidEnv.step`."""
        return self.parts[self._name].step(action)

    def render(self) -> Any:
        """Returns the last screenshot. See `AndroidEnv.render`."""
        return self.parts[self._name].render()

    def fork(self) -> Self:
        """Returns another environment in the same state. See `AndroidEnv.fork`."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.np_random = copy.deepcopy(self.np_random)
        twin.parts = {name: part.fork() if name == self._name else part.idle() for name, part in self.parts.items()}
        return twin

    def close(self) -> None:
        """Releases the devices."""
        for part in self.parts.values():
            part.close()
