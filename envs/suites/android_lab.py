"""The built-in suite modelled on AndroidLab, operations and queries: its families, from the apps' folders."""

from coach_gym.envs.apps.bluecoins import lab_tasks as bluecoins
from coach_gym.envs.apps.calendario import lab_tasks as calendar
from coach_gym.envs.apps.cantook import lab_tasks as cantook
from coach_gym.envs.apps.clock import lab_tasks as clock
from coach_gym.envs.apps.contacts import lab_tasks as contacts
from coach_gym.envs.apps.files import lab_tasks as files
from coach_gym.envs.apps.mapsme import lab_tasks as mapsme
from coach_gym.envs.apps.markor import lab_tasks as markor
from coach_gym.envs.apps.pimusic import lab_tasks as pimusic
from coach_gym.envs.apps.settings import lab_tasks as settings
from coach_gym.envs.apps.zoom import lab_tasks as zoom
from coach_gym.envs.profiles import ANDROID_LAB
from coach_gym.envs.suites.apart import keep_apart
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.task import Task

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
"""In an order that seeds depend on: new families go to the end."""


def android_lab() -> Suite:
    """Returns our own families modelled on AndroidLab's, on AndroidLab's phone."""
    families = {task.name: task for task in TASKS}
    return Suite("android_lab", "builtin", families, ANDROID_LAB, apart=keep_apart(TASKS))
