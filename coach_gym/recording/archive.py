"""Episodes as files: screenshots as compressed pixels, everything else as JSON, nothing pickled."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from coach_gym.episode import Candidate, Episode, Observation, Step


def write_episode(path: Path, episode: Episode) -> None:
    """Writes an episode as an `.npz` file, all at once; forks of its environment (`Step.env`) are left out."""
    told = asdict(replace(episode, steps=[]))
    told["steps"] = [_told(step) for step in episode.steps]
    screens: dict[str, Any] = {f"screen_{t}": step.observation.screenshot for t, step in enumerate(episode.steps)}
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, text=_bytes(told), **screens)
    partial.rename(path)


def read_episode(path: Path) -> Episode:
    """Returns an episode that `write_episode` wrote."""
    with np.load(path, allow_pickle=False) as file:
        told = json.loads(file["text"].tobytes())
        steps = [_step(step, file[f"screen_{t}"]) for t, step in enumerate(told.pop("steps"))]
    return Episode(**told, steps=steps)


def _bytes(told: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(told, default=str).encode(), np.uint8)  # parameters may hold dates


def _told(step: Step) -> dict[str, Any]:
    seen = step.observation
    told = asdict(replace(step, observation=None, env=None))  # type: ignore[arg-type]
    return {**told, "observation": {"ui": seen.ui, "last_action_error": seen.last_action_error}}


def _step(told: dict[str, Any], screenshot: np.ndarray) -> Step:
    observation = Observation(screenshot, **told.pop("observation"))
    candidates = [Candidate(**each) for each in told.pop("candidates")]
    return Step(observation, candidates, **told)
