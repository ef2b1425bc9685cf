"""Where a training stands, as `trainer_state.json` holds it: counters, statistics and random states."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import torch

from coach_gym.checks import is_finite


@dataclass
class TrainerState:
    """Where a training stands, as one process sees it.

    Attributes:
        num_timesteps: Environment steps taken.
        n_updates: Iterations that ended in an update.
        num_instances: Task instances played to their end.
        task_entropy: Seed of the task instances.
        ep_info: Statistics of the latest episodes.
        ep_success: Their successes.
        numpy_rng: State of the generator of shared decisions.
        sampling: torch's random states, as `sampling_state` returns them.
        num_fork_steps: Steps taken on forks.
        success_rates: Recent success by task family, if a curriculum needs it; the same in all processes.
        critic_is_ready: Whether the critic has reached `critic_warmup_explained`.
    """

    num_timesteps: int
    n_updates: int
    num_instances: int
    task_entropy: int
    ep_info: list[dict[str, float]]
    ep_success: list[float]
    numpy_rng: Mapping[str, Any]
    sampling: Mapping[str, str | None]
    num_fork_steps: int = 0
    success_rates: Mapping[str, float] = field(default_factory=dict)
    critic_is_ready: bool = False


def wrong_in(state: Mapping[str, Any]) -> str | None:
    """Returns what is wrong with where a training stood, as JSON told it; None if nothing is."""
    if unknown := sorted(state.keys() - {each.name for each in fields(TrainerState)}):
        return f"{unknown[0]!r} is unknown"
    for name in ("num_timesteps", "n_updates", "num_instances", "task_entropy", "num_fork_steps"):
        if type(count := state.get(name)) is not int or count < 0:
            return f"{name}={count!r:.60} is not a count"
    if not _is_list(successes := state.get("ep_success"), _is_share):
        return f"ep_success={successes!r:.60} is not a list of numbers from 0 to 1"
    if not _is_list(infos := state.get("ep_info"), _is_statistics):
        return f"ep_info={infos!r:.60} is not a list of statistics"
    rates = state.get("success_rates")
    if not isinstance(rates, dict) or not all(map(_is_share, rates.values())):
        return f"success_rates={rates!r:.60} are not shares by task"
    if not isinstance(ready := state.get("critic_is_ready"), bool):
        return f"critic_is_ready={ready!r:.60} is neither true nor false"
    try:
        np.random.default_rng().bit_generator.state = state["numpy_rng"]
        for each in state["sampling"]:
            torch.Generator().set_state(_unhex(each["cpu"]))
        state["sampling"][0]["cuda"]
    except Exception as error:  # whatever NumPy and torch make of nonsense
        return f"its random states cannot be read ({type(error).__name__}: {error})"
    return None


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(of, value))


def _is_statistics(value: Any) -> bool:
    return isinstance(value, dict) and {"r", "l"} <= value.keys() and all(map(_is_number, value.values()))


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def sampling_state(device: torch.device) -> dict[str, str | None]:
    """Returns torch's random states of this process."""
    cuda = _hex(torch.cuda.get_rng_state(device)) if device.type == "cuda" else None
    return {"cpu": _hex(torch.get_rng_state()), "cuda": cuda}


def restore_sampling(state: Mapping[str, str | None], device: torch.device) -> None:
    """Restores torch's random states."""
    assert state["cpu"] is not None
    torch.set_rng_state(_unhex(state["cpu"]))
    if state["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(_unhex(state["cuda"]), device)


def _hex(state: torch.Tensor) -> str:
    return state.numpy().tobytes().hex()


def _unhex(text: str) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(bytes.fromhex(text), np.uint8).copy())
