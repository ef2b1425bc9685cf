"""Agents that learn on Android environments, with Stable-Baselines3's surface."""

from coach_gym.agents.coach import CoachAgent
from coach_gym.agents.evaluation import evaluate, evaluate_policy
from coach_gym.agents.grpo import GRPOAgent
from coach_gym.agents.ppo import PPOAgent
from coach_gym.agents.training.callbacks import (
    BaseCallback,
    CallbackList,
    CheckpointCallback,
    ConvertCallback,
    EvalCallback,
    ProgressBarCallback,
    StopTrainingOnRewardThreshold,
)

__all__ = [
    "BaseCallback",
    "CallbackList",
    "CheckpointCallback",
    "CoachAgent",
    "ConvertCallback",
    "EvalCallback",
    "GRPOAgent",
    "PPOAgent",
    "ProgressBarCallback",
    "StopTrainingOnRewardThreshold",
    "evaluate",
    "evaluate_policy",
]
