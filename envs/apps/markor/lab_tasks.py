"""Families of the Markor app."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.apps.markor.world_tasks import DatedNotesTask, NotesTask, note_names, with_ages, with_texts
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.file_tree import CountTask
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import NOUNS, ParamRng


class MarkorNoteByAge(DatedNotesTask):
    """Name the note that was changed last, or the one unchanged for the longest time."""

    template = "What is the name of the {age} note in Markor?"
    budget = 6
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes of different ages, and which end of them is asked for."""
        names = note_names(rng, rng.randint(3, 6))
        return {
            "age": rng.choice(("newest", "oldest")), "files": with_texts(rng, names), "ages": with_ages(rng, names)
        }  # fmt: skip

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the note's name, with or without its extension, and all notes untouched."""
        pick = min if self.params["age"] == "newest" else max
        name = pick(self.params["ages"], key=self.params["ages"].__getitem__)
        return super().evaluate(device, answer) * float(plain(answer or "") in (name, name.rpartition(".")[0]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the other end."""
        return self.but(age="oldest" if self.params["age"] == "newest" else "newest")


class MarkorCountNotes(CountTask, NotesTask):
    """Count the notes of a folder; another folder holds more or fewer."""

    template = "How many notes are in the folder {folder} in Markor?"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two folders with different numbers of notes."""
        folder, other = (noun.title() for noun in NOUNS.draw_many(rng, 2))
        here, there = rng.sample(range(1, 7), 2)
        texts = with_texts(rng, note_names(rng, here + there))
        places = [folder] * here + [other] * there
        files = {f"{place}/{name}": text for place, (name, text) in zip(places, texts.items(), strict=True)}
        return {"folder": folder, "other": other, "files": files}


TASKS: tuple[type[Task], ...] = (
    MarkorCountNotes,
    MarkorNoteByAge,
)
