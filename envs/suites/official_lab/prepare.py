"""What the embedded phone holds before a task: what AndroidLab's image holds, as its judges and goals imply it.

Data that all tasks share is made by the apps when they are installed. Here stands what differs from task to
task: an event that is to be edited, a city that is to be removed.
"""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.suites.official_lab import prepare_bluecoins

PREPARED: dict[str, Callable[[Phone], None]] = {}
"""By task id; the phone was just reset, its clock stands at the benchmark's date, and the app is not open yet."""

APPS: dict[str, Callable[[Phone], None]] = {
    "bluecoins": prepare_bluecoins.prepare,
}
"""What all tasks of an app start from, by the first part of their ids."""


def prepare(phone: Phone, task: str) -> None:
    """Brings a phone that was just reset into the initial state of a task."""
    app = task.partition("_")[0]
    if app in APPS:
        APPS[app](phone)
    if task in PREPARED:
        PREPARED[task](phone)
    phone.changed()
