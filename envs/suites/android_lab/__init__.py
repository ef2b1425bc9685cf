"""AndroidLab's kind of task, operation and query: our own families, one module an app."""

from coach_gym.envs.suites.android_lab import (
    bluecoins,
    calendar,
    cantook,
    clock,
    contacts,
    files,
    mapsme,
    markor,
    pimusic,
    settings,
    zoom,
)
from coach_gym.envs.suites.task import Task

TASKS: tuple[type[Task], ...] = (
    *calendar.TASKS,
    *clock.TASKS,
    *contacts.TASKS,
    *files.TASKS,
    *markor.TASKS,
    *settings.TASKS,
    *zoom.TASKS,
    *bluecoins.TASKS,
    *pimusic.TASKS,
    *cantook.TASKS,
    *mapsme.TASKS,
)
