"""Reinforcement learning for Android agents. Importing this registers the environments with Gymnasium."""

from coach_gym.registration import register_envs

__version__ = "0.1.0"

register_envs()
