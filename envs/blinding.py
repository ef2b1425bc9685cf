"""Controls for agents that are said to look: the same episodes with pictures that tell nothing about them.

An agent whose success stays when it is given another picture does not use the picture.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

Observation = dict[str, Any]
OTHERS = 1  # sets the numbers of the other instances apart from the environment's own


class FixedPicture(gym.Wrapper[Observation, str, Observation, str]):
    """Shows one and the same screenshot at every step of every episode; goal and text stay true.

    Args:
        env: An environment of `AndroidEnv`'s kind.
        picture: What is shown, height x width x 3 uint8; None for the first screenshot that there is.

    Example:
        >>> env = FixedPicture(gym.make("AndroidSight-v0", screen_size=(270, 600)))
    """

    def __init__(self, env: gym.Env[Observation, str], picture: np.ndarray | None = None) -> None:
        super().__init__(env)
        self.picture = picture

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        """Starts an episode, as the environment's own `reset` does."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._blinded(observation), info

    def step(self, action: str) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Carries out one action, as the environment's own `step` does."""
        observation, *rest = self.env.step(action)
        return self._blinded(observation), *rest  # type: ignore[return-value]

    def _blinded(self, observation: Observation) -> Observation:
        if self.picture is None:
            self.picture = observation["screenshot"].copy()
        return {**observation, "screenshot": self.picture.copy()}


class ShuffledPicture(gym.Wrapper[Observation, str, Observation, str]):
    """Shows the screenshots of another instance of the same task, on which the same actions are carried out.

    The pictures look as they should at each step, but their content belongs to another instance; goal and text stay
    true. Once the other episode is over, its last screenshot stays.

    Args:
        env: An environment of `AndroidEnv`'s kind.
        other: A second one, made with the same arguments, which is played alongside.

    Example:
        >>> env = ShuffledPicture(gym.make("AndroidSight-v0"), gym.make("AndroidSight-v0"))
    """

    def __init__(self, env: gym.Env[Observation, str], other: gym.Env[Observation, str]) -> None:
        super().__init__(env)
        self.other = other
        self._instances = np.random.default_rng()
        self._other_over = False
        self._picture = np.zeros((0, 0, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        """Starts an episode, as the environment's own `reset` does. A seed fixes the other instances, too."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._instances = np.random.default_rng([seed, OTHERS])  # the environment draws from the seed itself
        draw = {"task": info["task"], "params_seed": int(self._instances.integers(1 << 31))}
        self._picture = self.other.reset(options=draw)[0]["screenshot"]
        self._other_over = False
        return self._blinded(observation), info

    def step(self, action: str) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Carries out one action on both instances; reward and end are those of the true one."""
        observation, *rest = self.env.step(action)
        if not self._other_over:
            seen, _, terminated, truncated, _ = self.other.step(action)
            self._picture, self._other_over = seen["screenshot"], terminated or truncated
        return self._blinded(observation), *rest  # type: ignore[return-value]

    def close(self) -> None:
        """Releases both devices."""
        self.other.close()
        super().close()

    def _blinded(self, observation: Observation) -> Observation:
        return {**observation, "screenshot": self._picture.copy()}
