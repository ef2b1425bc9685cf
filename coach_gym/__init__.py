"""Reinforcement learning for Android agents. Importing the package registers its environments with Gymnasium."""

from coach_gym.registration import register_envs

__version__ = "0.1.0"

register_envs()
