"""A folder of episodes that grows while something plays.

    index.jsonl            one line for every episode: what a list of episodes shows
    trajectories/ID.json   the episode in ATIF (`atif.py`)
    screens/AB/HASH.png    its screens, each stored once

A trajectory is complete when its line is in the index, so that others can read while episodes are written, and a
process that is killed loses no episode that it has written. Several processes can write to one folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coach_gym.checks import require_whole
from coach_gym.episode import Episode
from coach_gym.files import append_line, write_whole
from coach_gym.recording.atif import from_atif, to_atif
from coach_gym.recording.origin import Origin
from coach_gym.recording.png import encode_png, read_png

INDEX = "index.jsonl"
_TRAJECTORIES, _SCREENS, _LOCK = "trajectories", "screens", ".lock"
_LONGEST_NAME = 200  # characters; file systems take 255
_KEPT = 0.75
"""Share of the bound that is left after old episodes were removed."""

_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What reading an episode raises whose file is damaged."""

Row = dict[str, Any]


class EpisodeStore:
    """Writes episodes to a folder.

    Args:
        folder: The folder; made with the first episode.
        max_bytes: Bound on its size. Beyond it the oldest episodes are removed.
    """

    def __init__(self, folder: str | Path, max_bytes: int = 2 << 30) -> None:
        require_whole(0, max_bytes=max_bytes)
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self._size: int | None = None

    def write(self, episode: Episode, origin: Origin, id: str | None = None) -> str:
        """Writes an episode and returns its identifier.

        Args:
            episode: The episode.
            origin: How it came about.
            id: Its identifier, of letters, digits and `-`; it takes the place of an episode that has the same. None
                makes a new one.

        Raises:
            OSError: The folder cannot be written to.
        """
        id = id or f"{int(episode.steps[0].time if episode.steps else 0):010d}-{secrets.token_hex(4)}"
        path = self.folder / _TRAJECTORIES / f"{id}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            written: list[int] = []
            screens: list[str] = []

            def keep(screenshot: np.ndarray) -> str:
                name, size = self._keep(screenshot)
                written.append(size)
                screens.append(name)
                return f"../{_SCREENS}/{name}"

            text = json.dumps(to_atif(episode, origin, keep, id))
            write_whole(path, text, durable=True)
            row = _row(id, episode, origin, screens, len(text) + sum(written))
            append_line(self.folder / INDEX, json.dumps(row), durable=True)
            self._bound(row["bytes"])
        return id

    def _keep(self, screenshot: np.ndarray) -> tuple[str, int]:
        """Stores a screenshot unless it is there; returns its path below the screens, and the bytes it has cost."""
        hashed = hashlib.sha256(b"%d x %d " % screenshot.shape[:2])
        hashed.update(np.ascontiguousarray(screenshot).data)
        digest = hashed.hexdigest()[:32]
        name = f"{digest[:2]}/{digest}.png"
        path = self.folder / _SCREENS / name
        if path.exists():
            return name, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        data = encode_png(screenshot)
        write_whole(path, data)
        return name, len(data)

    def _bound(self, added: int) -> None:
        """Removes the oldest episodes, and the screens that only they show, if the folder has become too large."""
        if self._size is None:
            self._size = sum(row["bytes"] for row in read_index(self.folder))
        else:
            self._size += added
        if self._size <= self.max_bytes:
            return
        found = [  # read anew, as other processes may have written, too
            (row, screens)
            for row in read_index(self.folder)
            if (screens := _screens_of(self.folder, row["id"])) is not None
        ]
        self._size = sum(row["bytes"] for row, _ in found)
        while len(found) > 1 and self._size > _KEPT * self.max_bytes:
            self._size -= found.pop(0)[0]["bytes"]
        lines = "".join(json.dumps(row) + "\n" for row, _ in found)
        write_whole(self.folder / INDEX, lines, durable=True)
        # Whatever no line leads to goes, also what an interruption has left.
        kept, shown = {row["id"] for row, _ in found}, {name for _, screens in found for name in screens}
        for path in (self.folder / _SCREENS).glob("*/*.png"):
            if f"{path.parent.name}/{path.name}" not in shown:
                path.unlink()
        for path in (self.folder / _TRAJECTORIES).glob("*.json"):
            if path.stem not in kept:
                path.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keeps other writers out; the lock of a process that is killed is free again."""
        with (self.folder / _LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def read_index(folder: Path) -> list[Row]:
    """Returns the lines of an index, the oldest episode first, and of every episode its latest line.

    A line that an interruption has cut off is left out.
    """
    path = folder / INDEX
    rows = [row for line in path.read_bytes().splitlines() if (row := _line(line))] if path.is_file() else []
    return list({row["id"]: row for row in rows}.values())


def read_trajectory(folder: Path, id: str) -> dict[str, Any]:
    """Returns the ATIF document of an episode.

    Raises:
        KeyError: The index has no such episode.
    """
    path = folder / _TRAJECTORIES / f"{id}.json"
    if not _is_name(id.replace("-", "")) or not path.is_file():
        raise KeyError(f"{folder} has no episode {id[:_LONGEST_NAME]!r}")
    return json.loads(path.read_text("utf-8"))


def screen_path(folder: Path, name: str) -> Path:
    """Returns the file of a screen by its name, the hash of its pixels.

    Raises:
        KeyError: The name is not one.
    """
    if not _is_name(name):
        raise KeyError(f"{name[:_LONGEST_NAME]!r} is no screen")
    return folder / _SCREENS / name[:2] / f"{name}.png"


def _is_name(text: str) -> bool:
    return text.isascii() and text.isalnum() and len(text) <= _LONGEST_NAME


def find_stores(path: str | Path) -> list[Path]:
    """Returns the folders of episodes at or below a path, without looking inside them."""
    found: list[Path] = []
    for folder, below, files in os.walk(path):
        if INDEX in files:
            found.append(Path(folder))
            below.clear()
        below[:] = sorted(name for name in below if not name.startswith("."))
    return sorted(found)


def load_episodes(path: str | Path, where: Callable[[Row], bool] | None = None) -> Iterator[Episode]:
    """Yields the episodes that were written to a folder, the oldest first.

    Args:
        path: A folder of episodes, the folder of a run, or one trajectory's file.
        where: Chooses episodes by their line of the index, which has `task`, `outcome`, `fault`, `length`, `phase`,
            `timesteps` and others.

    Raises:
        FileNotFoundError: There are no episodes.
        ValueError: One is damaged.
    """
    path = Path(path)
    if path.is_file():
        yield _load(path)
        return
    stores = find_stores(path)
    if not stores:
        raise FileNotFoundError(f"there are no episodes at {path}: no {INDEX} in it or below")
    for store in stores:
        for row in read_index(store):
            if where is None or where(row):
                yield _load(store / _TRAJECTORIES / f"{row['id']}.json")


def _load(path: Path) -> Episode:
    try:
        return from_atif(json.loads(path.read_text("utf-8")), lambda screen: read_png(path.parent / screen))
    except _DAMAGED as error:
        reason = f"{path} is no episode that can be read ({type(error).__name__}: {error})"
        raise ValueError(f"{reason}; put back a copy, or remove it and its line in {INDEX}") from error


def _row(id: str, episode: Episode, origin: Origin, screens: list[str], size: int) -> Row:
    times = [step.time for step in episode.steps]
    return {
        "id": id,
        "phase": origin.phase,
        "timesteps": origin.timesteps,
        "task": episode.task,
        "goal": episode.goal,
        "seed": episode.seed,
        "outcome": episode.outcome,
        "fault": episode.fault,
        "answer": episode.answer,
        "length": episode.length,
        "k": max((len(step.candidates) for step in episode.steps), default=0),
        "started": times[0] if times else None,
        "seconds": round(times[-1] - times[0], 3) if times else None,
        "screen": Path(screens[-1]).stem if screens else None,
        "bytes": size,
    }


def _screens_of(folder: Path, id: str) -> set[str] | None:
    """Returns the names of the screens that an episode shows; None if it is missing or damaged."""
    try:
        parts = [part for step in read_trajectory(folder, id)["steps"] for part in _parts(step)]
        return {part["source"]["path"].removeprefix(f"../{_SCREENS}/") for part in parts if part["type"] == "image"}
    except _DAMAGED:
        return None


def _parts(step: dict[str, Any]) -> list[dict[str, Any]]:
    shown = [part for result in step.get("observation", {}).get("results", []) for part in result["content"]]
    return shown + (step["message"] if isinstance(step["message"], list) else [])


def _line(line: bytes) -> Row | None:
    try:
        return json.loads(line)
    except ValueError:
        return None
