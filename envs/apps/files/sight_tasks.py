"""The family of the Files app in which pictures must be opened to be told apart."""

from __future__ import annotations

from typing import ClassVar

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.sight import PictureSearch, SightTask


class FilesDeletePicture(PictureSearch):
    """The picture that shows something, deleted where no list shows it: each must be opened."""

    apps: ClassVar[tuple[str, ...]] = ("Files", "Simple Gallery Pro")
    template = (
        "One of the three pictures in Download shows {what}. Find out which by opening them from the Files app, and "
        "delete it there."
    )
    folder = "/sdcard/Download"
    count = 3
    chance = 1 / 3
    difficulty = "hard"
    budget = 24

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(self.pictures_left(device) == set(self.params["pictures"]) - {self.wanted})


TASKS: tuple[type[SightTask], ...] = (FilesDeletePicture,)
