"""Where a kept episode comes from, and what it takes to play it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

from coach_gym.dialects import Dialect


@dataclass(frozen=True)
class Origin:
    """What an episode does not know about itself.

    Attributes:
        phase: `"train"`, `"evaluation"`, or another word for what it was played for.
        timesteps: Environment steps of training before it was kept; None outside a training.
        agent: Name of the agent.
        environment: `id` and `kwargs` of the environment, as `environment_of` returns them; None if unknown.
        reset: `seed` and `options` that `reset` of that environment repeats the episode with; None for the episode's
            own seed.
        dialect: What the agent's prompts and responses are written in; None if responses are canonical actions.
        token_side: Side of the square of pixels that becomes one visual token, which the dialect's frame depends on.
    """

    phase: str = ""
    timesteps: int | None = None
    agent: str = ""
    environment: Mapping[str, Any] | None = None
    reset: Mapping[str, Any] | None = None
    dialect: Dialect | None = None
    token_side: int = 28


def environment_of(env: gym.Env | VectorEnv | None) -> dict[str, Any] | None:
    """Returns the id of an environment and the arguments it was made with; None if that cannot be written as JSON.

    Args:
        env: A single or a vector environment. One that was not made by `gym.make` or `gym.make_vec` has no id.
    """
    spec = None if env is None else env.unwrapped.spec
    if spec is None:
        return None
    try:
        return {"id": spec.id, "kwargs": json.loads(json.dumps(spec.kwargs))}
    except (TypeError, ValueError):  # a device or suite of the user's own
        return None
