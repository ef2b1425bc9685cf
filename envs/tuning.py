"""Choosing settings fairly."""

import gymnasium as gym
from gymnasium.vector import VectorEnv

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.both import BothBenchmarks
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.splits import Selection
from coach_gym.envs.vector import AndroidVectorEnv


def require_validation(*envs: gym.Env | VectorEnv) -> None:
    """Makes sure that settings are chosen on validation only: sweeps call it before they measure anything.

    Choosing by success on training measures what was memorized, and choosing by success on test makes the test's
    figures too good.

    Args:
        envs: The environments whose success decides between settings.

    Raises:
        UsageError: One of them was not made with `split="validation"`.
    """
    for env in envs:
        inner = env.unwrapped
        known = AndroidEnv | BothBenchmarks | AndroidVectorEnv
        selection = inner.selection if isinstance(inner, known) else Selection()
        if selection.split != "validation":
            raise UsageError(f"settings are chosen on validation only: make the environment with split='validation', "
                             f"not {selection}")
