"""AndroidWorld's kind of task: our own families, one module an app."""

from coach_gym.envs.suites.android_world import (
    calendar,
    camera,
    clock,
    contacts,
    expense,
    files,
    markor,
    messages,
    notes,
    recipes,
    sports,
    system,
    tasks,
)
from coach_gym.envs.suites.task import Task

TASKS: tuple[type[Task], ...] = (
    *calendar.TASKS,
    *camera.TASKS,
    *clock.TASKS,
    *contacts.TASKS,
    *expense.TASKS,
    *files.TASKS,
    *markor.TASKS,
    *messages.TASKS,
    *notes.TASKS,
    *recipes.TASKS,
    *sports.TASKS,
    *system.TASKS,
    *tasks.TASKS,
)
