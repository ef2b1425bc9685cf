"""Families of the Tasks app."""

from __future__ import annotations

import random
import sqlite3
from datetime import date, timedelta
from typing import Any

from coach_gym.envs.apps.tasks.data import DATABASE, LOW, PRIORITIES, due_on
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import same_items, same_number
from coach_gym.envs.tasks.records import RecordsTask, another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Todo = list  # [title, importance, due in ms or 0, completed in ms or 0, notes]: JSON
TODAY = date(2023, 10, 15)  # a Sunday
CREATED = due_on(date(2023, 10, 1))
DAY_MS = 86_400_000
_YESTERDAY = due_on(TODAY - timedelta(days=1))  # when all was done that is done
_COLUMNS = "title, importance, dueDate, completed, notes"


def todos(rng: ParamRng, count: int) -> list[Todo]:
    """Returns unfinished tasks that share no title."""
    return [[title, rng.choice([0, 1, 2, 2, 3]), _due(rng), 0, ""] for title in words.TODOS.draw_many(rng, count)]


def _due(rng: ParamRng) -> int:
    return due_on(TODAY + timedelta(days=rng.randint(-3, 14))) if rng.random() < 0.6 else 0


class TodoTask(RecordsTask):
    """A task on a list that holds `params["todos"]` at the start."""

    apps = ("Tasks",)
    database = DATABASE
    given = "todos"

    def store(self, device: Device, db: sqlite3.Connection) -> None:
        """Adds the tasks of the start."""
        rows = [(*todo, CREATED, CREATED, str(i)) for i, todo in enumerate(self.params["todos"])]
        db.executemany(f"INSERT INTO tasks({_COLUMNS}, created, modified, remoteId) VALUES (?,?,?,?,?,?,?,?)", rows)

    def stored(self, db: sqlite3.Connection) -> list[tuple]:
        """Returns the tasks that are not deleted."""
        return db.execute(f"SELECT {_COLUMNS} FROM tasks WHERE deleted = 0").fetchall()

    def seen(self, record: Any) -> tuple:
        """Compares the day on which a task is due, not the time, and whether it is done, not when."""
        title, importance, due, completed, notes = record
        return title, importance, due // DAY_MS, completed > 0, notes or ""


class TasksAddTask(TodoTask):
    """A new task, some with a due date or a priority."""

    budget = 16
    DUE = {"": 0, "due today": due_on(TODAY), "due tomorrow": due_on(TODAY + timedelta(days=1))}
    PRIORITY = {"": LOW, "with high priority": 0, "with medium priority": 1}
    template = "Add this task to the Tasks app: {title}"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the new task, what is special about it, and two to six others."""
        (title, *_), *rest = todos(rng, rng.randint(2, 6))
        extra = rng.choice(["", *cls.DUE, *cls.PRIORITY])
        return {"title": title, "extra": extra, "todos": rest}

    @property
    def goal(self) -> str:
        """The template with the due date or the priority."""
        extra = self.params["extra"]
        return super().goal + (f", {extra}." if extra else ".")

    def expected(self) -> list[Todo]:
        """Returns the old tasks and the new one."""
        extra = self.params["extra"]
        new = [self.params["title"], self.PRIORITY.get(extra, LOW), self.DUE.get(extra, 0), 0, ""]
        return [*self.params["todos"], new]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another due date or priority."""
        others = sorted({*self.DUE, *self.PRIORITY} - {self.params["extra"]})
        return {**self.params, "extra": rng.choice(others)}


class TasksCompleteTask(TodoTask):
    """One of several tasks completed."""

    template = "Mark the task {title} as completed."
    budget = 6

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to seven tasks and picks one."""
        drawn = todos(rng, rng.randint(3, 7))
        return {"title": rng.choice(drawn)[0], "todos": drawn}

    def expected(self) -> list[Todo]:
        """Returns the tasks, the one that the goal names completed and the others not."""
        return [[*t[:3], 1 if t[0] == self.params["title"] else 0, t[4]] for t in self.params["todos"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another task of the list."""
        return another(rng, self.params, "title", [todo[0] for todo in self.params["todos"]])


class TasksDeleteTask(TasksCompleteTask):
    """One of several tasks deleted."""

    template = "Delete the task {title}."
    budget = 10

    def expected(self) -> list[Todo]:
        """Returns the other tasks."""
        return [todo for todo in self.params["todos"] if todo[0] != self.params["title"]]


