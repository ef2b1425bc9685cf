"""The suites that come with coach-gym, by the names of their benchmarks."""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.suites.android_lab import android_lab
from coach_gym.envs.suites.android_sight import android_sight
from coach_gym.envs.suites.android_world import android_world
from coach_gym.envs.suites.suite import Suite

BUILTIN: dict[str, Callable[[], Suite]] = {
    "android_world": android_world, "android_lab": android_lab, "android_sight": android_sight,
}  # fmt: skip


def load_suite(benchmark: str, source: str | None = None, checkout: str | None = None) -> Suite:
    """Returns a benchmark's suite.

    Args:
        benchmark: `"android_world"`, `"android_lab"` or `"android_sight"`.
        source: `"builtin"`, the default, for our own families; `"official"` for upstream's, run unmodified from what
            the user installed.
        checkout: Folder of upstream's repository, for the official suite; None for the one that the environment
            variable of its page names, or an installed package.

    Raises:
        ValueError: There is no such benchmark or source, upstream is not installed, or a checkout is none of the
            official suite's.
    """
    if source not in (None, "builtin", "official"):
        raise ValueError(f"suite={source!r} is unknown; choose 'builtin' or 'official'")
    if benchmark not in BUILTIN:
        raise ValueError(f"benchmark {benchmark!r} is unknown; choose one of {', '.join(BUILTIN)}")
    if source == "official" and benchmark == "android_sight":
        raise ValueError("the tasks of 'android_sight' are our own; there is no official suite of them")
    if source == "official":
        return _official(benchmark, checkout)
    if checkout is not None:
        raise ValueError(f"checkout={str(checkout)!r} is of the official suite; pass suite='official' with it")
    return BUILTIN[benchmark]()


def _official(benchmark: str, checkout: str | None) -> Suite:
    """Imports what official suites need, which listing the built-in ones does not."""
    from coach_gym.envs.suites import official_lab, official_world

    return (official_lab if benchmark == "android_lab" else official_world).suite(checkout)
