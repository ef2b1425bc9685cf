"""Plays the tasks of a suite in a fixed order, as benchmarks do."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from coach_gym.checks import require_whole
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.suites.seeds import instance_seed


class InOrder(gym.Wrapper):
    """Makes the seed of `reset` the number of an episode: all tasks once in their order, then all again, and so on.

    Parameters are drawn anew in every round. They depend on the seed, the task and the round, as in AndroidWorld's own
    runner, and so neither on the number of devices nor on which episodes were played before.

    Args:
        env: An `AndroidEnv`, perhaps wrapped.
        seed: Seed of the parameters; AndroidWorld's runner takes 30.
    """

    def __init__(self, env: gym.Env, seed: int = 30) -> None:
        require_whole(0, seed=seed)
        super().__init__(env)
        inner = env.unwrapped
        assert isinstance(inner, AndroidEnv)
        self.tasks = tuple(inner.suite.families)
        self.seed = seed
        self._upstream = (inner.suite.benchmark, inner.suite.source) == ("android_world", "official")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts the episode of a number.

        Args:
            seed: The number, from 0.
            options: As in `AndroidEnv.reset`; `task` and `params_seed` are replaced.
        """
        params_seed, chosen = self.instance(seed or 0)
        return self.env.reset(seed=params_seed, options={**(options or {}), **chosen})

    def task_of(self, seed: int) -> str:
        """Returns the task family of the episode of a number."""
        return self.tasks[seed % len(self.tasks)]

    def instance(self, number: int) -> tuple[int, dict[str, Any]]:
        """Returns the seed and the options that `reset` of the bare environment starts the episode of a number with."""
        round_, index = divmod(number, len(self.tasks))
        params_seed = instance_seed(self.seed, self.tasks[index], round_)
        chosen: dict[str, Any] = {"task": self.tasks[index], "params_seed": params_seed}
        if self._upstream:  # its tasks apply the formula themselves
            chosen["params"] = {"seed": self.seed, "instance": round_}
        return params_seed, chosen
