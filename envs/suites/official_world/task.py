"""Upstream's tasks behind our interface of a task."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import logging
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from coach_gym.envs.devices.device import Device
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.official_world import upstream
from coach_gym.envs.suites.official_world.connection import connect, pass_time
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

STEPS_PER_COMPLEXITY = 10  # upstream's runner gives int(10 * complexity) steps
HOLD_AT_START = frozenset(
    f"System{what}Verify"
    for what in ("BluetoothTurnOff", "BluetoothTurnOn", "BrightnessMax", "BrightnessMin", "WifiTurnOff", "WifiTurnOn")
)
"""The tasks whose goal is reached before the agent has done anything: to say so is all they ask for."""

_log = logging.getLogger(__name__)


def instance_seed(name: str, seed: int, instance: int = 0) -> int:
    """Returns the seed of an instance of a task in upstream's suite of seed `seed`, by upstream's own rule."""
    return int(hashlib.sha256(f"{seed}_{name}_{instance}".encode()).hexdigest(), 16) % 2**32


class OfficialTask(Task):
    """One instance of an upstream task, which prepares, checks and tears itself down.

    Its parameters are `seed` and `instance` (see `instance_seed`), and those that upstream draws from them, as far as
    they are plain data. Defaults are those of upstream's runner: `params_seed=30` is the instance that it evaluates by
    default. Different seeds may make the same instance, and words are upstream's: only families and apps can be unseen.
    """

    params_tell_all = False

    upstream: ClassVar[Any]
    """Upstream's class."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        seed = instance_seed(self.name, int(params["seed"]), int(params["instance"]))
        self._task = _instantiate(self.upstream, seed)
        own = {"seed": int(params["seed"]), "instance": int(params["instance"])}
        super().__init__({**_plain(self._task.params), **own})
        self.budget = int(STEPS_PER_COMPLEXITY * self._task.complexity)
        self._env: Any = None  # upstream's environment, while the task is set up
        self._failure: Exception | None = None  # why it was torn down before its time

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Returns the seed and the number of the instance: upstream draws the rest from them."""
        return {"seed": rng.origin, "instance": 0}

    def fork(self) -> Self:
        raise UsageError(f"{self.name} is upstream's own task, which is tied to the device that it was set up on")

    @property
    def goal(self) -> str:
        """Returns the instruction; some are worded only when the task is set up."""
        return str(self._task.goal)

    def setup(self, device: Device) -> None:
        """Lets upstream prepare the device."""
        self._env, self._failure = connect(device), None
        with pass_time(device), self._torn_down_on_error(device):
            self._task.initialize_task(self._env)
            self._env.reset(go_home=self._task.start_on_home_screen)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Upstream's verdict, with the answer where its checkers look for it."""
        if self._failure is not None:  # torn down since; whoever asks again shall learn why
            raise self._failure
        self._env.interaction_cache = answer or ""
        with pass_time(device), self._torn_down_on_error(device):
            return float(self._task.is_successful(self._env))

    def teardown(self, device: Device) -> None:
        """Lets upstream tear the task down, if it was set up."""
        if self._env is not None:
            env, self._env = self._env, None
            with pass_time(device):
                self._task.tear_down(env)

    @contextlib.contextmanager
    def _torn_down_on_error(self, device: Device):  # type: ignore[no-untyped-def]
        """Tears a task down when it raises: upstream leaves the device as it is, for the next task to find."""
        try:
            yield
        except Exception as failure:
            self._failure = failure
            try:
                self.teardown(device)
            except Exception as error:
                _log.warning("tearing down %s after an error failed, too: %s", self.name, error)
            raise


def families(checkout: str | os.PathLike[str] | None = None) -> dict[str, type[Task]]:
    """Returns upstream's 116 tasks as families of ours.

    Args:
        checkout: See `upstream.load`.

    Raises:
        UsageError: Upstream or something that it needs is not installed.
    """
    classes = upstream.load(checkout)
    known = upstream.metadata()
    return {name: _family(name, task, known.get(name, {})) for name, task in classes.items()}


def _family(name: str, task: Any, about: Mapping[str, Any]) -> type[Task]:
    queries = upstream.module("task_evals.information_retrieval.information_retrieval").InformationRetrieval
    members = {
        "name": name,
        "upstream": task,
        "__doc__": task.__doc__,
        "template": about.get("task_template", ""),
        "difficulty": about.get("difficulty", "unknown"),
        "kind": "query" if issubclass(task, queries) else "operation",
        "apps": tuple(getattr(task, "app_names", ())) if not isinstance(vars(task).get("app_names"), property) else (),
        "holds_at_start": name in HOLD_AT_START,
    }
    return type(name, (OfficialTask,), members)


def _instantiate(task: Any, seed: int) -> Any:
    """Makes an instance as upstream's runner does."""
    task.set_device_time(None)
    upstream.seed(seed)
    params = task.generate_random_params()
    params["seed"] = seed
    return task(params)


def _plain(value: Any) -> Any:
    """Returns the part of a value that JSON can hold; images and the like become the names of their classes."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        return _plain({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return type(value).__name__
