"""The family of Simple Draw Pro."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.media import pictures
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, slug

PICTURES = "/sdcard/Pictures"
ENDINGS = (".png", ".svg", ".jpg")


class SimpleDrawProCreateDrawing(Task):
    """Save a drawing with at least one stroke under a name whose extension gives the format."""

    apps = ("Simple Draw Pro",)
    template = (
        "Draw something in Simple Draw Pro and save it as {file_name} in the folder Pictures of the phone's storage "
        "(sdk_gphone_x86_64)."
    )
    difficulty = "medium"
    budget = 24

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a name and a format."""
        return {"file_name": slug(rng) + rng.choice(ENDINGS)}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires one file in Pictures, of that name and format and not blank."""
        name = self.params["file_name"]
        data = device.read(f"{PICTURES}/{name}") or b""
        return float(device.listdir(PICTURES) == [name] and is_drawing(data, name.rpartition(".")[2]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another format."""
        stem, _, ending = self.params["file_name"].rpartition(".")
        other = rng.choice([other for other in ENDINGS if other != f".{ending}"])
        return {**self.params, "file_name": stem + other}


def is_drawing(data: bytes, format: str) -> bool:
    """Returns whether a file has a format (its extension) and is not blank."""
    if format == "svg":
        return data.startswith(b"<svg") and b"<path" in data
    start = b"\x89PNG" if format == "png" else b"\xff\xd8"
    shown = pictures.pixels(data, 400, 400) if data.startswith(start) else None
    return shown is not None and shown.min() != shown.max()


TASKS: tuple[type[Task], ...] = (SimpleDrawProCreateDrawing,)
