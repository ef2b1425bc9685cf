"""A suite: the task families of a benchmark, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from coach_gym.envs.errors import UsageError
from coach_gym.envs.profiles import MODULES
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, Split

Benchmark = Literal["android_world", "android_lab"]


@dataclass(frozen=True)
class Suite:
    """Task families under one name.

    Args:
        benchmark: What the families are modelled on, ``"android_world"`` or ``"android_lab"``.
        source: ``"builtin"`` for our own families, ``"official"`` for upstream's.
        families: Task classes by name, in a fixed order.
        modules: The apps of the embedded phone that it runs on, by their modules in `coach_gym.envs.profiles`.
    """

    benchmark: str
    source: str
    families: Mapping[str, type[Task]]
    modules: tuple[str, ...] = MODULES

    def only(self, names: Iterable[str] | None) -> Suite:
        """The same suite with just the named families; None keeps all."""
        if names is None:
            return self
        return replace(self, families={name: self.family(name) for name in names})

    def family(self, name: str) -> type[Task]:
        """The task class of that name.

        Raises:
            UsageError: There is no such family.
        """
        if name not in self.families:
            raise UsageError(
                f"no task {name!r} among the {len(self.families)} tasks of this {self.benchmark} suite "
                f"({self.source}): {', '.join(self.families)}"
            )
        return self.families[name]

    def instance(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        params_seed: int = 0,
        split: Split = "train",
    ) -> Task:
        """One task instance, with given parameters or with those that ``params_seed`` draws from ``split``.

        Raises:
            UsageError: There is no such task, or ``params`` lacks some of its parameters.
        """
        family = self.family(name)
        drawn = family.sample(ParamRng(params_seed, split))
        if params is None:
            return family(drawn)
        missing = sorted(drawn.keys() - params.keys())
        if missing:
            raise UsageError(f"params of {name} lack {missing}; an example of all it needs: {drawn}")
        return family(params)


def load_suite(benchmark: str, source: str | None = None, checkout: str | None = None) -> Suite:
    """A benchmark's suite.

    Args:
        benchmark: ``"android_world"`` or ``"android_lab"``.
        source: ``"builtin"``, which None means, too, for our own families; ``"official"`` for upstream's.
        checkout: Where a checkout of upstream lies, for the official suite; by default it is found as the
            suite's own page says.

    Raises:
        ValueError: There is no such benchmark or source, or upstream is not installed.
    """
    if source not in (None, "builtin", "official"):
        raise ValueError(f"suite={source!r} is unknown; choose 'builtin' or 'official'")
    return official_suite(benchmark, checkout) if source == "official" else builtin_suite(benchmark)


def official_suite(benchmark: str, checkout: str | None = None) -> Suite:
    """Upstream's own tasks of ``benchmark``, run unmodified from what the user installed."""
    if benchmark == "android_lab":
        from coach_gym.envs.suites import official_lab

        return official_lab.suite(checkout)
    if benchmark != "android_world":
        raise ValueError(f"there is no official suite of {benchmark!r} here; use suite='builtin'")
    from coach_gym.envs.suites import official_world

    return Suite("android_world", "official", official_world.families(checkout))


def builtin_suite(benchmark: str) -> Suite:
    """Our own families, modelled on those of ``benchmark``."""
    from coach_gym.envs.suites import android_lab, android_world

    modules = {"android_world": android_world, "android_lab": android_lab}
    if benchmark not in modules:
        raise ValueError(f"benchmark {benchmark!r} is unknown; choose one of {', '.join(modules)}")
    families = modules[benchmark].TASKS
    return Suite(benchmark, "builtin", {family.name: family for family in families})
