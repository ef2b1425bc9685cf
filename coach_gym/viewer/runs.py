"""The runs below a folder, and their curves."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from coach_gym.recording.store import INDEX, Row, read_index

Curve = list[tuple[int, float]]
"""Points of a curve: environment steps and value."""

_EVENTS = "events.out.tfevents"


@dataclass
class Run:
    """A folder with TensorBoard's event files, with episodes, or with both.

    Attributes:
        name: Its path below the folder that is shown.
        events: Its event files.
        store: Its folder of episodes; None if it has none.
    """

    name: str
    events: list[Path] = field(default_factory=list)
    store: Path | None = None

    def rows(self) -> list[Row]:
        """Returns the lines of the index of its episodes."""
        return [] if self.store is None else read_index(self.store)

    def told(self) -> dict[str, Any]:
        """Returns what the list of runs shows; `stamp` changes whenever an episode or a value was added."""
        rows = self.rows()
        judged = [row for row in rows if row["outcome"] is not None and row["fault"] is None]
        files = [*self.events, *([self.store / INDEX] if self.store is not None else [])]
        return {
            "name": self.name,
            "episodes": len(rows),
            "judged": len(judged),
            "solved": sum(row["outcome"] >= 1 for row in judged),
            "faults": sum(row["fault"] is not None for row in rows),
            "curves": bool(self.events),
            "changed": max((path.stat().st_mtime for path in files), default=0),
            "stamp": sum(path.stat().st_size for path in files),
        }


def find_runs(root: Path) -> dict[str, Run]:
    """Returns the runs at or below a folder, by name.

    Episodes in a folder named `episodes` belong to the run around it.
    """
    runs: dict[str, Run] = {}

    def run_of(folder: Path) -> Run:
        name = folder.relative_to(root).as_posix()
        name = (root.name if name == "." else name).removesuffix(".episodes")
        return runs.setdefault(name, Run(name))

    for at, below, files in os.walk(root):
        folder = Path(at)
        below[:] = sorted(name for name in below if not name.startswith("."))
        if events := sorted(name for name in files if name.startswith(_EVENTS)):
            run_of(folder).events = [folder / name for name in events]
        if INDEX in files:
            owner = folder.parent if folder.name == "episodes" and folder != root else folder
            run_of(owner).store = folder
            below.clear()
    return dict(sorted(runs.items()))


class Curves:
    """Reads the scalars of event files, each event once, although the files grow."""

    def __init__(self) -> None:
        self._loaders: dict[Path, RawEventFileLoader] = {}
        self._points: dict[Path, dict[str, Curve]] = {}
        self._lock = Lock()

    def of(self, run: Run) -> dict[str, Curve]:
        """Returns the curves of a run by tag, in the order of environment steps."""
        curves: dict[str, Curve] = {}
        with self._lock:
            for path in run.events:
                self._read(path)
                for tag, points in self._points[path].items():
                    curves.setdefault(tag, []).extend(points)
        return {tag: sorted(points) for tag, points in sorted(curves.items())}

    def _read(self, path: Path) -> None:
        loader = self._loaders.setdefault(path, RawEventFileLoader(str(path)))
        points = self._points.setdefault(path, {})
        for raw in loader.Load():
            event = Event.FromString(raw)
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    points.setdefault(value.tag, []).append((event.step, value.simple_value))


def finite_curves(curves: Curves, run: Run) -> dict[str, Curve]:
    """Returns the curves of a run without the points that JSON has no number for."""
    return {tag: [point for point in line if math.isfinite(point[1])] for tag, line in curves.of(run).items()}
