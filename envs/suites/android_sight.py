"""The built-in suite of tasks that must be looked at: our own families, modelled on no benchmark's."""

from coach_gym.envs.apps.gallery import sight_tasks as gallery
from coach_gym.envs.profiles import ANDROID_WORLD
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.sight import SightTask

TASKS: tuple[type[SightTask], ...] = (
    *gallery.TASKS,
)
"""In an order that seeds depend on: new families go to the end."""


def android_sight() -> Suite:
    """Returns the families whose answers stand only in the pixels, on AndroidWorld's phone.

    They are our own: a success rate on them is no AndroidWorld score.
    """
    return Suite("android_sight", "builtin", {task.name: task for task in TASKS}, ANDROID_WORLD)
