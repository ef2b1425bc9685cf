"""Letting a scripted expert play an episode through the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from coach_gym.envs.suites.official_world import experts as official
from coach_gym.envs.tasks.screen import EXPERTS, Screen


@dataclass
class Demonstration:
    """What an expert saw and did.

    Attributes:
        steps: Observation and action text of each step, in order.
        reward: Reward of the last step: the task's verdict.
        info: ``info`` of the last step.
    """

    steps: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    reward: float = 0.0
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def actions(self) -> list[str]:
        """The action texts alone."""
        return [action for _, action in self.steps]


def play(
    env: gym.Env,
    observation: dict[str, Any],
    info: dict[str, Any],
    params: Mapping[str, Any] | None = None,
) -> Demonstration:
    """Lets the expert of the current task play until the episode or the expert's script ends.

    Args:
        env: An environment that was just reset.
        observation: What its ``reset`` returned.
        info: Likewise.
        params: Parameters to tell the expert instead of the instance's own.

    Raises:
        LookupError: The expert misses something on the screen.
        KeyError: The task has no expert.
    """
    screen, shown = Screen(), Demonstration(info=info)
    screen.update(observation)
    told = dict(info["params"] if params is None else params)
    for action in _expert(info, screen, told):
        shown.steps.append((observation, action))
        observation, reward, terminated, truncated, shown.info = env.step(action)
        shown.reward = float(reward)
        if terminated or truncated:
            break
        screen.update(observation)
    return shown


def _expert(info: Mapping[str, Any], screen: Screen, params: Mapping[str, Any]) -> Iterator[str]:
    """What solves the instance. AndroidWorld's official tasks are named like ours but have other parameters."""
    if info["suite"] == "official":
        return official.solve(info["task"], screen, params)
    return EXPERTS[info["task"]](screen, params)
