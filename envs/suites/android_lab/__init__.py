"""AndroidLab's kind of task, operation and query: our own families, one module an app."""

from coach_gym.envs.suites.android_lab import (
    contacts,
)
from coach_gym.envs.suites.task import Task

TASKS: tuple[type[Task], ...] = (
    *contacts.TASKS,
)
