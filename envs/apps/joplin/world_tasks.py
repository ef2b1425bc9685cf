"""Families of the Joplin app: questions about notes and to-dos."""

from __future__ import annotations

import random
import sqlite3
from abc import abstractmethod
from typing import Any

from coach_gym.envs.apps.joplin.data import DATABASE, create, create_folder, folders, notes
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import plain, same_number
from coach_gym.envs.tasks.records import RecordsTask
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Note = list  # [notebook, title, body, is a to-do, is completed]: JSON

NOTEBOOKS = ("Finance", "Garden", "Health", "Holidays", "Home", "Ideas", "Projects", "School", "Work")
QUANTITIES = ("1/2 cup", "1 cup", "2 cups", "3 tablespoons", "1 teaspoon", "250 g", "4 slices", "1/4 cup", "80 ml")
INGREDIENTS = ("almonds", "cinnamon", "cocoa", "honey", "lentils", "oats", "olive oil", "raisins", "rice", "walnuts")
ATTENDANCE = ("{n} people took part", "Present: {n}", "{n} colleagues came", "Attendees: {n}")


class NotesTask(RecordsTask):
    """A question about `params["notes"]`, which have to stay as they are."""

    apps = ("Joplin",)
    kind = "query"
    budget = 16
    database = DATABASE
    given = "notes"

    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Adds the notes and the notebooks that they need."""
        books = {title: id for id, title, _ in folders(db)}
        for notebook, title, body, todo, done in self.params["notes"]:
            if notebook not in books:
                books[notebook] = create_folder(db, notebook, device.now)
            create(db, books[notebook], title, body, device.now, todo, done)

    def stored(self, db: sqlite3.Connection) -> list[Note]:
        """Returns all notes, in the form of the parameters."""
        titles = {id: title for id, title, _ in folders(db)}
        return [[titles.get(n.folder), n.title, n.body, n.todo, n.done] for n in notes(db)]

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks the answer; the notes must not have changed."""
        return super().evaluate(device, answer) * float(self.is_right(answer))

    @abstractmethod
    def is_right(self, answer: str | None) -> bool:
        """Returns whether the answer is the one asked for."""


def some_notes(rng: ParamRng, notebooks: tuple[str, ...] = NOTEBOOKS) -> list[Note]:
    """Returns notes and to-dos of all kinds that share no title."""
    titles = words.TODOS.draw_many(rng, rng.randint(10, 16))
    return [[rng.choice(notebooks), title, words.paragraph(rng), *_state(rng)] for title in titles]


def _state(rng: ParamRng) -> tuple[bool, bool]:
    todo = rng.random() < 0.4
    return todo, todo and rng.random() < 0.3


class NotesIsTodo(NotesTask):
    """Whether a note is a to-do."""

    template = 'Is "{title}" in Joplin a to-do? Answer True or False.'
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws notes, and picks one and another of the other kind."""
        drawn = some_notes(rng)
        todo = rng.random() < 0.5
        drawn[0][3:], drawn[1][3:] = [todo, False], [not todo, False]
        names = {"title": drawn[0][1], "other": drawn[1][1]}
        return {**names, "notes": rng.sample(drawn, len(drawn))}

    def is_right(self, answer: str | None) -> bool:
        """Compares the answer with True or False."""
        todo = next(note[3] for note in self.params["notes"] if note[1] == self.params["title"])
        return plain(answer or "") == str(todo).casefold()

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a note of the other kind."""
        return {**self.params, "title": self.params["other"]}


class NotesTodoItemCount(NotesTask):
    """The number of to-dos in a notebook."""

    template = "How many to-dos are in the notebook {notebook} of Joplin? Answer with the number."

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a notebook with to-dos and one without."""
        notebook, *others = rng.sample(NOTEBOOKS, 6)
        drawn = some_notes(rng, tuple(others))
        for note in drawn[: rng.randint(3, 6)]:
            note[0], note[3] = notebook, rng.random() < 0.7
        drawn[0][3:], drawn[-1][0] = [True, False], others[0]
        for note in drawn:
            note[3] = note[3] and note[0] != others[0]
            note[4] = note[4] and note[3]
        return {"notebook": notebook, "other": others[0], "notes": rng.sample(drawn, len(drawn))}

    def is_right(self, answer: str | None) -> bool:
        """Compares the number."""
        return same_number(answer, sum(note[3] for note in self.params["notes"] if note[0] == self.params["notebook"]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a notebook without to-dos."""
        return {**self.params, "notebook": self.params["other"]}


class NotesMeetingAttendeeCount(NotesTask):
    """The number of people at a meeting, from the text of its note."""

    template = 'How many people were at the meeting "{title}"? Its note is in Joplin. Answer with the number.'
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws four meetings with different numbers of people, among other notes."""
        titles = words.EVENTS.draw_many(rng, 4)
        counts = rng.sample(range(3, 60), len(titles))
        meetings = [_meeting(rng, title, count) for title, count in zip(titles, counts, strict=True)]
        drawn = [*meetings, *some_notes(rng)]
        return {"title": titles[0], "count": counts[0], "other": titles[1], "notes": rng.sample(drawn, len(drawn))}

    def is_right(self, answer: str | None) -> bool:
        """Compares the number."""
        return same_number(answer, self.params["count"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another meeting."""
        return {**self.params, "title": self.params["other"]}


def _meeting(rng: ParamRng, title: str, count: int) -> Note:
    points = words.SENTENCES.draw_many(rng, rng.randint(2, 4))
    points.insert(rng.randint(0, len(points)), rng.choice(ATTENDANCE).format(n=count))
    return ["Meetings", title, "Minutes\n" + "\n".join(f"- {point}" for point in points), False, False]


class NotesRecipeIngredientCount(NotesTask):
    """The quantity of an ingredient, from the text of a recipe."""

    template = (
        "How much {ingredient} does the recipe {title} in Joplin take? Answer with amount and unit as they are written."
    )
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws four recipes with different quantities, among other notes."""
        titles = words.DISHES.draw_many(rng, 4)
        ingredient = rng.choice(INGREDIENTS)
        quantities = rng.sample(QUANTITIES, len(titles))
        book = [_recipe(rng, title, ingredient, q) for title, q in zip(titles, quantities, strict=True)]
        drawn = [*book, *some_notes(rng)]
        names = {"title": titles[0], "other": titles[1], "ingredient": ingredient, "quantity": quantities[0]}
        return {**names, "notes": rng.sample(drawn, len(drawn))}

    def is_right(self, answer: str | None) -> bool:
        """Compares amount and unit."""
        return plain(answer or "") == plain(self.params["quantity"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another recipe."""
        return {**self.params, "title": self.params["other"]}


def _recipe(rng: ParamRng, title: str, ingredient: str, quantity: str) -> Note:
    others = rng.sample([i for i in INGREDIENTS if i != ingredient], 3)
    lines = [f"- {rng.choice(QUANTITIES)} {other}" for other in others]
    lines.insert(rng.randint(0, len(lines)), f"- {quantity} {ingredient}")
    steps = words.SENTENCES.draw_many(rng, 2)
    body = ["Ingredients:", *lines, "", "Instructions:", *(f"{n}. {step}" for n, step in enumerate(steps, start=1))]
    return ["Recipes", title, "\n".join(body), False, False]


TASKS: tuple[type[Task], ...] = (
    NotesIsTodo, NotesMeetingAttendeeCount, NotesRecipeIngredientCount, NotesTodoItemCount,
)  # fmt: skip
