"""Agents that learn on Android environments, with Stable-Baselines3's surface.

`CoachAgent` is the method; `PPOAgent`, `GRPOAgent`, `RLOOAgent` and `FilteredCloningAgent` are what it is compared
with. `Policy` and `Critic` are the models that they train; `evaluate` measures an agent on held-out instances;
callbacks hook into `learn`.
"""

import coach_gym.agents.quiet  # noqa: F401  before transformers is imported

# isort: split

from coach_gym.agents.cloning import FilteredCloningAgent
from coach_gym.agents.coach import CoachAgent
from coach_gym.agents.evaluation import evaluate, evaluate_policy, families_lost
from coach_gym.agents.grpo import GRPOAgent
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.processor import load_without_torchvision
from coach_gym.agents.ppo import PPOAgent
from coach_gym.agents.rloo import RLOOAgent
from coach_gym.agents.training.callbacks import BaseCallback, CallbackList, ConvertCallback
from coach_gym.agents.training.evaluations import EvalCallback, StopTrainingOnRewardThreshold
from coach_gym.agents.training.logs.progress import ProgressBarCallback
from coach_gym.agents.training.logs.watch import WatchCallback
from coach_gym.agents.training.saving.checkpoints import CheckpointCallback

__all__ = [
    "BaseCallback",
    "CallbackList",
    "CheckpointCallback",
    "CoachAgent",
    "ConvertCallback",
    "Critic",
    "EvalCallback",
    "FilteredCloningAgent",
    "GRPOAgent",
    "PPOAgent",
    "Policy",
    "ProgressBarCallback",
    "RLOOAgent",
    "StopTrainingOnRewardThreshold",
    "WatchCallback",
    "evaluate",
    "evaluate_policy",
    "families_lost",
]

load_without_torchvision()
