"""Families of Simple Gallery Pro that are about what pictures show."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import scenes
from coach_gym.envs.tasks.answers import same_time
from coach_gym.envs.tasks.scenes import COLORS, DIRECTIONS, NUMBERS, Scene
from coach_gym.envs.tasks.sight import (
    PictureQuestion,
    PictureSearch,
    PictureTask,
    SightTask,
    different_shapes,
    file_names,
    shapes,
)
from coach_gym.envs.tasks.words import ParamRng, slug

LOOK = "Look at the picture {name} in Simple Gallery Pro (folder DCIM). "
TIMES = tuple(f"{hour}:{minute:02d}" for hour in range(1, 13) for minute in (0, 30))


class GalleryDeletePicture(PictureSearch):
    """The picture that shows something, deleted."""

    apps = PictureTask.apps
    template = "In Simple Gallery Pro, delete the picture in the folder DCIM that shows {what}, and no other."

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(self.pictures_left(device) == set(self.params["pictures"]) - {self.wanted})


class GalleryRenamePicture(PictureSearch):
    """The picture that shows something, under another name."""

    apps = PictureTask.apps
    template = "In Simple Gallery Pro, rename the picture in the folder DCIM that shows {what} to {new_name}."
    budget = 20

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return {**super().sample(rng), "new_name": f"{slug(rng)}.png"}

    def evaluate(self, device: Device, answer: str | None) -> float:
        left = set(self.params["pictures"]) - {self.wanted} | {self.params["new_name"]}
        shown = scenes.picture_file(self.picture(self.params["pictures"][self.wanted]))
        same = device.read(f"{self.folder}/{self.params['new_name']}") == shown
        return float(same and self.pictures_left(device) == left)


class GalleryDeleteOddOne(PictureTask):
    """Four pictures, three of which show the same; the other, deleted."""

    apps = PictureTask.apps
    template = (
        "Three of the four pictures in the folder DCIM of Simple Gallery Pro show the same. Delete the {which} "
        "that shows something else."
    )
    difficulty = "medium"
    budget = 16
    chance = 0.25

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        common, odd = different_shapes(rng, 2)
        shown = [{**common, "seed": rng.randrange(1000)} for _ in range(3)]
        shown.insert(rng.randrange(4), odd)
        return {"which": "one", "pictures": dict(zip(file_names(rng, 4), shown, strict=True))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        captions = {name: scenes.caption(scene) for name, scene in self.params["pictures"].items()}
        said = list(captions.values())
        odd = next(name for name, caption in captions.items() if said.count(caption) == 1)
        return float(self.pictures_left(device) == set(captions) - {odd})

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "which": "one before"}


class GalleryCountShapes(PictureQuestion):
    """How many things a picture shows."""

    template = LOOK + "How many shapes does it show? Answer with a number."
    asked, options = "count", tuple(range(1, len(NUMBERS) + 1))

    @classmethod
    def scene(cls, rng: ParamRng, answer: int) -> Scene:
        return shapes(rng, rng.choice(scenes.SHAPES), rng.choice(tuple(COLORS)), answer)


class GalleryReadClock(PictureQuestion):
    """The time that a clock with hands shows."""

    template = LOOK + "What time does the clock show? Answer on a 12-hour clock, such as 9:30."
    asked, options = "time", TIMES

    @classmethod
    def scene(cls, rng: ParamRng, answer: str) -> Scene:
        return {"kind": "clock", "time": answer}

    def evaluate(self, device: Device, answer: str | None) -> float:
        hour, minute = map(int, self.right.split(":"))
        return float(same_time(answer, f"{hour:02d}:{minute:02d}"))


class GalleryTallestBar(PictureQuestion):
    """The color of the highest bar of a chart."""

    template = LOOK + "Which color has the tallest bar of the chart? Answer with one of: red, green, blue, yellow."
    asked, options = "tallest", ("red", "green", "blue", "yellow")

    @classmethod
    def scene(cls, rng: ParamRng, answer: str) -> Scene:
        colors = rng.sample(cls.options, len(cls.options))
        height = rng.uniform(0.6, 0.85)
        heights = [height if color == answer else rng.uniform(0.15, height - 0.12) for color in colors]
        return {"kind": "bars", "heights": [round(h, 3) for h in heights], "colors": colors, "tallest": answer}


class GalleryArrowDirection(PictureQuestion):
    """Where an arrow points."""

    template = LOOK + "Which way does the arrow point? Answer with one of: up, right, down, left."
    asked, options = "direction", DIRECTIONS

    @classmethod
    def scene(cls, rng: ParamRng, answer: str) -> Scene:
        color = rng.choice(tuple(COLORS))
        return {"kind": "arrow", "direction": answer, "color": color, "seed": rng.randrange(1000)}


TASKS: tuple[type[SightTask], ...] = (
    GalleryArrowDirection, GalleryCountShapes, GalleryDeleteOddOne, GalleryDeletePicture, GalleryReadClock,
    GalleryRenamePicture, GalleryTallestBar,
)  # fmt: skip
