"""Episodes as files: screenshots as PNG, everything else as JSON, nothing pickled.

A file is a NumPy archive, which is a zip file. `text` holds the JSON of an `Episode` as UTF-8; `screen_0`, `screen_1`,
… hold the screenshots, each as the bytes of a PNG. Anything that reads numpy archives can read it:

    file = np.load("000027.npz")
    episode = json.loads(file["text"].tobytes())
    image = Image.open(io.BytesIO(file["screen_0"].tobytes()))
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
from PIL import Image

from coach_gym.episode import Candidate, Episode, Observation, Step


def write_episode(path: Path, episode: Episode, pngs: Sequence[bytes] | None = None) -> None:
    """Writes an episode as an `.npz` file, all at once; without its last state and forks (`Step.env`).

    Args:
        path: The file.
        episode: The episode.
        pngs: The same screenshots as PNG, if they are at hand, which saves packing them again.
    """
    partial = path.with_suffix(".partial")
    partial.write_bytes(pack_episode(episode, pngs))
    partial.rename(path)


def pack_episode(episode: Episode, pngs: Sequence[bytes] | None = None) -> bytes:
    """Returns the bytes of the file that `write_episode` writes."""
    told = asdict(replace(episode, steps=[], last=None))
    told["steps"] = [_told(step) for step in episode.steps]
    packed = [_png(step.observation.screenshot) for step in episode.steps] if pngs is None else pngs
    screens: dict[str, Any] = {f"screen_{t}": np.frombuffer(png, np.uint8) for t, png in enumerate(packed)}
    file = io.BytesIO()
    np.savez(file, text=_bytes(told), **screens)
    return file.getvalue()


def read_episode(source: Path | BinaryIO) -> Episode:
    """Returns an episode that `write_episode` wrote, from its path or an open file.

    Raises:
        ValueError: The file is missing or damaged.
    """
    with _reading(source) as file:
        told = json.loads(file["text"].tobytes())
        steps = [_step(step, _pixels(file[f"screen_{t}"])) for t, step in enumerate(told.pop("steps"))]
        return Episode(**told, steps=steps)


def read_heading(path: Path) -> Episode:
    """Returns an episode without its steps, which is quick. Raises as `read_episode` does."""
    with _reading(path) as file:
        told = json.loads(file["text"].tobytes())
        return Episode(**{**told, "steps": []})


@contextmanager
def _reading(path: Path | BinaryIO) -> Iterator[Mapping[str, np.ndarray]]:
    """Opens an archive, and says of what goes wrong inside which file it is."""
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except (OSError, ValueError, TypeError, AttributeError, LookupError, EOFError, BadZipFile) as error:
        raise ValueError(
            f"the episode {path} cannot be read ({type(error).__name__}: {error}); remove it, and repeat the command "
            f"that wrote it"
        ) from error


def _png(screenshot: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(screenshot).save(stream, "PNG")
    return stream.getvalue()


def _pixels(stored: np.ndarray) -> np.ndarray:
    if stored.ndim == 3:  # older files hold the pixels themselves
        return stored
    return read_png(stored.tobytes())


def read_png(png: bytes) -> np.ndarray:
    """Returns the pixels of a picture, (height, width, 3) uint8."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


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
