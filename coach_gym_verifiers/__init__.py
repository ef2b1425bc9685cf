"""The plugin `coach-gym-verifiers`: verifiers loads plugins by the name of a top-level module."""

from coach_gym.bridges.verifiers import AndroidEnvironment, AndroidTaskset, OneAnswer

__all__ = ["AndroidEnvironment", "AndroidTaskset", "OneAnswer"]
