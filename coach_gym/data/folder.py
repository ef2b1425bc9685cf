"""A folder of episodes: a file for each, and `episodes.json`, which says where they come from and what was dropped."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coach_gym.episode import Episode
from coach_gym.files import write_whole
from coach_gym.recording.archive import read_episode, read_heading, write_episode
from coach_gym.recording.store import INDEX

LEDGER = "episodes.json"


class EpisodeFolder:
    """Episodes on disk, by name. What is written stays, so that an interrupted command can be repeated.

    Args:
        path: The folder; made if it is missing.
        about: Where its episodes come from, and all that decides what they are; None to read whatever is there.

    Attributes:
        done: Parts of the source that have been read completely, and what was dropped from each, by reason.

    Raises:
        ValueError: The folder holds episodes from elsewhere, is to be read and holds none, or its ledger is damaged.
    """

    def __init__(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        self.about = about = json.loads(json.dumps(about, default=str))  # as it is read again
        self.done: dict[str, dict[str, int]] = {}
        ledger = self.path / LEDGER
        if ledger.is_file():
            self.about, self.done = _read_ledger(ledger)
            if about is not None and self.about != about:
                raise ValueError(f"{path} holds episodes of {self.about}, not of {about}; choose another folder")
        elif about is None and not any(self.path.glob("*.npz")):
            kept = any(self.path.rglob(INDEX))
            found = "episodes as runs and evaluations keep them, of another format" if kept else "no episodes"
            raise ValueError(f"{path} holds {found}; make some with coach-gym data rollouts")

    @property
    def names(self) -> list[str]:
        """The names of the episodes, sorted."""
        return sorted(file.stem for file in self.path.glob("*.npz"))

    @property
    def dropped(self) -> Counter[str]:
        """The numbers of episodes that were dropped, by reason."""
        return sum((Counter(reasons) for reasons in self.done.values()), start=Counter())

    def __contains__(self, name: str) -> bool:
        return self._file(name).is_file()

    def read(self, name: str) -> Episode:
        """Returns an episode."""
        return read_episode(self._file(name))

    def heading(self, name: str) -> Episode:
        """Returns an episode without its steps."""
        return read_heading(self._file(name))

    def write(self, name: str, episode: Episode, pngs: Sequence[bytes] | None = None) -> None:
        """Writes an episode. See `write_episode`."""
        if self.about is not None and not (self.path / LEDGER).is_file():
            self._write_ledger()
        write_episode(self._file(name), episode, pngs)

    def finish(self, part: str, dropped: Counter[str]) -> None:
        """Notes that a part of the source is complete."""
        self.done[part] = dict(dropped)
        self._write_ledger()

    def summary(self) -> str:
        """Returns how many episodes there are and how many were dropped, one line each."""
        lines = [f"{len(self.names)} episodes in {self.path}"]
        return "\n".join([*lines, *(f"{number} dropped: {reason}" for reason, number in self.dropped.most_common())])

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.npz"

    def _write_ledger(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(self.path / LEDGER, json.dumps({"about": self.about, "done": self.done}, indent=2) + "\n")


def _read_ledger(path: Path) -> tuple[Any, dict[str, dict[str, int]]]:
    try:
        told = json.loads(path.read_text("utf-8"))
        return told["about"], {part: dict(dropped) for part, dropped in told["done"].items()}
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise ValueError(
            f"{path} is damaged ({type(error).__name__}: {error}); remove it to read the episodes beside it, or write "
            f"them again into another folder"
        ) from error
