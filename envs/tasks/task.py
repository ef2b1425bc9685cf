"""Task families: what is asked, how the phone is prepared, and how success is read off its state."""

from __future__ import annotations

import copy
import random
from abc import ABC, abstractmethod
from collections import UserDict
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from coach_gym.actions import Action
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.words import ParamRng
from coach_gym.ui import Node


class Params(UserDict):
    """Parameters of a task instance, kept whole.

    A mapping but not a `dict`: Gymnasium's vector environments take dicts in `info` apart key by key
    and force values of different tasks into one array (a float becomes an int). `dict(params)` is JSON.
    """


class Task(ABC):
    """One instance of a family. Subclasses are the families and are named like them.

    Everything random about an instance is in its parameters: the same parameters always prepare the same
    phone. Goal wordings are format strings over the parameters.

    Example:
        >>> from coach_gym.envs.apps.clock.data import ALARMS
        >>> class SetAlarm(Task):
        ...     apps = ("Clock",)
        ...     template = "Set an alarm for {hour} o'clock."
        ...     budget = 12
        ...     def evaluate(self, device, answer):
        ...         with device.database(ALARMS) as db:
        ...             hours = [hour for (hour,) in db.execute("SELECT hour FROM alarm_templates")]
        ...         return float(self.params["hour"] in hours)
        >>> SetAlarm({"hour": 7}).goal
        "Set an alarm for 7 o'clock."
    """

    name: ClassVar[str]
    """Name in ids and results; the class name unless the family says otherwise."""
    apps: ClassVar[tuple[str, ...]]
    """Apps the solution goes through, as the launcher names them."""
    template: ClassVar[str]
    """The goal in our own words, with `{parameter}` fields."""
    difficulty: ClassVar[str] = "easy"
    """`"easy"`, `"medium"` or `"hard"`."""
    budget: int
    """Steps after which an episode is cut, about twice what the expert needs."""
    kind: ClassVar[str] = "operation"
    """`"query"` if it is answered through `finished(content=...)`, `"operation"` if it changes the phone."""
    holds_at_start: ClassVar[bool] = False
    """True where the asked state already holds, so that only leaving it alone succeeds."""

    params_tell_all: ClassVar[bool] = True
    """False where different parameters may make the same instance, so that none is known to be unseen."""

    judged_unfinished: ClassVar[bool] = False
    """True where an episode that used up its budget is evaluated, too, though the agent did not finish."""

    always_ruled: ClassVar[bool] = True
    """False where `evaluate` may return None."""

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = dict(params)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Returns parameters of a random instance: JSON values, with words from the split that `rng` carries."""
        return {}

    @property
    def goal(self) -> str:
        """Returns the instruction that the agent reads."""
        return self.template.format(**self.params)

    def setup(self, device: Device) -> None:  # noqa: B027 (nothing to prepare is the default)
        """Prepares a device that was just reset: writes the state that the goal speaks about."""

    def watch(self, device: Device, screen: Node, action: Action) -> bool:
        """Sees a step before it is made, for tasks that are judged on the way. Returns True to end the episode.

        Args:
            device: As the agent saw it.
            screen: The tree of the screen that the agent saw.
            action: What it is about to do, `finished` included.
        """
        return False

    @abstractmethod
    def evaluate(self, device: Device, answer: str | None) -> float | None:
        """Returns a score in [0, 1] from the device's real state and, for queries, the agent's answer.

        None means that no rule decides, and leaves the verdict to an outcome verifier (see `always_ruled`).

        Whatever the agent may have done must score, not raise: exceptions are mistakes in your code, which end a
        training, or failures of the device, which leave the episode without a verdict.
        """

    def report(self) -> dict[str, Any]:
        """Returns what `info` says about the task besides the verdict."""
        return {}

    def fork(self) -> Self:
        """Returns the task as it stands in the middle of an episode, for another device in the same state."""
        return copy.deepcopy(self)

    def teardown(self, device: Device) -> None:  # noqa: B027
        """Undoes what `Device.reset_state` cannot."""

    def near_miss(self, rng: random.Random) -> dict[str, Any] | None:
        """Returns parameters under which the expert does almost the right thing on *this* instance and must score 0.

        None if the natural near miss is to stop before the last change (not saved). Queries and families
        that hold at the start have no such change and always return parameters.
        """
        return None
