"""AndroidWorld as its authors publish it: the package that the user installed, run unmodified."""

from __future__ import annotations

from coach_gym.envs.suites.official_world.task import families as families
