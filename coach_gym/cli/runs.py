"""The folder of a training: what it was started with, its checkpoints, and whether it is over.

run.json             options and settings, in the form of a `--config` file
checkpoints/         `agent_{steps}_steps`, the latest ones; and without evaluations, the best on training's episodes
best_model/          the agent that did best in an evaluation, whose figures are in best_model.json
agent/               the trained agent; its folder exists once the training is over
CoachAgent_1/        logs
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coach_gym.files import read_object, write_whole

RUN, CHECKPOINTS, AGENT, BEST = "run.json", "checkpoints", "agent", "best_model"
PREFIX = "agent"
_MINUTES = re.compile(r"(\d+(?:\.\d+)?) ?(?:m|min|minutes)")


def merged(*configs: Mapping[str, Any]) -> dict[str, Any]:
    """Merges contents of `--config` files; later ones win, and tables are merged key by key."""
    result: dict[str, Any] = {}
    for config in configs:
        for name, value in config.items():
            table = isinstance(value, Mapping) and isinstance(result.get(name), Mapping)
            result[name] = merged(result[name], value) if table else value
    return result


def out_folder(out: Path | None, resume: Path | None) -> Path:
    """Returns the folder that a training writes to: the one given, that of the run that goes on, or `runs/train`.

    Raises:
        SystemExit: It holds another run, or one that is over.
    """
    going_on = resume is not None and not is_checkpoint(resume)
    folder = out or (resume if going_on and resume is not None else Path("runs/train"))
    if resume is not None and going_on and folder.resolve() == resume.resolve():
        if (folder / AGENT).is_dir():
            sys.exit(
                f"{folder} holds a run that is over, which is left as it is; go on from it in another folder: "
                f"--resume {resume} --out FOLDER"
            )
        return folder
    if any((folder / name).exists() for name in (RUN, CHECKPOINTS, AGENT, BEST)):
        sys.exit(f"{folder} holds a run already; continue it by --resume {folder}, or choose another folder by --out")
    return folder


def write_run(folder: Path, config: Mapping[str, Any]) -> None:
    """Notes what a training is started with."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / RUN, json.dumps(config, indent=2) + "\n", durable=True)


def read_run(resume: Path | None) -> dict[str, Any]:
    """Returns what the run in a folder, or that of a checkpoint, was started with; nothing if no run is there.

    Raises:
        FileNotFoundError: There is no such folder.
        ValueError: The note of the run is damaged.
    """
    if resume is None:
        return {}
    if not resume.is_dir():
        raise FileNotFoundError(f"there is no folder {resume} to resume; pass that of a run, or a checkpoint")
    path = (_run_of(resume.resolve()) if is_checkpoint(resume) else resume) / RUN
    return read_object(path, train=dict, env=dict) if path.is_file() else {}


def _run_of(checkpoint: Path) -> Path:
    """Returns the folder of the run that has saved a checkpoint, its best agent or the trained one."""
    return checkpoint.parent.parent if checkpoint.parent.name == CHECKPOINTS else checkpoint.parent


def is_checkpoint(path: Path) -> bool:
    """Returns whether a path is a saved agent, and not the folder of a run."""
    return (path / "config.json").is_file()


def latest_checkpoint(path: Path) -> Path | None:
    """Returns `path` if it is a checkpoint, else the latest in the folder of a run; None if that stopped before any.

    Raises:
        SystemExit: There is none, and no run that could begin anew.
    """
    from coach_gym.agents.training.saving.checkpoints import checkpoints_in

    if is_checkpoint(path):
        return path
    found = checkpoints_in(path / CHECKPOINTS, PREFIX)
    if not found and (not (path / RUN).is_file() or (path / AGENT).is_dir()):
        sys.exit(f"{path} is neither a checkpoint nor the folder of a run that has any in {CHECKPOINTS}/")
    return found[-1] if found else None


def saving_times(every: str | int) -> dict[str, Any]:
    """Reads how often to save: `500` for environment steps, `30m` for minutes.

    Returns:
        Arguments of `CheckpointCallback`.

    Raises:
        SystemExit: It is neither.
    """
    text = str(every).strip()
    if text.isdecimal() and int(text) > 0:
        return {"save_steps": int(text)}
    found = _MINUTES.fullmatch(text)
    if found is None or float(found[1]) == 0:
        sys.exit(f"--save-every {every} is neither a number of steps, such as 500, nor of minutes, such as 30m")
    return {"save_minutes": float(found[1])}
