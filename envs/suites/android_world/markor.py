"""Families of the Markor app: notes that are text files in folders."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.phone.apps.markor import NOTEBOOK
from coach_gym.envs.suites.file_tree import FileTask, Tree
from coach_gym.envs.suites.task import Task
from coach_gym.envs.suites.words import SENTENCES, ParamRng, slugs


class NotesTask(FileTask):
    """A task on a notebook that holds `params["files"]` at the start: texts by path."""

    apps = ("Markor",)
    root = NOTEBOOK

    def another(self, rng: random.Random) -> str:
        """A note that the goal does not name."""
        return rng.choice([path for path in self.params["files"] if path != self.params["name"]])


def note_names(rng: ParamRng, count: int) -> list[str]:
    """File names of notes, all different in their words."""
    return [slug + rng.choice((".md", ".txt")) for slug in slugs(rng, count)]


def with_texts(rng: ParamRng, names: list[str]) -> dict[str, str]:
    """A different sentence for every note, in an order of its own."""
    return dict(zip(rng.sample(names, len(names)), SENTENCES.draw_many(rng, len(names)), strict=True))


class MarkorCreateNote(NotesTask):
    """A new note with a text."""

    template = "Create a note in Markor named {name} with the text: {text}"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        name, *others = note_names(rng, rng.randint(2, 6))
        text, *_ = SENTENCES.draw_many(rng, 1)
        return {"name": name, "text": text, "files": with_texts(rng, others)}

    def expected(self, tree: Tree) -> Tree:
        return {**tree, self.params["name"]: self.params["text"].encode()}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return self.but(name="new_" + self.params["name"])


class MarkorDeleteNote(NotesTask):
    """One note goes, all others stay."""

    template = "Delete the note {name} in Markor."
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        names = note_names(rng, rng.randint(3, 7))
        return {"name": names[0], "files": with_texts(rng, names)}

    def expected(self, tree: Tree) -> Tree:
        del tree[self.params["name"]]
        return tree

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return self.but(name=self.another(rng))


TASKS: tuple[type[Task], ...] = (
    MarkorCreateNote,
    MarkorDeleteNote,
)
