"""Finds the scripted experts of apps: proofs that tasks can be solved, and demonstrations."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from coach_gym.envs.profiles import Profile
from coach_gym.envs.tasks.screen import EXPERTS, Expert


def app_expert(profile: Profile, family: str) -> Expert:
    """Returns the expert of a family, from the apps of a profile.

    Experts are in the modules of an app's package whose names end in `expert`.

    Raises:
        KeyError: The family has no expert.
    """
    for package in profile.packages:
        _import_experts(package)
    return EXPERTS[family]


@cache
def _import_experts(package: str) -> None:
    for module in iter_modules(import_module(package).__path__):
        if module.name.endswith("expert"):
            import_module(f"{package}.{module.name}")
