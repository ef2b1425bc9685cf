"""The picture of the embedded phone's apps in README.

    python -m benchmarks.figures.apps docs/images/apps.png
"""

from __future__ import annotations

import sys

import gymnasium as gym
from PIL import Image, ImageOps

APPS = {
    "SystemWifiTurnOn": "", "SimpleCalendarAddOneEvent": "Simple Calendar Pro", "ContactsFavorite": "Contacts",
    "RecipeDeleteSingleRecipe": "Broccoli", "ExpenseDeleteSingle": "Pro Expense", "MarkorAddNoteHeader": "Markor",
    "SportsTrackerActivitiesOnDate": "OpenTracks", "OsmAndFavorite": "OsmAnd", "RetroCreatePlaylist": "Retro Music",
    "SimpleSmsReply": "Simple SMS Messenger", "TasksCompleteTask": "Tasks", "SystemBrightnessMax": "Settings",
    "FilesDeleteFile": "Files", "VlcCreatePlaylist": "VLC", "ClockTimerEntry": "Clock", "CameraTakePhoto": "Camera",
}  # fmt: skip
"""Families whose instances fill an app, and the app; the first shows the launcher."""
WIDTH, HEIGHT, GAP, COLUMNS = 200, 444, 10, 8


def screen(family: str, app: str) -> Image.Image:
    """Returns an app's first screen on the phone of a task."""
    env = gym.make(f"coach_gym:AndroidWorld/{family}-v0", screen_size=(270, 600))
    observation, _ = env.reset(seed=1)
    if app:
        observation, *_ = env.step(f"open_app(app_name='{app}')")
    env.close()
    shown = Image.fromarray(observation["screenshot"]).resize((WIDTH - 2, HEIGHT - 2), Image.Resampling.LANCZOS)
    return ImageOps.expand(shown, 1, "#bdc1c6")


def grid(screens: list[Image.Image]) -> Image.Image:
    """Returns the screens in rows, with transparent gaps, which suit light and dark pages."""
    rows = -(-len(screens) // COLUMNS)
    page = Image.new("RGBA", (COLUMNS * (WIDTH + GAP) - GAP, rows * (HEIGHT + GAP) - GAP))
    for number, shown in enumerate(screens):
        row, column = divmod(number, COLUMNS)
        page.paste(shown, (column * (WIDTH + GAP), row * (HEIGHT + GAP)))
    return page


if __name__ == "__main__":
    grid([screen(*each) for each in APPS.items()]).save(sys.argv[1], optimize=True)