class TasksSetPriority(TasksCompleteTask):
    """Another priority for one of several tasks."""

    template = "Change the priority of the task {title} to {priority}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a priority that the task does not have."""
        params = super().sample(rng)
        before = next(todo[1] for todo in params["todos"] if todo[0] == params["title"])
        return {"priority": rng.choice([p for p in PRIORITIES if p != PRIORITIES[before]]).lower(), **params}

    def expected(self) -> list[Todo]:
        """Returns the tasks, one of them with the new priority."""
        new = PRIORITIES.index(self.params["priority"].capitalize())
        return [[t[0], new if t[0] == self.params["title"] else t[1], *t[2:]] for t in self.params["todos"]]


class TasksSetDueDate(TasksCompleteTask):
    """Another day on which one of several tasks is due."""

    template = "Change the due date of the task {title} to {when}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a day on which the task is not due."""
        params = super().sample(rng)
        before = next(todo[2] for todo in params["todos"] if todo[0] == params["title"])
        days = [day for day in range(17) if due_on(TODAY + timedelta(days=day)) != before]
        return {**_day(rng.choice(days)), **params}

    def expected(self) -> list[Todo]:
        """Returns the tasks, one of them with the new due date."""
        new = due_on(date.fromisoformat(self.params["day"]))
        return [[*t[:2], new if t[0] == self.params["title"] else t[2], *t[3:]] for t in self.params["todos"]]


class TasksRenameTask(TasksCompleteTask):
    """Another title for one of several tasks."""

    template = "Rename the task {title} to {new}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a title that no task has."""
        drawn = todos(rng, rng.randint(4, 7))
        return {"new": drawn[0][0], "title": drawn[1][0], "todos": rng.sample(drawn[1:], len(drawn) - 1)}

    def expected(self) -> list[Todo]:
        """Returns the tasks, one of them with the new title."""
        title, new = self.params["title"], self.params["new"]
        return [[new if t[0] == title else t[0], *t[1:]] for t in self.params["todos"]]


def _day(offset: int) -> dict[str, str]:
    """Returns parameters of a day: its date, and its name in goals."""
    day = TODAY + timedelta(days=offset)
    return {"day": day.isoformat(), "when": {0: "today", 1: "tomorrow"}.get(offset) or f"{day:%B %-d}"}


