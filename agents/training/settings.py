"""The keyword arguments that all agents share: their types, and which of them go together."""

import warnings
from pathlib import Path
from typing import Literal, TypedDict

import torch
from gymnasium.vector import VectorEnv

from coach_gym.agents.generation.make import Generation
from coach_gym.agents.judging.trouble import JudgeErrors
from coach_gym.agents.judging.verifiers import OutcomeVerifier
from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.training.arguments import require_at_least, require_not_negative
from coach_gym.agents.training.objective.losses import ImportanceLevel
from coach_gym.agents.training.optimizers import OptimizerName
from coach_gym.agents.training.schedules import Schedule
from coach_gym.checks import MOST, require_at_most
from coach_gym.dialects import Dialect
from coach_gym.protocols import EventDriven, TaskTelling


class OnlineSettings(TypedDict, total=False):
    """Types of the keyword arguments that every agent takes; `OnlineAgent` describes them and has their defaults."""

    batch_size: int
    mini_batch_size: int | None
    n_epochs: int
    clip_range: float
    importance_sampling_level: ImportanceLevel
    entropy_coef: float
    kl_coef: float
    reference: PolicySource | None
    max_grad_norm: float
    temperature: float
    rollout_temperature: float | None
    max_importance_weight: float
    max_new_tokens: int
    max_prompt_length: int
    collection: Literal["events", "rounds"]
    max_staleness: int
    curriculum: float
    trajectory_trees: bool
    max_branch_tokens: int
    generation: Generation
    outcome_verifier: OutcomeVerifier | str
    judge_errors: JudgeErrors
    recompute_log_probs: bool
    lora_rank: int
    lora_alpha: float
    optimizer: OptimizerName
    bfloat16: bool
    checkpoint_activations: bool
    cpu_offload: bool
    dialect: Dialect | str | None
    min_pixels: int | None
    max_pixels: int | None
    stats_window_size: int
    keep_episodes: float
    tensorboard_log: str | Path | None
    verbose: int
    seed: int | None
    device: str | torch.device


def check_settings(
    batch_size: int,
    mini_batch_size: int | None,
    n_epochs: int,
    clip_range: float,
    learning_rate: Schedule,
    collection: Literal["events", "rounds"],
    max_staleness: int,
    recompute_log_probs: bool,
    group_size: int,
) -> None:
    """Checks the settings of the loop against each other.

    Raises:
        ValueError: One is out of range, or two contradict each other.
    """
    require_at_least(1, batch_size=batch_size, mini_batch_size=mini_batch_size, n_epochs=n_epochs)
    require_at_most(MOST, batch_size=batch_size)
    if not callable(learning_rate):
        require_not_negative(learning_rate=learning_rate)
    if mini_batch_size is not None and mini_batch_size > batch_size:
        raise ValueError(
            f"mini_batch_size={mini_batch_size} exceeds the batch_size={batch_size} episodes of a roll-out; pass at "
            f"most {batch_size}, or None for all of them"
        )
    if batch_size % group_size:
        raise ValueError(
            f"batch_size={batch_size} episodes do not divide into groups of group_size={group_size}; pass a multiple "
            f"of the group size, such as batch_size={8 * group_size}"
        )
    if max_staleness and collection == "rounds":
        raise ValueError(
            f"max_staleness={max_staleness} needs devices that play ahead; pass collection='events' with it, or "
            f"max_staleness=0"
        )
    if max_staleness and recompute_log_probs:
        raise ValueError(
            f"recompute_log_probs=True drops the log-probabilities that responses were drawn with, which "
            f"max_staleness={max_staleness} needs; choose one of them"
        )
    if not 0 < clip_range < 1:
        raise ValueError(f"clip_range={clip_range} must lie between 0 and 1; the paper's is 0.2")


def check_collection(envs: VectorEnv, collection: Literal["events", "rounds"], max_staleness: int) -> None:
    """Checks that devices can be served one by one, if that is requested.

    Raises:
        ValueError: `max_staleness` needs it, and the environment cannot.
    """
    if collection == "rounds" or isinstance(envs, EventDriven):
        return
    name, inner = type(envs).__name__, type(envs.unwrapped).__name__
    if max_staleness:
        raise ValueError(
            f"max_staleness={max_staleness} lets devices play ahead one by one, which {name} cannot; pass an "
            f"environment of vectorization_mode='vector_entry_point', unwrapped, or max_staleness=0"
        )
    if isinstance(envs.unwrapped, EventDriven):
        warnings.warn(
            f"{name} hides that {inner} serves devices one by one, so they wait for one another; pass the "
            f"environment unwrapped, or collection='rounds' if that is intended",
            stacklevel=5,
        )


def require_tasks_told(envs: VectorEnv, curriculum: float) -> None:
    """Checks that environments tell which task a seed draws.

    Raises:
        ValueError: They do not.
    """
    if not isinstance(envs, TaskTelling):
        raise ValueError(
            f"curriculum={curriculum} needs to know which task a seed draws, which {type(envs).__name__} does not "
            f"tell; pass gym.make_vec(..., vectorization_mode='vector_entry_point'), or curriculum=0"
        )
    envs.task_of(0)  # raises if what is inside does not
