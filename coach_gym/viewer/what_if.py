"""What would have happened: plays a rejected candidate from the very state in which it was rejected."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.both import BothBenchmarks
from coach_gym.envs.suites.official_lab.checkout import VARIABLE as LAB_VARIABLE
from coach_gym.envs.suites.official_world.upstream import VARIABLE as WORLD_VARIABLE
from coach_gym.recording.atif import from_atif
from coach_gym.recording.png import read_png
from coach_gym.recording.store import read_trajectory

_OURS = {*inspect.signature(AndroidEnv).parameters, *inspect.signature(BothBenchmarks).parameters} - {"pool"}
"""Arguments that are taken from an episode; its task is, too, so that no file needs to be read as the pool."""
_CHECKOUTS = (WORLD_VARIABLE, LAB_VARIABLE)


class CannotReplay(Exception):
    """An episode cannot be played again; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What a candidate leads to.

    Attributes:
        screenshot: The screen that follows, (height, width, 3) uint8.
        error: Why the action did nothing; `""` if it was carried out.
        over: Whether the episode is over with it.
        success: The task's verdict then; None if there is none.
    """

    screenshot: np.ndarray
    error: str
    over: bool
    success: bool | None


def what_if(store: Path, id: str, step: int, candidate: int) -> Outcome:
    """Plays an episode's actions up to a step on a new embedded phone, and then another of that step's candidates.

    Args:
        store: Folder of episodes.
        id: The episode.
        step: Index of the step.
        candidate: Index of the candidate.

    Raises:
        CannotReplay: The environment is unknown, is not the embedded phone or needs code that only the episode names,
            or it shows other screens than it did.
        KeyError: There is no such episode.
        IndexError: There is no such step or candidate.
    """
    document = read_trajectory(store, id)
    if min(step, candidate) < 0:
        raise IndexError(f"steps and candidates are numbered from 0, so there is none at {step}, {candidate}")
    episode = from_atif(document, lambda path: read_png(store / "trajectories" / path))
    chosen = document["steps"][step + 1]["extra"]["candidates"][candidate]["action"]
    with _environment(document["extra"]) as env:
        observation, _ = env.reset(**_reset(document["extra"]))
        for number, taken in enumerate([*(each.action for each in episode.steps[:step]), chosen]):
            if not np.array_equal(observation["screenshot"], episode.steps[number].observation.screenshot):
                raise CannotReplay(
                    f"the screen of step {number + 1} is not the recorded one: the environment or its data have "
                    f"changed since, or its device is not deterministic"
                )
            observation, _, terminated, truncated, info = env.step(taken)
    return Outcome(
        observation["screenshot"], observation["last_action_error"], terminated or truncated, info.get("is_success")
    )


def _environment(about: dict[str, Any]) -> gym.Env:
    """Returns the environment that an episode was played on, with an embedded phone."""
    known = about["environment"]
    if known is None or about["reset"] is None:
        raise CannotReplay("it is not known which environment this episode was played on, or with which seed")
    kwargs = _checked(known["kwargs"])
    kwargs |= {name: _checked(kwargs[name]) for name in ("world", "lab") if kwargs.get(name)}
    if known["id"] not in gym.registry:
        raise CannotReplay(f"the environment {known['id']} is not registered here; import the package that has it")
    if "screen_size" in kwargs:
        kwargs["screen_size"] = tuple(kwargs["screen_size"])
    return gym.make(known["id"], disable_env_checker=True, **kwargs)


def _reset(about: dict[str, Any]) -> dict[str, Any]:
    """Returns what an episode begins with; a task that was drawn from a pool is named."""
    kwargs = about["environment"]["kwargs"]
    drawn = any((given or {}).get("pool") for given in (kwargs, kwargs.get("world"), kwargs.get("lab")))
    return ({"options": {"task": about["task"], "params": about["params"]}} if drawn else {}) | about["reset"]


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments that are ours; those that name code are not, as an episode may be a stranger's."""
    if given.get("device", "phone") != "phone":
        raise CannotReplay(f"only the embedded phone can be put into an earlier state, not {given['device']}")
    if given.get("apps"):
        raise CannotReplay(
            f"this episode needs apps from outside coach-gym, {given['apps']!r:.200}; for safety, no code that an "
            f"episode names is run"
        )
    folder = given.get("checkout")
    if folder and folder not in map(os.environ.get, _CHECKOUTS):
        raise CannotReplay(
            f"this episode needs the code in checkout={folder!r:.200}; if you trust it, set {' or '.join(_CHECKOUTS)} "
            f"to just that and start coach-gym view again"
        )
    return {name: value for name, value in given.items() if name in _OURS}