class TodoQuestion(TodoTask):
    """A question that is answered with titles. The list has to stay as it is."""

    kind = "query"
    difficulty = "medium"
    budget = 10

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the titles in the answer; the list must not have changed."""
        right = same_items(answer, (todo[0] for todo in self.asked()))
        return float(right and super().evaluate(device, answer))

    def asked(self) -> list[Todo]:
        """Returns the tasks in the right answer."""
        return [todo for todo in self.params["todos"] if self.fits(todo)]

    def fits(self, todo: Todo) -> bool:
        """Returns whether the goal asks for a task."""
        return self.on_day(todo) and not todo[3]

    def on_day(self, todo: Todo) -> bool:
        """Returns whether a task is due on the day in the parameters."""
        return todo[2] == due_on(date.fromisoformat(self.params["day"]))


class TasksDueOnDate(TodoQuestion):
    """The tasks that are due on a day."""

    template = "Which tasks are due {when}? Answer with their titles, separated by commas."
    more = (3, 8)  # tasks that are likely not in the answer

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a day, one to three tasks that are due on it, and others."""
        when = _day(rng.randint(0, 13))
        due = due_on(date.fromisoformat(when["day"]))
        wanted = rng.randint(1, 3)
        drawn = todos(rng, wanted + rng.randint(*cls.more))
        drawn = [cls.asked_for(todo, due) for todo in drawn[:wanted]] + cls.distracting(rng, drawn[wanted:], due)
        return {**when, "todos": rng.sample(drawn, len(drawn))}

    @classmethod
    def asked_for(cls, todo: Todo, due: int) -> Todo:
        """Returns a task, changed so that it is in the answer."""
        return [*todo[:2], due, *todo[3:]]

    @classmethod
    def distracting(cls, rng: ParamRng, drawn: list[Todo], due: int) -> list[Todo]:
        """Returns tasks, changed so that they are not in the answer."""
        return [todo for todo in drawn if todo[2] != due]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the day after, on which something else is due, or nothing."""
        day = date.fromisoformat(self.params["day"]) + timedelta(days=1)
        return {**self.params, **_day((day - TODAY).days)}


class TasksHighPriorityTasksDueOnDate(TasksDueOnDate):
    """The tasks of high priority that are due on a day."""

    template = "Which tasks with high priority are due {when}? Answer with their titles, separated by commas."

    def fits(self, todo: Todo) -> bool:
        """Returns whether a task of high priority is due on the day and not done."""
        return super().fits(todo) and todo[1] == 0

    @classmethod
    def asked_for(cls, todo: Todo, due: int) -> Todo:
        """Gives a task high priority and the day."""
        return [todo[0], 0, due, *todo[3:]]

    @classmethod
    def distracting(cls, rng: ParamRng, drawn: list[Todo], due: int) -> list[Todo]:
        """Lets a task of lower priority be due on the same day."""
        same_day = [drawn[0][0], rng.choice([1, 2, 3]), due, *drawn[0][3:]]
        return [same_day, *super().distracting(rng, drawn[1:], due)]


class TasksCompletedTasksForDate(TasksDueOnDate):
    """The completed tasks that were due on a day."""

    template = "Which tasks due {when} have I completed? Answer with their titles, separated by commas."
    budget = 14

    def fits(self, todo: Todo) -> bool:
        """Returns whether a task was due on the day and is done."""
        return self.on_day(todo) and todo[3] > 0

    @classmethod
    def asked_for(cls, todo: Todo, due: int) -> Todo:
        """Gives a task the day and completes it."""
        return [*todo[:2], due, _YESTERDAY, todo[4]]

    @classmethod
    def distracting(cls, rng: ParamRng, drawn: list[Todo], due: int) -> list[Todo]:
        """Lets a task that is not done be due on the same day."""
        to_do = [*drawn[0][:2], due, *drawn[0][3:]]
        done = [[*todo[:3], _YESTERDAY if rng.random() < 0.3 else 0, todo[4]] for todo in drawn[1:]]
        return [to_do, *super().distracting(rng, done, due)]


class TasksIncompleteTasksOnDate(TasksDueOnDate):
    """The unfinished tasks that are due on a day."""

    template = "Which tasks due {when} do I still have to do? Answer with their titles, separated by commas."

    @classmethod
    def distracting(cls, rng: ParamRng, drawn: list[Todo], due: int) -> list[Todo]:
        """Lets a task that is done be due on the same day."""
        done = [*drawn[0][:2], due, _YESTERDAY, drawn[0][4]]
        return [done, *super().distracting(rng, drawn[1:], due)]


class TasksHighPriorityTasks(TodoQuestion):
    """The unfinished tasks of high priority."""

    template = "Which of my tasks have high priority? Answer with their titles, separated by commas."

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws four to ten tasks, at least two of them with high priority."""
        drawn = todos(rng, rng.randint(4, 10))
        drawn = [[title, 0 if i < 2 else importance, *rest] for i, (title, importance, *rest) in enumerate(drawn)]
        return {"priority": "high", "todos": rng.sample(drawn, len(drawn))}

    def fits(self, todo: Todo) -> bool:
        """Returns whether a task has high priority."""
        return todo[1] == 0

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns medium priority instead."""
        return {**self.params, "priority": "medium"}


class TasksDueNextWeek(TodoQuestion):
    """The number of tasks that are due in the week that starts tomorrow."""

    template = "How many tasks are due next week, from Monday to Sunday? Answer with a number."

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws five to twelve tasks."""
        return {"from": "2023-10-16", "to": "2023-10-22", "todos": todos(rng, rng.randint(5, 12))}

    def fits(self, todo: Todo) -> bool:
        """Returns whether a task is due between the two days."""
        first, last = (due_on(date.fromisoformat(self.params[end])) for end in ("from", "to"))
        return first <= todo[2] <= last

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the number; the list must not have changed."""
        return float(same_number(answer, len(self.asked())) and TodoTask.evaluate(self, device, answer))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a time in which all dated tasks fall; if they are as many, one without any."""
        dated = sum(todo[2] > 0 for todo in self.params["todos"])
        first = "2023-10-01" if dated != len(self.asked()) else "2023-12-01"
        return {**self.params, "from": first, "to": "2023-12-31"}


TASKS: tuple[type[Task], ...] = (
    TasksAddTask, TasksCompleteTask, TasksDeleteTask, TasksSetPriority, TasksSetDueDate, TasksRenameTask,
    TasksDueOnDate, TasksHighPriorityTasksDueOnDate, TasksCompletedTasksForDate, TasksIncompleteTasksOnDate,
    TasksHighPriorityTasks, TasksDueNextWeek,
)  # fmt: skip
