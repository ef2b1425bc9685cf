"""Keeps episodes of a training, with what the agent made of them."""

import math
import time
import warnings
from pathlib import Path

from coach_gym.agents.training.callbacks import EPISODES, BaseCallback
from coach_gym.checks import require_share, require_whole
from coach_gym.episode import Episode
from coach_gym.recording.origin import Origin, environment_of
from coach_gym.recording.store import EpisodeStore


class EpisodeRecorder(BaseCallback):
    """Writes a sample of the training's episodes to a folder that `coach-gym view` shows.

    An episode is written after the update that learned from it, so with Q values, advantages and verdicts.

    Args:
        share: Share of the episodes to write, evenly spread from the first one on.
        folder: Where to; None for `episodes` in the folder of the run, and for nothing if there is none.
        most_time: Episodes are left out while writing has taken more than this share of the training's time.
        max_bytes: Bound on the folder's size, as in `EpisodeStore`.

    Raises:
        ValueError: A share is not from 0 to 1.
        TypeError: A number is none.
    """

    def __init__(
        self, share: float = 1.0, folder: str | Path | None = None, most_time: float = 0.02, max_bytes: int = 2 << 30
    ) -> None:
        super().__init__()
        require_share(share=share, most_time=most_time)
        require_whole(0, max_bytes=max_bytes)
        self.share = share
        self.folder = folder
        self.most_time = most_time
        self.max_bytes = max_bytes
        self._store: EpisodeStore | None = None
        self._chosen: list[Episode] = []
        self._seen, self._spent, self._begun = 0, 0.0, 0.0

    def _on_training_start(self) -> None:
        run = self.logger.dir
        folder = self.folder or (None if run is None else Path(run) / EPISODES)
        self._store = EpisodeStore(folder, self.max_bytes) if folder is not None and self.share else None
        self._seen, self._spent, self._begun = 0, 0.0, time.perf_counter()

    def _on_step(self) -> bool:
        for episode in self.locals["episodes"]:
            self._seen += 1
            due = math.ceil(self._seen * self.share) > math.ceil((self._seen - 1) * self.share)
            if due and self._store is not None:
                self._chosen.append(episode)
        return True

    def _on_rollout_start(self) -> None:
        ready = [episode for episode in self._chosen if not self._waits(episode)]
        self._chosen = [episode for episode in self._chosen if self._waits(episode)]
        self._write(ready)

    def _on_training_end(self) -> None:
        self._write(self._chosen)
        self._chosen = []

    def _waits(self, episode: Episode) -> bool:
        """Whether the agent has yet to learn from an episode, which was played ahead of its batch."""
        return any(episode is attempt.episode for attempt in self.model.played_ahead)

    def _write(self, episodes: list[Episode]) -> None:
        if self._store is None or not episodes:
            return
        policy = self.model.policy
        origin = Origin(
            "train", self.model.num_timesteps, type(self.model).__name__, environment_of(self.training_env),
            dialect=policy.dialect, token_side=policy.chat.token_side,
        )  # fmt: skip
        for episode in episodes:
            if self._spent > self.most_time * (time.perf_counter() - self._begun):
                return
            started = time.perf_counter()
            try:
                self._store.write(episode, origin)
            except OSError as error:
                warnings.warn(f"no more episodes are kept, because {error}; the training goes on", stacklevel=2)
                self._store = None
                return
            self._spent += time.perf_counter() - started
