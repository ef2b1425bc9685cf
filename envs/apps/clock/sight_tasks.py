"""The family of the Clock app in which a time is read off the picture of a clock."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.apps.clock.data import Alarm
from coach_gym.envs.apps.clock.task_alarms import ClockTask, at, clock
from coach_gym.envs.tasks.sight import GALLERY, PictureTask, SightTask, file_names
from coach_gym.envs.tasks.words import ParamRng

TIMES = tuple(clock(hour, minute) for hour in range(1, 12) for minute in (0, 30))


class ClockAlarmOfPicture(PictureTask, ClockTask):
    """An alarm at the time that a clock with hands shows."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY, "Clock")
    template = (
        "Look at the picture {name} in Simple Gallery Pro (folder DCIM). Set an alarm in the Clock app for the time "
        "that its clock shows, in the morning."
    )
    difficulty = "hard"
    budget = 24
    chance = 1 / len(TIMES)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        names, times = file_names(rng, 2), rng.sample(TIMES, 2)
        return {
            "name": names[0], "other": names[1], "alarms": [],
            "pictures": {name: {"kind": "clock", "time": time} for name, time in zip(names, times, strict=True)},
        }  # fmt: skip

    def expected(self) -> list[Alarm]:
        return [*self.alarms, at(self.params["pictures"][self.params["name"]]["time"])]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


TASKS: tuple[type[SightTask], ...] = (ClockAlarmOfPicture,)
