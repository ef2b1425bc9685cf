"""Families about maps that OsmAnd has drawn: what is marked on them stands in no text."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from PIL import Image

from coach_gym.envs.apps.osmand import map as osmand_map
from coach_gym.envs.apps.osmand.data import PLACES, Point
from coach_gym.envs.apps.osmand.world_tasks import VILLAGES, MapTask
from coach_gym.envs.tasks.scenes import SIDE, Scene
from coach_gym.envs.tasks.sight import GALLERY, PictureQuestion, PictureTask, SightTask, file_names
from coach_gym.envs.tasks.words import ParamRng

NEAR, COUNTRY = 13, 10  # zoom levels: some streets, the whole country
MIDDLE = (47.155, 9.545)  # of the country
APART = 0.035  # degrees of latitude or longitude between villages that must be told apart


def map_picture(center: Point, zoom: int, pin: Point) -> Image.Image:
    """Returns a map with a pin on it, as OsmAnd draws it."""
    drawn = osmand_map.draw(osmand_map.View(center, zoom, SIDE, SIDE), (("pin", pin),))
    return Image.fromarray(drawn).resize((SIDE, SIDE), Image.Resampling.BOX)


class OsmAndSideOfRiver(PictureQuestion):
    """On which side of the Rhine a pin stands."""

    template = (
        "The picture {name} in Simple Gallery Pro (folder DCIM) shows a map with north at the top. On which side of "
        "the river does the red pin stand? Answer with west or east."
    )
    asked, options = "side", ("west", "east")

    @classmethod
    def scene(cls, rng: ParamRng, answer: str) -> Scene:
        part = rng.randrange(1, len(osmand_map.RHINE) - 2)
        (south, west), (north, east) = osmand_map.RHINE[part : part + 2]
        share = rng.uniform(0.2, 0.8)
        river = south + share * (north - south), west + share * (east - west)
        off = rng.uniform(0.008, 0.014) * (1 if answer == "east" else -1)
        return {"side": answer, "center": list(river), "pin": [river[0], river[1] + off]}

    def picture(self, scene: Scene) -> Image.Image:
        return map_picture(tuple(scene["center"]), NEAR, tuple(scene["pin"]))


class OsmAndMarkPinnedVillage(PictureTask, MapTask):
    """A marker at the village that is pinned on the picture of a map."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY, "OsmAnd")
    template = (
        "Look at the picture {name} in Simple Gallery Pro (folder DCIM). On its map, a red pin stands on one of three "
        "villages: {a}, {b} or {c}. Put a map marker at that village in OsmAnd."
    )
    difficulty = "hard"
    budget = 24
    chance = 1 / 3

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        villages: list[str] = []
        for village in VILLAGES.draw_many(rng, len(VILLAGES.of(rng.split))):
            villages += [village] if all(_apart(village, other) for other in villages) else []
        a, b, c = sorted(villages[:3])
        names, pinned = file_names(rng, 2), rng.sample((a, b, c), 2)
        return {
            "name": names[0], "other": names[1], "a": a, "b": b, "c": c, "favorites": [], "markers": [],
            "pictures": {name: {"village": village} for name, village in zip(names, pinned, strict=True)},
        }  # fmt: skip

    def picture(self, scene: Scene) -> Image.Image:
        return map_picture(MIDDLE, COUNTRY, PLACES[scene["village"]])

    def markers(self) -> list[Point]:
        return [PLACES[self.params["pictures"][self.params["name"]]["village"]]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


def _apart(village: str, other: str) -> bool:
    return max(abs(a - b) for a, b in zip(PLACES[village], PLACES[other], strict=True)) >= APART


TASKS: tuple[type[SightTask], ...] = (OsmAndMarkPinnedVillage, OsmAndSideOfRiver)
