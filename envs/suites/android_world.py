"""The built-in suite modelled on AndroidWorld: its families, from the apps' folders."""

from coach_gym.envs.apps.calendar import world_tasks as calendar
from coach_gym.envs.apps.camera import world_tasks as camera
from coach_gym.envs.apps.chrome import world_tasks as browser
from coach_gym.envs.apps.clock import world_tasks as clock
from coach_gym.envs.apps.contacts import world_tasks as contacts
from coach_gym.envs.apps.draw import world_tasks as draw
from coach_gym.envs.apps.expense import world_tasks as expense
from coach_gym.envs.apps.files import world_tasks as files
from coach_gym.envs.apps.gallery import world_tasks as gallery
from coach_gym.envs.apps.joplin import world_tasks as notes
from coach_gym.envs.apps.markor import from_notes_tasks as from_notes
from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.messages import world_tasks as messages
from coach_gym.envs.apps.opentracks import world_tasks as sports
from coach_gym.envs.apps.osmand import world_tasks as maps
from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.apps.recorder import world_tasks as recorder
from coach_gym.envs.apps.retro import world_tasks as retro
from coach_gym.envs.apps.settings import world_tasks as system
from coach_gym.envs.apps.tasks import world_tasks as tasks
from coach_gym.envs.apps.vlc import world_tasks as vlc
from coach_gym.envs.profiles import ANDROID_WORLD
from coach_gym.envs.suites.apart import keep_apart
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.task import Task

TASKS: tuple[type[Task], ...] = (
    *browser.TASKS,
    *calendar.TASKS,
    *camera.TASKS,
    *clock.TASKS,
    *contacts.TASKS,
    *draw.TASKS,
    *expense.TASKS,
    *files.TASKS,
    *from_notes.TASKS,
    *gallery.TASKS,
    *maps.TASKS,
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
"""In an order that seeds depend on: new families go to the end."""


def android_world() -> Suite:
    """Returns our own families modelled on AndroidWorld's, on AndroidWorld's phone."""
    families = {task.name: task for task in TASKS}
    return Suite("android_world", "builtin", families, ANDROID_WORLD, apart=keep_apart(TASKS))
