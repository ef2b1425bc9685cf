"""Importing this registers every app's scripted experts: proofs of solvability and demonstrations."""

from importlib import import_module
from pkgutil import walk_packages

from coach_gym.envs import apps

for module in walk_packages(apps.__path__, f"{apps.__name__}."):
    if module.name.endswith("expert"):
        import_module(module.name)
