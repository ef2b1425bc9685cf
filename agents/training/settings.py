"""The keyword arguments that all agents share, as types; `checked_arguments` shows and checks them."""

from pathlib import Path
from typing import Literal, TypedDict

import torch

from coach_gym.agents.generation.make import Generation
from coach_gym.agents.judging.trouble import JudgeErrors
from coach_gym.agents.judging.verifiers import OutcomeVerifier
from coach_gym.agents.models.policy import PolicySource
from coach_gym.dialects import Dialect


class OnlineSettings(TypedDict, total=False):
    """Types of the keyword arguments that every agent takes; `OnlineAgent` describes them and has their defaults."""

    batch_size: int
    mini_batch_size: int | None
    n_epochs: int
    clip_range: float
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
    trajectory_trees: bool
    max_branch_tokens: int
    generation: Generation
    outcome_verifier: OutcomeVerifier | str
    judge_errors: JudgeErrors
    recompute_log_probs: bool
    lora_rank: int
    lora_alpha: float
    bfloat16: bool
    checkpoint_activations: bool
    dialect: Dialect | str | None
    min_pixels: int | None
    max_pixels: int | None
    stats_window_size: int
    keep_episodes: float
    tensorboard_log: str | Path | None
    verbose: int
    seed: int | None
    device: str | torch.device
