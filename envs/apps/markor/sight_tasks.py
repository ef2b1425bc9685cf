"""The family of Markor in which a word is read off a picture."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.apps.markor.world_tasks import NotesTask, notes
from coach_gym.envs.tasks.file_tree import Tree
from coach_gym.envs.tasks.sight import GALLERY, PictureTask, SightTask, file_names
from coach_gym.envs.tasks.words import ParamRng, Pool, slug

WORDS = Pool(
    """
    ARCH BARN BELL BIRD BOAT BOOK CAKE CAVE COIN CORK CRAB DESK DOOR DRUM DUCK FERN FIRE FISH FLAG FROG GATE GOAT
    GOLD HAND HARP HILL HORN JUMP KITE LAKE LAMP LEAF LION MILK MOON NAIL NEST OVEN PALM PARK PEAR POND RAIN RING
    ROAD ROOF ROSE SALT SAND SHIP SNOW SOAP STAR SWAN TENT TREE VASE WAVE WIND WOLF
    """,
    separator=None,
)


class MarkorTypeWordOfPicture(PictureTask, NotesTask):
    """The word in a picture, typed into a new note."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY, "Markor")
    template = (
        "Read the word of four letters in the picture {name} in Simple Gallery Pro (folder DCIM), and write it into "
        "the new note {file_name} in Markor."
    )
    difficulty = "hard"
    budget = 26
    chance = 1 / len(WORDS.train)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        names, words = file_names(rng, 2), WORDS.draw_many(rng, 2)
        return {
            "name": names[0], "other": names[1], "file_name": f"{slug(rng)}.md", "files": notes(rng, 1, 3)["files"],
            "pictures": {name: {"kind": "word", "word": word} for name, word in zip(names, words, strict=True)},
        }  # fmt: skip

    def expected(self, tree: Tree) -> Tree:
        word = self.params["pictures"][self.params["name"]]["word"]
        return {**tree, self.params["file_name"]: word.encode()}

    def normal(self, data: bytes) -> bytes:
        """Capitals do not count."""
        return data.strip().lower()

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "name": self.params["other"]}


TASKS: tuple[type[SightTask], ...] = (MarkorTypeWordOfPicture,)
