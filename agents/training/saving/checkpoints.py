"""Checkpoints of a training: the latest ones and the best are kept."""

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import is_sharded
from coach_gym.agents.training.callbacks import BaseCallback
from coach_gym.agents.training.saving.checkpoint import is_agent, remove
from coach_gym.checks import require_positive, require_switch, require_whole
from coach_gym.dialects.names import settings_of
from coach_gym.files import as_folder, read_object, require_folders, write_whole

_NO_BEST: dict[str, Any] = {"checkpoint": None, "success_rate": -1.0}


class CheckpointCallback(BaseCallback):
    """Saves the agent to `{save_path}/{name_prefix}_{num_timesteps}_steps`.

    A checkpoint that falls due in the middle of a roll-out is written before the next one begins, so that training
    from it continues exactly as if it had not been interrupted.

    Args:
        save_freq: Calls of `env.step` between two checkpoints; None if another argument says when.
        save_path: Parent folder.
        name_prefix: Prefix of the folders' names.
        verbose: 1 prints what was written.
        save_steps: Environment steps between two checkpoints, over all sub-environments and processes.
        save_minutes: Minutes between two checkpoints.
        keep: Number of latest checkpoints of this training that are kept, besides the one with the best success rate
            over the latest training episodes, which `{name_prefix}_best.json` names; None keeps all. Those of another
            training in the same folder stay: all with more steps than this one begins with, until it writes its own.
            So do files that no save has written.
        keep_best: False keeps the latest ones only, because an `EvalCallback` keeps the best.

    Raises:
        ValueError: Nothing says when to save, a number is too small or not finite, the policy's dialect cannot be
            saved, `save_path` cannot be written to, or `{name_prefix}_best.json` is damaged.
        TypeError: A number is none, or a path.
    """

    def __init__(
        self,
        save_freq: int | None,
        save_path: str | Path,
        name_prefix: str = "rl_model",
        verbose: int = 0,
        *,
        save_steps: int | None = None,
        save_minutes: float | None = None,
        keep: int | None = None,
        keep_best: bool = True,
    ) -> None:
        super().__init__(verbose)
        if save_freq is None and save_steps is None and save_minutes is None:
            raise ValueError("nothing says when to save; pass save_freq, save_steps or save_minutes")
        counts = {"save_freq": save_freq, "save_steps": save_steps, "keep": keep}
        require_whole(1, **{name: value for name, value in counts.items() if value is not None})
        if save_minutes is not None:
            require_positive(save_minutes=save_minutes)
        require_switch(keep_best=keep_best)
        self.save_freq = save_freq
        self.save_steps = save_steps
        self.save_minutes = save_minutes
        self.save_path = as_folder(save_path=save_path)
        self.name_prefix = name_prefix
        self.keep = keep
        self.keep_best = keep_best
        self._due = False
        self._saved_at = 0
        self._saved_when = 0.0
        self._others: set[str] = set()
        self._best = _NO_BEST

    def _init_callback(self) -> None:
        settings_of(self.model.policy.dialect)  # refuses now what would otherwise fail at the first checkpoint
        if processes.rank() == 0:
            require_folders(save_path=self.save_path)
        best, begun = self._noted_best(), self.model.num_timesteps
        found = [path.name for path in checkpoints_in(self.save_path, self.name_prefix)]
        self._others = {name for name in found if int(name.split("_")[-2]) > begun}
        continued = best["checkpoint"] in set(found) - self._others
        self._best = best if continued else _NO_BEST

    def _on_training_start(self) -> None:
        self._saved_at, self._saved_when = self.model.num_timesteps, time.monotonic()

    def _on_step(self) -> bool:
        self._due |= self.save_freq is not None and self.n_calls % self.save_freq == 0
        return True

    def _on_rollout_start(self) -> None:
        self._save_if_due()

    def _on_training_end(self) -> None:
        self._save_if_due()

    def _save_if_due(self) -> None:
        steps, minutes = self.model.num_timesteps - self._saved_at, (time.monotonic() - self._saved_when) / 60
        self._due |= self.save_steps is not None and steps >= self.save_steps
        self._due |= self.save_minutes is not None and minutes >= self.save_minutes
        if not processes.any_of(self._due):
            return
        self._due, self._saved_at, self._saved_when = False, self.model.num_timesteps, time.monotonic()
        path = self.save_path / f"{self.name_prefix}_{self.model.num_timesteps}_steps"
        if is_sharded(self.model.policy.model):
            self.model.save_shards(path)  # the whole agent may be more than one process can hold
        else:
            self.model.save(path)
        successes = [each for theirs in processes.gather(list(self.model.ep_success_buffer)) for each in theirs]
        if processes.rank() == 0:
            if self.keep is not None:
                self._prune(path, float(np.mean(successes)) if successes else None, self.keep)
            if self.verbose >= 1:
                print(f"Saved a checkpoint to {path}")

    def _prune(self, latest: Path, success_rate: float | None, keep: int) -> None:
        """Notes the best checkpoint, and removes all others but the latest ones."""
        if self.keep_best and success_rate is not None and success_rate >= self._best["success_rate"]:
            self._best = {"checkpoint": latest.name, "success_rate": success_rate}
            write_whole(self._note, json.dumps(self._best, indent=2) + "\n", durable=True)
        self._others.discard(latest.name)
        found = checkpoints_in(self.save_path, self.name_prefix)
        for old in [path for path in found if path.name not in self._others][:-keep]:
            if old.name != self._best["checkpoint"]:
                remove(old)

    @property
    def _note(self) -> Path:
        return self.save_path / f"{self.name_prefix}_best.json"

    def _noted_best(self) -> dict[str, Any]:
        """Returns which checkpoint is noted as the best, and its success rate."""
        if not self._note.is_file():
            return _NO_BEST
        return read_object(self._note, checkpoint=str, success_rate=(int, float))


def checkpoints_in(folder: Path, name_prefix: str) -> list[Path]:
    """Returns the checkpoints in a folder, the oldest first."""
    start = folder / f"{name_prefix}_"  # the prefix may name folders
    pattern = re.compile(re.escape(start.name) + r"(\d+)_steps")
    named = [(found, path) for path in start.parent.glob("*") if (found := pattern.fullmatch(path.name))]
    return [path for _, path in sorted((int(found[1]), path) for found, path in named if is_agent(path))]
