"""AndroidWorld as its authors publish it: the package that the user installed, run unmodified."""

from __future__ import annotations

from coach_gym.envs.profiles import ANDROID_WORLD
from coach_gym.envs.suites import android_world
from coach_gym.envs.suites.apart import keep_apart
from coach_gym.envs.suites.official_world.experts import official_expert
from coach_gym.envs.suites.official_world.task import families
from coach_gym.envs.suites.suite import Suite


def suite(checkout: str | None = None) -> Suite:
    """Returns the official suite.

    Args:
        checkout: Folder of upstream's repository; None for the one that COACH_ANDROID_WORLD names, or for the
            installed package.

    Raises:
        UsageError: Upstream is not there, or a package that it needs is missing.
    """
    # Many of upstream's queries do not say which apps they go through; our families of the same names do.
    apart = keep_apart(android_world.TASKS)
    return Suite("android_world", "official", families(checkout), ANDROID_WORLD, official_expert, apart)
