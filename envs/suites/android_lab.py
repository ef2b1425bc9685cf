"""AndroidLab's kind of task, operation and query: our own families, one module an app."""

from coach_gym.envs.apps.bluecoins import lab_tasks as bluecoins
from coach_gym.envs.apps.calendar import lab_tasks as calendar
from coach_gym.envs.apps.cantook import lab_tasks as cantook
from coach_gym.envs.apps.clock import lab_tasks as clock
from coach_gym.envs.apps.contacts import lab_tasks as contacts
from coach_gym.envs.apps.files import lab_tasks as files
from coach_gym.envs.apps.mapsme import lab_tasks as mapsme
from coach_gym.envs.apps.markor import lab_tasks as markor
from coach_gym.envs.apps.pimusic import lab_tasks as pimusic
from coach_gym.envs.apps.settings import lab_tasks as settings
from coach_gym.envs.apps.zoom import lab_tasks as zoom
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
