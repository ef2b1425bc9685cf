"""Keeps episodes while others are played."""

from __future__ import annotations

import warnings
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from coach_gym.episode import Episode
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore

_MOST_WAITING = 4


class EpisodeKeeper:
    """Writes episodes in a thread of its own, in which hashing, packing and waiting for the disk cost others little.

    A disk that refuses ends the keeping with a warning, and nothing else. At the end of the context all are written.

    Args:
        folder: Folder of the episodes; None keeps none.
    """

    def __init__(self, folder: str | Path | None) -> None:
        self._store = None if folder is None else EpisodeStore(folder)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="episodes")
        self._waiting: deque[Future[str]] = deque()

    @property
    def keeps(self) -> bool:
        """Whether episodes are written."""
        return self._store is not None

    def keep(self, episode: Episode, origin: Origin) -> None:
        """Writes an episode soon, after those before it; it must not be changed any more."""
        if self._store is not None:
            self._waiting.append(self._thread.submit(self._store.write, episode, origin))
            self._await(_MOST_WAITING)

    def _await(self, most: int) -> None:
        while len(self._waiting) > most:
            try:
                self._waiting.popleft().result()
            except OSError as error:
                if self.keeps:
                    warnings.warn(f"no more episodes are kept, because {error}", stacklevel=3)
                self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._await(0)
        self._thread.shutdown()
