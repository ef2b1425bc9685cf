"""What servers of sessions share: tasks listed by split and number, and how an episode stands, as JSON."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from pydantic_core import to_jsonable_python

import coach_gym  # noqa: F401  registers the environments
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.in_order import InOrder
from coach_gym.envs.tasks.words import Split
from coach_gym.recording.png import encode_png

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
ROUNDS = 10
"""Instances of every family that are listed; a seed draws from all there are."""


class TaskList:
    """The tasks of an environment: every family of a split once, in order, then all again with other instances.

    Args:
        id: Id of the environment, such as `"AndroidWorld-v0"`.
        settings: Its arguments.
    """

    def __init__(self, id: str, settings: Mapping[str, Any]) -> None:
        self.id = id
        self.settings = settings

    def env(self, split: str | None) -> InOrder:
        """Makes the environment of a split, or that of the settings. No device starts before its reset."""
        chosen = self.settings.get("split") if split is None else _known(split)
        settings = {**self.settings, "split": chosen}
        if chosen is None:
            settings.pop("unseen", None)  # which is for the splits that a session asks for
        return InOrder(gym.make(self.id, disable_env_checker=True, **settings))

    def count(self, split: str | None) -> int:
        """Returns how many tasks a split lists."""
        return _length(self.env(split))

    def task(self, split: str, index: int) -> dict[str, Any]:
        """Returns what a task asks for.

        Raises:
            IndexError: The split has no such task.
        """
        env = self.env(split)
        return _described(env, within(index, _length(env)), split)

    def tasks(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Returns the tasks of a slice."""
        env = self.env(split)
        return [_described(env, index, split) for index in range(_length(env))[start:stop]]


def within(index: int, length: int) -> int:
    """Returns an index that is in bounds.

    Raises:
        IndexError: It is not.
    """
    if not 0 <= index < length:
        raise IndexError(f"there is no task {index}; there are {length}, counted from 0")
    return index


def verdict(reward: SupportsFloat, done: bool, info: Mapping[str, Any]) -> float | None:
    """Returns the reward of a step; None where there is none: the device failed, or no rule decides."""
    judged = "fault" not in info and not (done and info["is_success"] is None)
    return float(reward) if judged else None


def metadata(info: Mapping[str, Any], truncated: bool) -> dict[str, Any]:
    """Returns Gymnasium's `info` and `truncated` as JSON; `is_success` is None without a verdict."""
    told = {**info, "params": dict(info["params"]), "truncated": truncated}
    if "fault" in info:
        told["is_success"] = None
    return to_jsonable_python(told, fallback=str)


def png(screenshot: np.ndarray) -> str:
    """Returns a PNG file in base64."""
    return base64.b64encode(encode_png(screenshot)).decode()


def _length(env: InOrder) -> int:
    return ROUNDS * len(env.tasks)


def _described(env: InOrder, index: int, split: str) -> dict[str, Any]:
    _, chosen = env.instance(index)
    suite = env.get_wrapper_attr("suite")
    task = suite.instance(chosen["task"], chosen.get("params"), chosen["params_seed"])
    return {
        "id": f"{task.name}-{index // len(env.tasks)}",
        "split": split,
        "index": index,
        "task": task.name,
        "goal": task.goal,
        "apps": list(task.apps),
        "difficulty": task.difficulty,
        "budget": task.budget,
    }


def _known(split: str) -> Split:
    for each in SPLITS:
        if split == each:
            return each
    raise UsageError(f"there is no split {split!r}; the splits are {', '.join(SPLITS)}")
