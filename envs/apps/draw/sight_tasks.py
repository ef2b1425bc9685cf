"""Families of Simple Draw Pro: a color to be seen and drawn with, and a drawing to be recognized."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from coach_gym.envs.apps.draw.app import COLORS, Stroke, drawn
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.media import pictures
from coach_gym.envs.tasks.scenes import SIDE, Scene
from coach_gym.envs.tasks.sight import GALLERY, PictureQuestion, PictureTask, SightTask, file_names
from coach_gym.envs.tasks.words import ParamRng, slug

PICTURES = "/sdcard/Pictures"
INKS = ("Red", "Yellow", "Green", "Blue", "Purple")
BRUSH = 0.05  # width of a stroke, as a share of the canvas
WAYS: dict[str, tuple[tuple[float, float], ...]] = {
    "zigzag": ((0, 0.2), (0.25, 0.8), (0.5, 0.2), (0.75, 0.8), (1, 0.2)),
    "triangle": ((0.5, 0), (1, 0.95), (0, 0.95), (0.5, 0)),
    "rectangle": ((0, 0.2), (1, 0.2), (1, 0.8), (0, 0.8), (0, 0.2)),
    "circle": tuple((0.5 + math.sin(a * math.tau / 16) / 2, 0.5 - math.cos(a * math.tau / 16) / 2) for a in range(17)),
    "arrow": ((0, 0.5), (1, 0.5), (0.65, 0.2), (1, 0.5), (0.65, 0.8)),
}
"""What a finger draws in one go, in a square of side 1."""


def drawing(way: str, color: str, seed: int) -> Image.Image:
    """Returns a drawing as the app saves it, at a place and size that the seed gives."""
    rng = random.Random(seed)
    side = rng.uniform(0.6, 0.75)
    left, top = rng.uniform(0.06, 0.94 - side), rng.uniform(0.06, 0.94 - side)
    points = tuple((left + side * x, top + side * y) for x, y in WAYS[way])
    return Image.fromarray(drawn((Stroke(points, COLORS[color], BRUSH),), COLORS["White"], (SIDE, SIDE)))


class DrawNameDrawing(PictureQuestion):
    """What a drawing made with Simple Draw Pro is of."""

    template = (
        "Look at the picture {name} in Simple Gallery Pro (folder DCIM). It was drawn by finger in Simple Draw Pro. "
        "What is drawn? Answer with one of: zigzag, triangle, rectangle, circle, arrow."
    )
    asked, options = "drawing", tuple(WAYS)

    @classmethod
    def scene(cls, rng: ParamRng, answer: str) -> Scene:
        return {"drawing": answer, "color": rng.choice(INKS), "seed": rng.randrange(1000)}

    def picture(self, scene: Scene) -> Image.Image:
        return drawing(scene["drawing"], scene["color"], scene["seed"])


class DrawInColorOfPicture(PictureTask):
    """A line in the color that a picture shows, saved as a picture of its own."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY, "Simple Draw Pro")
    template = (
        "Look at the picture {name} in Simple Gallery Pro (folder DCIM). Then draw a line in the same color in Simple "
        "Draw Pro, in no other color, and save it as {file_name} in the folder Pictures of the phone's storage "
        "(sdk_gphone_x86_64)."
    )
    difficulty = "hard"
    budget = 36
    chance = 1 / len(INKS)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        names, inks = file_names(rng, 2), rng.sample(INKS, 2)
        return {
            "name": names[0], "other": names[1], "file_name": f"{slug(rng)}.png",
            "pictures": {name: {"ink": ink} for name, ink in zip(names, inks, strict=True)},
        }  # fmt: skip

    def picture(self, scene: Scene) -> Image.Image:
        return Image.new("RGB", (SIDE, SIDE), COLORS[scene["ink"]])

    def evaluate(self, device: Device, answer: str | None) -> float:
        name = self.params["file_name"]
        if device.listdir(PICTURES) != [name]:
            return 0.0
        shown = pictures.pixels(device.read(f"{PICTURES}/{name}") or b"", 4000, 4000)
        wanted = COLORS[self.params["pictures"][self.params["name"]]["ink"]]
        return float(shown is not None and _colors(shown) == {COLORS["White"], wanted})

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


def _colors(pixels: np.ndarray) -> set[str]:
    """Every color of a picture as `#rrggbb`."""
    return {"#{:02x}{:02x}{:02x}".format(*color) for color in np.unique(pixels.reshape(-1, 3), axis=0).tolist()}


TASKS: tuple[type[SightTask], ...] = (DrawInColorOfPicture, DrawNameDrawing)
