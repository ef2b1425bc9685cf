"""Tasks whose answer stands only in the pixels: what the screen text says is the same whatever is right."""

from __future__ import annotations

import random
from abc import abstractmethod
from typing import Any, ClassVar

from PIL import Image

from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import scenes
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.scenes import Scene
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

DCIM = "/sdcard/DCIM"
GALLERY = "Simple Gallery Pro"


class SightTask(Task):
    """A task that cannot be solved without looking at the screen.

    `swapped` proves it: it gives another instance with the same goal and the same screen texts, up to the decisive
    step, and another right answer.

    A screenshot scaled to 168 x 336 pixels is enough for every family.
    """

    chance: ClassVar[float]
    """Success of one who does everything right except to look: one over the number of options."""

    @abstractmethod
    def swapped(self) -> dict[str, Any]:
        """Returns the parameters of the instance in which what is seen has changed places."""


class PictureTask(SightTask):
    """A task on picture files: `params["pictures"]` has their scenes by file name. The names tell nothing."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY,)
    folder: ClassVar[str] = DCIM

    def setup(self, device: Device) -> None:
        super().setup(device)
        for name, scene in self.params["pictures"].items():
            device.write(f"{self.folder}/{name}", scenes.picture_file(self.picture(scene)))

    def picture(self, scene: Scene) -> Image.Image:
        """Draws a scene."""
        return scenes.drawn(scene)

    def swapped(self) -> dict[str, Any]:
        """Moves every picture on to the next file."""
        names, shown = list(self.params["pictures"]), list(self.params["pictures"].values())
        return {**self.params, "pictures": dict(zip(names, shown[1:] + shown[:1], strict=True))}

    def pictures_left(self, device: Device) -> set[str]:
        """Returns the names of the files in the folder."""
        return set(device.listdir(self.folder))


class PictureQuestion(PictureTask):
    """A question about one of two picture files: `params["name"]`, not `params["other"]`."""

    kind = "query"
    difficulty = "medium"
    budget = 12
    asked: ClassVar[str]
    """Entry of the scene that is asked for."""
    options: ClassVar[tuple[Any, ...]]
    """All answers that there are, each as likely."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "options" in vars(cls):
            cls.chance = 1 / len(cls.options)

    @classmethod
    @abstractmethod
    def scene(cls, rng: ParamRng, answer: Any) -> Scene:
        """Returns a random scene about which an answer is right."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return cls.two_pictures(rng, *rng.sample(cls.options, 2))

    @classmethod
    def two_pictures(cls, rng: ParamRng, right: Any, wrong: Any) -> dict[str, Any]:
        """Returns the parameters for two answers: that of the file asked for, and that of the other."""
        name, other = names = file_names(rng, 2)
        shown = {name: cls.scene(rng, right), other: cls.scene(rng, wrong)}
        return {"name": name, "other": other, "pictures": {file: shown[file] for file in sorted(names)}}

    @property
    def right(self) -> Any:
        """The right answer."""
        return self.params["pictures"][self.params["name"]][self.asked]

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(plain(answer or "") == plain(str(self.right)))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


class PictureSearch(PictureTask):
    """Several pictures of colored shapes, of which one is asked for by what it shows: `params["what"]`."""

    difficulty = "medium"
    budget = 16
    count: ClassVar[int] = 4
    chance = 0.25

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        shown = different_shapes(rng, cls.count)
        what = scenes.caption(rng.choice(shown))
        return {"what": what, "pictures": dict(zip(file_names(rng, cls.count), shown, strict=True))}

    @property
    def wanted(self) -> str:
        """The file that shows what is asked for."""
        return next(name for name, scene in self.params["pictures"].items() if self.says(scene) == self.params["what"])

    def says(self, scene: Scene) -> str:
        """Returns the words for a scene."""
        return scenes.caption(scene)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        shown = {self.says(scene) for scene in self.params["pictures"].values()}
        return {**self.params, "what": rng.choice(sorted(shown - {self.params["what"]}))}


def file_names(rng: ParamRng, count: int, ending: str = "png") -> list[str]:
    """Returns different file names in alphabetical order, such as cameras give them."""
    return [f"IMG_{number}.{ending}" for number in sorted(rng.sample(range(1000, 10_000), count))]


def different_shapes(rng: ParamRng, count: int) -> list[Scene]:
    """Returns scenes of one to three shapes that differ from each other in two of number, color and shape."""
    chosen: list[Scene] = []
    while len(chosen) < count:
        scene = shapes(rng, rng.choice(scenes.SHAPES), rng.choice(tuple(scenes.COLORS)), rng.randint(1, 3))
        if all(sum(scene[key] != known[key] for key in ("shape", "color", "count")) >= 2 for known in chosen):
            chosen.append(scene)
    return chosen


def shapes(rng: ParamRng, shape: str, color: str, count: int) -> Scene:
    """Returns a scene of equal shapes at random places."""
    return {"kind": "shapes", "shape": shape, "color": color, "count": count, "seed": rng.randrange(1000)}
