"""A suite: task families by name, and the phone that they run on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from typing import Any

from coach_gym.envs.errors import UsageError
from coach_gym.envs.profiles import ANDROID_WORLD, Profile
from coach_gym.envs.suites.apart import Apart, keep_apart
from coach_gym.envs.suites.experts import app_expert
from coach_gym.envs.suites.splits import SELECTIONS, Selection, Unseen
from coach_gym.envs.tasks.screen import Expert
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import Split


@dataclass(frozen=True)
class Suite:
    """Task families under one name.

    Attributes:
        benchmark: What the families are modelled on, such as `"android_world"`; for tasks of your own, any name.
        source: Where they come from: `"builtin"` for our own families, `"official"` for upstream's, or another name.
        families: Task classes by name, in a fixed order: a seed draws the same task only while the order stays.
        profile: The embedded phone that they run on.
        find_expert: Returns the expert of a family, or raises `KeyError`; None to look in the apps of `profile`.
        apart: The families that are not for training, e.g. `{"BuyItem": ("families", "test")}`.
        selection: The split that instances are of.

    Example:
        >>> suite = Suite("groceries", "mine", {"BuyItem": BuyItem}, ANDROID_WORLD.with_apps(["shopping_list"]))
        >>> env = gym.make("AndroidWorld-v0", suite=suite)
    """

    benchmark: str
    source: str
    families: Mapping[str, type[Task]]
    profile: Profile = ANDROID_WORLD
    find_expert: Callable[[str], Expert] | None = None
    apart: Apart = field(default_factory=dict)
    selection: Selection = Selection()

    def only(self, names: Iterable[str] | None) -> Suite:
        """Returns the suite with just the named families; None keeps all."""
        if names is None:
            return self
        return replace(self, families={name: self.family(name) for name in names})

    def of(self, split: Split | None, unseen: Unseen = "instances", tasks: Iterable[str] | None = None) -> Suite:
        """Returns one split of the suite. The module `splits` says what is in which.

        Args:
            split: None for the whole suite, without any promise.
            unseen: What instances of validation and test have that training's lack.
            tasks: Names of the families to keep; None for all that the split has.

        Raises:
            ValueError: There is no such split.
            UsageError: The split has none of the families, or not one of `tasks`.
        """
        selection = Selection(split, unseen)
        chosen = self.only(tasks)
        kept = {name: family for name, family in chosen.families.items() if selection.has(family, self.apart)}
        if tasks is not None and (missing := sorted(chosen.families.keys() - kept)):
            places = "; ".join(f"{name} is in {self.only([name])._splits()}" for name in missing)
            raise UsageError(f"{selection} has no instances of {', '.join(missing)}: {places}")
        if not kept and chosen.families:
            raise UsageError(f"the {self.benchmark} suite ({self.source}) has no {selection}; it has {self._splits()}")
        return replace(self, families=kept, selection=selection)

    def _splits(self) -> str:
        """Lists the splits that have any of the families."""
        found = (each for each in SELECTIONS if any(each.has(f, self.apart) for f in self.families.values()))
        return ", ".join(f"({each})" for each in found)

    def with_apps(self, packages: Iterable[str]) -> Suite:
        """Returns the suite with further apps on its phone, and with their tasks after its own.

        Args:
            packages: Packages of the apps, e.g. `"shopping_list"`: `APP` of the module `shopping_list.app` makes
                the app, and `TASKS` of `shopping_list.tasks`, if there is such a module, are its task classes.

        Raises:
            UsageError: There is no such app, or one of its tasks has the name of another.
        """
        packages = list(packages)
        if not packages:
            return self
        for package in packages:
            if not _has_app(package):
                raise UsageError(
                    f"apps has {package!r}, but there is no module {package}.app; is the folder that holds it on "
                    f"sys.path?"
                )
        tasks = [task for package in packages for task in _tasks_of(package)]
        if taken := sorted(self.families.keys() & {task.name for task in tasks}):
            raise UsageError(f"apps={packages} have tasks with names that this suite has already: {', '.join(taken)}")
        return replace(
            self, source="+".join((self.source, *packages)), profile=self.profile.with_apps(packages),
            families={**self.families, **{task.name: task for task in tasks}},
            apart={**self.apart, **keep_apart(tasks)},
        )  # fmt: skip

    def family(self, name: str) -> type[Task]:
        """Returns the task class of that name.

        Raises:
            UsageError: There is no such family.
        """
        if name not in self.families:
            raise UsageError(
                f"no task {name!r} among the {len(self.families)} tasks of this {self.benchmark} suite "
                f"({self.source}; {self.selection}): {', '.join(self.families)}"
            )
        return self.families[name]

    def instance(self, name: str, params: Mapping[str, Any] | None = None, params_seed: int = 0) -> Task:
        """Returns one task instance, with given parameters or with those that `params_seed` draws.

        Raises:
            UsageError: There is no such task, or `params` lacks some of its parameters, or they are given although
                they might be those of another split.
        """
        family = self.family(name)
        drawn = self.selection.draw(family, params_seed)
        if params is None:
            return family(drawn)
        if self.selection.split is not None:
            raise UsageError(
                f"params of {name} could be those of another split than {self.selection}; pass params_seed, or make "
                f"the environment with split=None"
            )
        missing = sorted(drawn.keys() - params.keys())
        if missing:
            raise UsageError(
                f"params of {name} lack {missing}; an example of all it needs: {drawn}")
        for key, value in params.items():
            _require_alike(name, key, value, drawn.get(key))
        return family(params)

    def expert(self, name: str) -> Expert:
        """Returns the script that solves a family.

        Raises:
            KeyError: The family has no expert.
        """
        return app_expert(self.profile, name) if self.find_expert is None else self.find_expert(name)


def _has_app(package: str) -> bool:
    if not all(part.isidentifier() for part in package.split(".")):
        return False
    app = f"{package}.app"
    try:
        return find_spec(app) is not None
    except ModuleNotFoundError as error:
        if f"{app}.".startswith(f"{error.name}."):  # it, or a package that should hold it
            return False
        raise  # the package itself imports what is missing


def _tasks_of(package: str) -> tuple[type[Task], ...]:
    module = f"{package}.tasks"
    return import_module(module).TASKS if find_spec(module) else ()


_KINDS = ((str, "text"), (Real, "a number"), (list | tuple, "a list"), (Mapping, "a dict"))


def _require_alike(task: str, key: str, value: Any, example: Any) -> None:
    """Checks that a parameter is of the kind that the task draws; some tasks also take None."""
    for kind, wanted in _KINDS:
        if isinstance(example, kind) and value is not None and not isinstance(value, kind):
            raise UsageError(f"{key}={value!r:.60} of {task} is of type {type(value).__name__}; pass {wanted}")
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UsageError(f"{key} of {task} holds half a character (a lone surrogate), which no screen can show")
