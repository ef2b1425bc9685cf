"""AndroidWorld's kind of task: our own families, one module an app."""

from coach_gym.envs.suites.android_world import (
    calendar,
    camera,
    clock,
    contacts,
    draw,
    expense,
    files,
    gallery,
    markor,
    messages,
    notes,
    recipes,
    recorder,
    retro,
    sports,
    system,
    tasks,
    vlc,
)
from coach_gym.envs.suites.task import Task

TASKS: tuple[type[Task], ...] = (
    *calendar.TASKS,
    *camera.TASKS,
    *clock.TASKS,
    *contacts.TASKS,
    *draw.TASKS,
    *expense.TASKS,
    *files.TASKS,
    *gallery.TASKS,
    *markor.TASKS,
    *messages.TASKS,
    *notes.TASKS,
    *recipes.TASKS,
    *recorder.TASKS,
    *retro.TASKS,
    *sports.TASKS,
    *system.TASKS,
    *tasks.TASKS,
    *vlc.TASKS,
)
