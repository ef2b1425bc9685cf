"""A warning for training on the very instances that a benchmark tests."""

import warnings

from gymnasium.envs.registration import EnvSpec

from coach_gym.registration import BOTH


def warn_of_tests(spec: EnvSpec | None) -> None:
    """Warns if environments play AndroidLab's official tasks.

    Args:
        spec: What Gymnasium made the environments of; None for those that it has not made.
    """
    if spec is None or not (spec.id.startswith("AndroidLab") or spec.id == BOTH):
        return
    if (spec.kwargs | (spec.kwargs.get("lab") or {})).get("suite") == "official":
        warnings.warn(
            "AndroidLab's official tasks have no parameters, so this trains on the 138 instances that it tests; train "
            "on a pool of other tasks instead: coach-gym tasks --env AndroidLab-v0 --out pool.jsonl, then --pool "
            "pool.jsonl (pool='pool.jsonl' in Python) without suite='official'",
            stacklevel=3,
        )
