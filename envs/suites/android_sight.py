"""The built-in suite of tasks that must be looked at: our own families, modelled on no benchmark's."""

from coach_gym.envs.apps.chrome import sight_tasks as browser
from coach_gym.envs.apps.clock import sight_tasks as clock
from coach_gym.envs.apps.draw import sight_tasks as draw
from coach_gym.envs.apps.files import sight_tasks as files
from coach_gym.envs.apps.gallery import sight_tasks as gallery
from coach_gym.envs.apps.markor import sight_tasks as markor
from coach_gym.envs.apps.messages import sight_tasks as messages
from coach_gym.envs.apps.osmand import sight_tasks as maps
from coach_gym.envs.apps.settings import sight_tasks as system
from coach_gym.envs.apps.vlc import sight_tasks as vlc
from coach_gym.envs.profiles import ANDROID_WORLD
from coach_gym.envs.suites.apart import keep_apart
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.sight import SightTask

TASKS: tuple[type[SightTask], ...] = (
    *browser.TASKS,
    *clock.TASKS,
    *draw.TASKS,
    *files.TASKS,
    *gallery.TASKS,
    *markor.TASKS,
    *messages.TASKS,
    *maps.TASKS,
    *system.TASKS,
    *vlc.TASKS,
)
"""In an order that seeds depend on: new families go to the end."""


def android_sight() -> Suite:
    """Returns the families whose answers stand only in the pixels, on AndroidWorld's phone.

    They are our own: a success rate on them is no AndroidWorld score.
    """
    families = {task.name: task for task in TASKS}
    return Suite("android_sight", "builtin", families, ANDROID_WORLD, apart=keep_apart(TASKS))
