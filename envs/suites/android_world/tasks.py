"""Families of the Tasks app."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, timedelta
from typing import Any

from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.apps.tasks_data import DATABASE, LOW, due_on
from coach_gym.envs.suites import words
from coach_gym.envs.suites.task import Task
from coach_gym.envs.suites.words import ParamRng

Todo = list  # [title, importance, due in ms or 0, completed in ms or 0, notes]: JSON
TODAY = date(2023, 10, 15)  # a Sunday
CREATED = due_on(date(2023, 10, 1))
DAY_MS = 86_400_000
_COLUMNS = "title, importance, dueDate, completed, notes"


def todos(rng: ParamRng, count: int) -> list[Todo]:
    """Tasks to be done that share no title."""
    return [[title, rng.choice([0, 1, 2, 2, 3]), _due(rng), 0, ""] for title in words.TODOS.draw_many(rng, count)]


def _due(rng: ParamRng) -> int:
    return due_on(TODAY + timedelta(days=rng.randint(-3, 14))) if rng.random() < 0.6 else 0


def _seen(row: tuple | Todo) -> tuple:
    """What a check compares: the day that a task is due on, not the time, and whether it is done, not when."""
    title, importance, due, completed, notes = row
    return title, importance, due // DAY_MS, completed > 0, notes or ""


class TodoTask(Task):
    """A task on a list that holds `params["todos"]` at the start."""

    apps = ("Tasks",)

    def setup(self, device: Device) -> None:
        rows = [(*todo, CREATED, CREATED, str(i)) for i, todo in enumerate(self.params["todos"])]
        with device.database(DATABASE) as db:
            db.executemany(
                f"INSERT INTO tasks({_COLUMNS}, created, modified, remoteId) VALUES (?,?,?,?,?,?,?,?)", rows
            )

    def evaluate(self, device: Device, answer: str | None) -> float:
        with device.database(DATABASE) as db:
            rows = db.execute(f"SELECT {_COLUMNS} FROM tasks WHERE deleted = 0").fetchall()
        return float(Counter(map(_seen, rows)) == Counter(map(_seen, self.expected())))

    def expected(self) -> list[Todo]:
        """What the list has to hold in the end, and nothing else."""
        return self.params["todos"]


class TasksAddTask(TodoTask):
    """A new task, some with a due date or a priority."""

    budget = 16
    DUE = {"": 0, "due today": due_on(TODAY), "due tomorrow": due_on(TODAY + timedelta(days=1))}
    PRIORITY = {"": LOW, "with high priority": 0, "with medium priority": 1}
    template = "Add this task to the Tasks app: {title}"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        (title, *_), *rest = todos(rng, rng.randint(2, 6))
        extra = rng.choice(["", *cls.DUE, *cls.PRIORITY])
        return {"title": title, "extra": extra, "todos": rest}

    @property
    def goal(self) -> str:
        extra = self.params["extra"]
        return super().goal + (f", {extra}." if extra else ".")

    def expected(self) -> list[Todo]:
        extra = self.params["extra"]
        new = [self.params["title"], self.PRIORITY.get(extra, LOW), self.DUE.get(extra, 0), 0, ""]
        return [*self.params["todos"], new]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        others = sorted({*self.DUE, *self.PRIORITY} - {self.params["extra"]})
        return {**self.params, "extra": rng.choice(others)}


class TasksCompleteTask(TodoTask):
    """One of several tasks ticked off."""

    template = "Mark the task {title} as completed."
    budget = 6

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        drawn = todos(rng, rng.randint(3, 7))
        return {"title": rng.choice(drawn)[0], "todos": drawn}

    def expected(self) -> list[Todo]:
        """The one that the goal names is done."""
        return [[*t[:3], 1 if t[0] == self.params["title"] else 0, t[4]] for t in self.params["todos"]]

    def others(self) -> list[str]:
        """Titles that the goal does not name."""
        return [todo[0] for todo in self.params["todos"] if todo[0] != self.params["title"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "title": rng.choice(self.others())}


class TasksDeleteTask(TasksCompleteTask):
    """One of several tasks removed."""

    template = "Delete the task {title}."
    budget = 10

    def expected(self) -> list[Todo]:
        return [todo for todo in self.params["todos"] if todo[0] != self.params["title"]]


TASKS: tuple[type[Task], ...] = (
    TasksAddTask,
    TasksCompleteTask,
    TasksDeleteTask,
)
