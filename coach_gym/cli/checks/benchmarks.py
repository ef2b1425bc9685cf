"""Checks of the benchmarks' checkouts and of what their tasks need."""

from importlib import util
from pathlib import Path

from coach_gym.cli.checks.finding import Finding, Host
from coach_gym.envs.suites.official_lab.checkout import VARIABLE as LAB_VARIABLE
from coach_gym.envs.suites.official_world.upstream import NAME
from coach_gym.envs.suites.official_world.upstream import VARIABLE as WORLD_VARIABLE


def android_world(host: Host) -> Finding:
    """Checks for a checkout or an installation of AndroidWorld."""
    folder = host.environ.get(WORLD_VARIABLE)
    clone = f"git clone https://github.com/google-research/android_world, then: export {WORLD_VARIABLE}=its folder"
    if folder:
        if Path(folder, NAME, "registry.py").is_file():
            return Finding("AndroidWorld", "ok", f"{WORLD_VARIABLE}={folder}")
        return Finding("AndroidWorld", "missing", f"{WORLD_VARIABLE}={folder} is not a checkout of it", clone)
    if util.find_spec(NAME) is not None:
        return Finding("AndroidWorld", "ok", "the package is installed")
    return Finding("AndroidWorld", "missing", "neither a checkout nor the package", clone)


def android_lab(host: Host) -> Finding:
    """Checks for a checkout of AndroidLab."""
    folder = host.environ.get(LAB_VARIABLE)
    clone = f"git clone https://github.com/THUDM/Android-Lab, then: export {LAB_VARIABLE}=its folder"
    if not folder:
        return Finding("AndroidLab", "missing", f"{LAB_VARIABLE} is not set", clone)
    if not Path(folder, "evaluation/config").is_dir():
        return Finding("AndroidLab", "missing", f"{LAB_VARIABLE}={folder} is not a checkout of it", clone)
    return Finding("AndroidLab", "ok", f"{LAB_VARIABLE}={folder}")
