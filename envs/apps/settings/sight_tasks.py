"""The family of Settings in which a sign says what is to be switched."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.scenes import COLORS
from coach_gym.envs.tasks.sight import GALLERY, PictureTask, SightTask, file_names, shapes
from coach_gym.envs.tasks.words import ParamRng

SWITCHED = {"circle": ("wifi_on",), "square": ("bluetooth_on",), "triangle": ("wifi_on", "bluetooth_on")}
"""What each sign switches on, by the names of global settings."""


class SettingsSwitchBySign(PictureTask):
    """Wi-Fi, Bluetooth or both, as the shape in a picture says."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY, "Settings")
    template = (
        "Look at the picture {name} in Simple Gallery Pro (folder DCIM). If it shows a circle, switch Wi-Fi on; if it "
        "shows a square, switch Bluetooth on; if it shows a triangle, switch both on."
    )
    difficulty = "medium"
    budget = 24
    chance = 1 / len(SWITCHED)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        names, signs = file_names(rng, 2), rng.sample(sorted(SWITCHED), 2)
        shown = [shapes(rng, sign, rng.choice(tuple(COLORS)), 1) for sign in signs]
        return {"name": names[0], "other": names[1], "pictures": dict(zip(names, shown, strict=True))}

    def setup(self, device: Device) -> None:
        super().setup(device)
        for radio in ("wifi_on", "bluetooth_on"):
            device.put_setting("global", radio, "0")

    def evaluate(self, device: Device, answer: str | None) -> float:
        on = SWITCHED[self.params["pictures"][self.params["name"]]["shape"]]
        wanted = {radio: "1" if radio in on else "0" for radio in ("wifi_on", "bluetooth_on", "airplane_mode_on")}
        return float(all(device.get_setting("global", radio) == state for radio, state in wanted.items()))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


TASKS: tuple[type[SightTask], ...] = (SettingsSwitchBySign,)
