"""Keeps episodes while others are played."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Self

from coach_gym.episode import Episode
from coach_gym.interruptions import held_back
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
        self._waiting: deque[tuple[Future[str], Callable[[], object]]] = deque()

    @property
    def keeps(self) -> bool:
        """Whether episodes are written."""
        return self._store is not None

    def keep(
        self, episode: Episode, origin: Origin, then: Callable[[], object] = bool, id: str | None = None
    ) -> None:
        """Writes an episode soon, after those before it; it must not be changed any more.

        Args:
            episode: The episode.
            origin: How it came about.
            then: Called by a later call of this thread, or at the end of the context, once the episode is written or
                refused. Whoever is killed before may have the episode, but never what this notes without it.
            id: Its identifier, as in `EpisodeStore.write`.
        """
        if self._store is None:
            then()
            return
        with held_back():
            self._waiting.append((self._thread.submit(self._store.write, episode, origin, id), then))
        self._await(_MOST_WAITING)

    def _await(self, most: int) -> None:
        while self._waiting and (len(self._waiting) > most or self._waiting[0][0].done()):
            writing, then = self._waiting[0]
            wait([writing])
            with held_back():
                self._waiting.popleft()
                if isinstance(error := writing.exception(), OSError):
                    if self.keeps:
                        warnings.warn(f"no more episodes are kept, because {error}", stacklevel=3)
                    self._store = None
                elif error is not None:
                    raise error
                then()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with held_back():  # what is written anyway must be noted, too
                self._await(0)
        finally:
            self._thread.shutdown()
