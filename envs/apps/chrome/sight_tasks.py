"""Families of web pages in Chrome whose buttons and switches have no names: they differ in their pictures only.

A page takes one answer and gives a receipt that does not say whether it was right. Its source does not tell either:
the pictures in it are JPEG files with some noise.
"""

from __future__ import annotations

import io
import random
import string
from abc import abstractmethod
from base64 import b64encode
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from coach_gym.envs.apps.chrome import sight_pages
from coach_gym.envs.apps.chrome.world_tasks import BrowserTask, page_says
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import scenes
from coach_gym.envs.tasks.scenes import COLORS, SHAPES
from coach_gym.envs.tasks.sight import SightTask
from coach_gym.envs.tasks.words import ParamRng, Pool

SIDE = 48  # pixels of a picture in a page
NOISE = 4  # added to each color of a pixel, at most
ON, OFF = "#1f9d3a", "#b9b9b9"  # color of a switch
DEVICES = Pool("""
    Attic fan; Boiler; Ceiling fan; Coffee machine; Desk lamp; Dishwasher; Doorbell; Fountain; Garage door;
    Garden lights; Hall lamp; Heating; Humidifier; Kitchen radio; Lawn sprinkler; Night light; Oven; Porch light;
    Projector; Water pump
""")


class ReceiptTask(SightTask, BrowserTask):
    """A page that must show the receipt of the right answer in the end."""

    apps: ClassVar[tuple[str, ...]] = ("Files", "Chrome")
    budget = 16

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(page_says(device, f"Receipt: {self.params['receipts'][self.right]}"))

    @property
    @abstractmethod
    def right(self) -> int:
        """Which receipt is that of the right answer."""

    def encoded(self, image: Image.Image, number: int) -> str:
        """Returns the page's n-th picture as a JPEG in base 64, with noise: no two are the same text."""
        rng = np.random.default_rng([self.params["seed"], number])
        pixels = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX), int)
        noisy = np.clip(pixels + rng.integers(-NOISE, NOISE + 1, pixels.shape), 0, 255).astype(np.uint8)
        out = io.BytesIO()
        Image.fromarray(noisy).save(out, "JPEG", quality=85)
        return b64encode(out.getvalue()).decode()


class ChromePressColor(ReceiptTask):
    """One of six buttons, by its color."""

    template = BrowserTask.preamble + "Then press the {what} button, and no other."
    kinds: ClassVar[tuple[str, ...]] = tuple(COLORS)
    chance = 1 / len(kinds)

    @classmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        buttons = rng.sample(cls.kinds, len(cls.kinds))
        return {"what": rng.choice(buttons), "buttons": buttons, **_receipts(rng, len(buttons))}

    def page(self) -> bytes:
        images = [self.button(kind) for kind in self.params["buttons"]]
        return sight_pages.buttons([self.encoded(image, i) for i, image in enumerate(images)], self.params["receipts"])

    def button(self, kind: str) -> Image.Image:
        """Draws a button."""
        return scenes.drawn({"kind": "plain", "color": kind})

    @property
    def right(self) -> int:
        return self.params["buttons"].index(self.params["what"])

    def swapped(self) -> dict[str, Any]:
        buttons = self.params["buttons"]
        return {**self.params, "buttons": buttons[1:] + buttons[:1]}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "what": rng.choice([kind for kind in self.kinds if kind != self.params["what"]])}


class ChromePressShape(ChromePressColor):
    """One of five buttons of the same color, by the sign on it."""

    template = BrowserTask.preamble + "Then press the button with a {what} on it, and no other."
    kinds = SHAPES
    chance = 1 / len(kinds)

    @classmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        return {**super().puzzle(rng), "color": rng.choice(tuple(COLORS.values()))}

    def button(self, kind: str) -> Image.Image:
        return scenes.shape_picture(kind, self.params["color"], "#efefef")


class ChromeSetSwitches(ReceiptTask):
    """Three switches that a page draws itself: no text says which are on."""

    template = BrowserTask.preamble + (
        "Then set its switches so that only {what} is on and the others are off, and press Save. A switch that is on "
        "is green with its knob at the right."
    )
    budget = 20
    chance = 1 / 8

    @classmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        names = DEVICES.draw_many(rng, 3)
        states = [rng.random() < 0.5 for _ in names]
        return {"what": rng.choice(names), "names": names, "states": states, **_receipts(rng, 1 << len(names))}

    def page(self) -> bytes:
        rows = [
            [name, self.encoded(switch_picture(on), 2 * i), self.encoded(switch_picture(not on), 2 * i + 1)]
            for i, (name, on) in enumerate(zip(self.params["names"], self.params["states"], strict=True))
        ]
        return sight_pages.switches(rows, self.params["receipts"])

    @property
    def right(self) -> int:
        pairs = enumerate(zip(self.params["names"], self.params["states"], strict=True))
        return sum(1 << i for i, (name, on) in pairs if on != (name == self.params["what"]))

    def swapped(self) -> dict[str, Any]:
        return {**self.params, "states": [not on for on in self.params["states"]]}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {
            **self.params,
            "what": rng.choice([name for name in self.params["names"] if name != self.params["what"]]),
        }


def switch_picture(on: bool) -> Image.Image:
    """Draws a switch."""
    return scenes.switch_picture(ON if on else OFF, on)


def _receipts(rng: ParamRng, count: int) -> dict[str, Any]:
    """Different receipts that say nothing, and the seed of the pictures' noise."""
    receipts: list[str] = []
    while len(receipts) < count:
        receipt = "".join(rng.choices(string.ascii_uppercase, k=4))
        receipts += [receipt] if receipt not in receipts else []
    return {"receipts": receipts, "seed": rng.randrange(1 << 31)}


TASKS: tuple[type[SightTask], ...] = (ChromePressColor, ChromePressShape, ChromeSetSwitches)
