"""Labelled responses on disk, as `coach_gym.agents.data.label` writes them.

`labels.jsonl` holds a label a line, `label.json` all settings and counts, and `candidates.jsonl` all responses of an
episode a line, from which the labels were drawn.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Episode

LABELS, SETTINGS = "labels.jsonl", "label.json"
HELD_OUT = 10
"""Of so many episodes, one is held out."""


@dataclass(frozen=True)
class Label:
    """A response to a state of a demonstration, and whether it is a good step.

    Attributes:
        folder: Index of the folder of episodes among those that were labelled.
        episode: Name of the episode in it.
        step: Index of the state.
        response: The response as the policy wrote it.
        action: The same as canonical text, in pixels of the screenshot; the response itself if it is no action.
        good: Whether it does what the demonstration does.
        reason: Why it is good or bad; `""` if nobody was asked.
    """

    folder: int
    episode: str
    step: int
    response: str
    action: str
    good: bool
    reason: str = ""

    @property
    def source(self) -> tuple[int, str]:
        """Folder and name of the episode."""
        return self.folder, self.episode

    @property
    def held_out(self) -> bool:
        """Whether the label is of an episode that is held out: always all labels of an episode, or none."""
        return zlib.crc32(f"{self.folder}/{self.episode}".encode()) % HELD_OUT == 0

    def to_json(self) -> str:
        """Returns the label in one line."""
        return json.dumps(asdict(self), ensure_ascii=False)


class LabelFolder:
    """Labels, and the episodes that they are about.

    Args:
        path: A folder that `coach-gym label` wrote.

    Attributes:
        path: The folder.
        labels: The labels, good and bad in equal numbers.
        folders: The folders of episodes.

    Raises:
        ValueError: The folder holds no labels, or damaged ones.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path = Path(path)
        if not (path / LABELS).is_file():
            raise ValueError(f"{path} holds no {LABELS}; make it with coach-gym label")
        try:
            lines = (path / LABELS).read_text("utf-8").split("\n")
            self.labels = [Label(**json.loads(line)) for line in lines if line]
            folders = [Path(each) for each in json.loads((path / SETTINGS).read_text("utf-8"))["settings"]["folders"]]
            if not all(0 <= label.folder < len(folders) for label in self.labels):
                raise ValueError(f"labels are of other folders than the {len(folders)} that {SETTINGS} names")
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise ValueError(
                f"the labels in {path} are damaged ({type(error).__name__}: {error}); repeat the coach-gym label that "
                f"made them, which keeps what was drawn"
            ) from error
        self.folders = [EpisodeFolder(folder) for folder in folders]

    def episode(self, label: Label) -> Episode:
        """Returns the episode that a label is about."""
        return self.folders[label.folder].read(label.episode)

    def by_episode(self, held_out: bool | None = None) -> Iterator[list[Label]]:
        """Yields the labels of every episode; None takes all episodes, held out or not."""
        grouped: dict[tuple[int, str], list[Label]] = {}
        for label in self.labels:
            if held_out in (None, label.held_out):
                grouped.setdefault(label.source, []).append(label)
        yield from (grouped[source] for source in sorted(grouped))
