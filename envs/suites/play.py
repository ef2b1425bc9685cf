"""Lets a scripted expert play an episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from coach_gym.envs.tasks.screen import Expert, Screen


@dataclass
class Demonstration:
    """What an expert saw and did.

    Attributes:
        steps: Observation and action text of each step, in order.
        reward: Reward of the last step: the task's verdict.
        info: `info` of the last step.
        last: Observation after the last step.
    """

    steps: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    reward: float = 0.0
    info: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)

    @property
    def screens(self) -> list[np.ndarray]:
        """Returns the screen of each step, and the last one if the last action has changed it."""
        seen = [observation["screenshot"] for observation, _ in self.steps]
        end = [self.last["screenshot"]] if self.last else []
        return seen if seen and end and np.array_equal(seen[-1], end[0]) else seen + end

    @property
    def actions(self) -> list[str]:
        """Returns the action texts alone."""
        return [action for _, action in self.steps]


def play(
    env: gym.Env,
    observation: dict[str, Any],
    info: dict[str, Any],
    params: Mapping[str, Any] | None = None,
    expert: Expert | None = None,
) -> Demonstration:
    """Lets an expert play the current task until the episode or the expert's script ends.

    Args:
        env: An `AndroidEnv`, perhaps wrapped, that was just reset.
        observation: First observation, from `reset`.
        info: First info, from `reset`.
        params: Parameters to tell the expert instead of the instance's own.
        expert: Who plays; None for the expert that the environment's suite has for the task.

    Raises:
        LookupError: The expert misses something on the screen.
        KeyError: The task has no expert.
    """
    if expert is None:
        expert = env.get_wrapper_attr("suite").expert(info["task"])
    screen, shown = Screen(), Demonstration(info=info)
    screen.update(observation)
    for action in expert(screen, dict(info["params"] if params is None else params)):
        shown.steps.append((observation, action))
        observation, reward, terminated, truncated, shown.info = env.step(action)
        shown.last = observation
        shown.reward = float(reward)
        if terminated or truncated:
            break
        screen.update(observation)
    return shown
