"""A suite: the task families of a benchmark, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.task import Task
from coach_gym.envs.suites.words import ParamRng, Split

Benchmark = Literal["android_world", "android_lab"]


@dataclass(frozen=True)
class Suite:
    """Task families under one name.

    Args:
        benchmark: What the families are modelled on, ``"android_world"`` or ``"android_lab"``.
        source: ``"builtin"`` for our own families.
        families: Task classes by name, in a fixed order.
    """

    benchmark: str
    source: str
    families: Mapping[str, type[Task]]

    def only(self, names: Iterable[str] | None) -> Suite:
        """The same suite with just the named families; None keeps all."""
        if names is None:
            return self
        return Suite(self.benchmark, self.source, {name: self.family(name) for name in names})

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


def load_suite(benchmark: str, source: str | None = None) -> Suite:
    """A benchmark's suite.

    Args:
        benchmark: ``"android_world"`` or ``"android_lab"``.
        source: ``"builtin"`` for our own families. None takes the best that is installed.

    Raises:
        ValueError: There is no such benchmark or source.
    """
    if source == "official":
        raise ValueError(
            f"suite='official' needs a driver for the upstream {benchmark} package, which is not part of this "
            f"version of coach-gym; use suite='builtin'"
        )
    if source not in (None, "builtin"):
        raise ValueError(f"suite={source!r} is unknown; choose 'builtin', or None for the default")
    return builtin_suite(benchmark)


def builtin_suite(benchmark: str) -> Suite:
    """Our own families, modelled on those of ``benchmark``."""
    from coach_gym.envs.suites import android_lab, android_world

    modules = {"android_world": android_world, "android_lab": android_lab}
    if benchmark not in modules:
        raise ValueError(f"benchmark {benchmark!r} is unknown; choose one of {', '.join(modules)}")
    families = modules[benchmark].TASKS
    return Suite(benchmark, "builtin", {family.name: family for family in families})
