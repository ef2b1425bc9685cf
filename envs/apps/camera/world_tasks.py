"""Photos and videos."""

from __future__ import annotations

from typing import ClassVar

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.task import Task

FOLDERS = ("/sdcard/Pictures", "/sdcard/Movies")


class _Shot(Task):
    """Leave one file of the right kind, and no other, in the camera's folders, which start empty."""

    apps = ("Camera",)
    budget = 8
    ending: ClassVar[str]

    def evaluate(self, device: Device, answer: str | None) -> float:
        endings = [name.rpartition(".")[2] for folder in FOLDERS for name in device.listdir(folder)]
        return float(endings == [self.ending])


class CameraTakePhoto(_Shot):
    """Take one photo."""

    template = "Take one photo."
    ending = "jpg"


class CameraTakeVideo(_Shot):
    """Record one video."""

    template = "Record one video."
    ending = "mp4"
    budget = 12


TASKS: tuple[type[Task], ...] = (CameraTakePhoto, CameraTakeVideo)
