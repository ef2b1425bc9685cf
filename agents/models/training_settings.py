"""The hyper-parameters that a saved model brings along, in `training.json` beside its weights.

    {"learning_rate": 1.5e-4, "batch_size": 32, "reward_model": "pocket", "GRPOAgent": {"learning_rate": 1.5e-5}}

They are arguments of agents by name, and what differs for one class of agents stands under its name. An agent that is
made with the model's directory, or with `"pocket"`, takes those that it knows and that it is not given. Such a file may
come from anywhere, so it can set how the model is trained, but not where an agent runs, what it reads and writes, or
whom it sends screens to.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coach_gym.checks import require_whole

NAME = "training.json"
MAX_BYTES = 64 * 1024
_USERS = frozenset({
    "policy", "env", "reference", "device", "seed", "generation", "outcome_verifier", "judge_errors", "dialect",
    "min_pixels", "max_pixels", "bfloat16", "checkpoint_activations", "cpu_offload", "stats_window_size",
    "keep_episodes", "rehearsal", "tensorboard_log", "verbose",
})  # fmt: skip
"""Arguments that are for the user alone to choose."""
_LENGTHS = ("max_new_tokens", "max_prompt_length")
"""Arguments that evaluation takes too."""
_MODELS = ("critic", "reward_model", "judge")
"""Arguments that name a model, of which a file may choose the shipped one only."""


def read_training_settings(directory: Path) -> dict[str, Any]:
    """Returns the hyper-parameters in a model's directory; none without a file.

    Raises:
        ValueError: The file is damaged, or sets what is for the user to choose.
    """
    path = directory / NAME
    if not path.is_file():
        return {}
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} has {path.stat().st_size} bytes, and {MAX_BYTES} are allowed; {_REMEDY}")
    try:
        settings = json.loads(path.read_text("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}; {_REMEDY}") from error
    if not isinstance(settings, dict):
        raise ValueError(f"{path} holds no JSON object of hyper-parameters; {_REMEDY}")
    for name, value in settings.items():
        _check(path, name, value)
    return settings


def write_training_settings(settings: Mapping[str, Any], directory: Path) -> None:
    """Writes hyper-parameters beside the weights of their model; without any, writes no file."""
    if settings:
        (directory / NAME).write_text(json.dumps(dict(settings), indent=2) + "\n", "utf-8")


def _check(path: Path, name: str, value: Any, nested: bool = False) -> None:
    if name in _USERS:
        raise ValueError(f"{path} sets {name!r}, which only the user chooses; remove it from the file")
    if isinstance(value, dict) and not nested:
        for inner in value.items():
            _check(path, *inner, nested=True)
        return
    if not isinstance(value, bool | int | float | str | None):
        raise ValueError(f"{path} sets {name!r} to a {type(value).__name__}; pass a number, text, true, false or null")
    if name in _LENGTHS:
        try:
            require_whole(1, **{name: value})
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    if name in _MODELS and value not in (None, "pocket"):
        raise ValueError(
            f"{path} sets {name}={value!r}, and a model's file may name no other model than 'pocket'; remove it from "
            f"the file, and pass it to the agent if you trust it"
        )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a finite number")


_REMEDY = "mend it, or remove it to do without"
