"""Small pictures of running apps, for the overview."""

from __future__ import annotations

import copy

import numpy as np
from PIL import Image

from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.sql import DAMAGED
from coach_gym.envs.phone.system import bars
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.layout import Layout
from coach_gym.envs.phone.toolkit.paint import Painter, commands
from coach_gym.envs.phone.toolkit.widgets import Column


def shape(phone: Host) -> tuple[int, int]:
    """Returns width and height in pixels of the part of the screen that is an app's."""
    return phone.width, phone.height - round((bars.STATUS_HEIGHT + bars.NAVIGATION_HEIGHT) * phone.density)


def thumbnail(phone: Host, package: str, width: int) -> np.ndarray:
    """Draws the page that a running app was left at, without dialogs: H x `width` x 3 uint8.

    It is blank if the app's data has been damaged meanwhile.
    """
    page = next(screen for screen in reversed(phone.stacks[package]) if not screen.dialog)
    try:
        view = page.build()
    except DAMAGED:
        view = Column([])
    view.flex = 1
    rect = (0, 0, *shape(phone))
    layout = Layout(phone.density, copy.deepcopy(page.scrolls))
    drawing = commands(layout.run(Column([view], bg=theme.SURFACE), rect), layout, rect)
    dark = phone.storage.settings.get(("secure", "ui_night_mode")) == "2"
    frame = Image.fromarray(Painter(*rect[2:]).show(drawing, dark))
    return np.asarray(frame.resize((width, round(width * rect[3] / rect[2])), Image.Resampling.BOX))
