"""Alarms as task parameters, and as checks read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, replace
from typing import Any, ClassVar

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.data import Alarm
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list[Any]
"""Hour, minute, bits of the days, whether it is on, label: JSON."""


def times(rng: ParamRng, count: int) -> list[tuple[int, int]]:
    """Returns different times of day, in steps of five minutes, no two of them in the same hour."""
    return [(hour, 5 * rng.randrange(12)) for hour in rng.sample(range(24), count)]


def entries(rng: ParamRng, count: int) -> list[Entry]:
    """Returns alarms that share neither hour nor label."""
    labels = words.EVENTS.draw_many(rng, count)
    pairs = zip(times(rng, count), labels, strict=True)
    return [[hour, minute, rng.choice((0, 0, rng.randrange(1, 128))), rng.random() < 0.5, label]
            for (hour, minute), label in pairs]  # fmt: skip


def clock(hour: int, minute: int) -> str:
    """Returns a time of day such as 07:30."""
    return f"{hour:02d}:{minute:02d}"


def later(time: str, hours: int = 1) -> str:
    """Returns the same minute of another hour."""
    return clock((int(time[:2]) + hours) % 24, int(time[3:]))


def at(time: str, **more: Any) -> Alarm:
    """Returns an alarm at a time such as 07:30, otherwise as the app makes it."""
    return Alarm(int(time[:2]), int(time[3:]), **more)


class ClockTask(Task):
    """A task in the Clock app. At the start it has the alarms of `params["alarms"]` and no others."""

    apps: ClassVar[tuple[str, ...]] = ("Clock",)

    @property
    def alarms(self) -> list[Alarm]:
        """The alarms at the start."""
        return [Alarm(*entry) for entry in self.params["alarms"]]

    def setup(self, device: Device) -> None:
        """Sets the alarms of the start."""
        with device.database(clock_data.ALARMS) as db:
            clock_data.replace_all(db, self.alarms, device.now)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the alarms with `expected`."""
        return float(holds(device, self.expected()))

    def expected(self) -> list[Alarm]:
        """Returns the alarms that there have to be in the end, and no others."""
        return self.alarms


def holds(device: Device, alarms: Iterable[Alarm]) -> bool:
    """Returns whether these are exactly the alarms of a device."""
    with device.database(clock_data.ALARMS) as db:
        return _known(clock_data.alarms(db)) == _known(alarms)


def _known(alarms: Iterable[Alarm]) -> list[tuple]:
    return sorted(astuple(replace(alarm, id=0)) for alarm in alarms)
