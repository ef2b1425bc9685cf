"""Families of Chrome: something to do on a web page in the downloads."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from coach_gym.envs.apps.chrome import task_pages
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.reading import shown
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, slugs

PACKAGE = "com.android.chrome"
DOWNLOADS = "/sdcard/Download"
COLORS = (
    "#ff0000", "#00ff00", "#0000ff", "#ffff00", "#ff00ff", "#00ffff", "#800000", "#008000", "#000080", "#808000",
    "#800080", "#008080", "#ffa500", "#ff1493", "#9932cc", "#20b2aa", "#4b0082", "#00ff7f", "#d2691e", "#708090",
    "#f0e68c", "#a0522d", "#ff8080", "#6495ed",
)  # fmt: skip


class BrowserTask(Task):
    """A page that says "Success!" once its puzzle is solved."""

    apps: ClassVar[tuple[str, ...]] = ("Files", "Chrome")
    difficulty = "medium"
    preamble = "In the Files app, open {name} among the downloads with Chrome. "

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws names of files and a puzzle."""
        name, *others = (f"{slug}.html" for slug in slugs(rng, rng.randint(1, 3)))
        return {"name": name, "others": others, **cls.puzzle(rng)}

    @classmethod
    @abstractmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the random parameters of the page."""

    @abstractmethod
    def page(self) -> bytes:
        """Returns the page as a file."""

    def setup(self, device: Device) -> None:
        """Writes the page and some others to the downloads."""
        device.write(f"{DOWNLOADS}/{self.params['name']}", self.page())
        for name in self.params["others"]:
            device.write(f"{DOWNLOADS}/{name}", b"<html><body><h1>Notes</h1><p>Nothing to do here.</p></body></html>")

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires Chrome in front, showing success."""
        return float(page_says(device, "Success!"))


def page_says(device: Device, text: str) -> bool:
    """Returns whether Chrome is in front and shows a page with a text; what is typed does not count."""
    if device.foreground != PACKAGE:
        return False
    pages = (node for node in device.ui().walk() if node.cls.endswith("WebView"))
    return any(text in (node.text, node.desc) for page in pages for node in shown(page))


class BrowserMaze(BrowserTask):
    """A maze with four buttons."""

    template = BrowserTask.preamble + "Then bring the X to the green cell at the lower right, with the buttons."
    budget = 34

    @classmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a maze of three to five cells a side."""
        return {"grid": maze(rng, rng.randint(3, 5))}

    def page(self) -> bytes:
        """Writes the maze's page."""
        return task_pages.maze(self.params["grid"])


def maze(rng: ParamRng, size: int) -> list[str]:
    """Draws a square maze with a way from the first cell to the last, as rows of `#`, `.` and `G`."""
    way = [(0, 0)]
    while way[-1] != (size - 1, size - 1):
        row, column = way[-1]
        down = column == size - 1 or (row < size - 1 and rng.random() < 0.5)
        way.append((row + 1, column) if down else (row, column + 1))
    free = {*way, *((rng.randrange(size), rng.randrange(size)) for _ in range(size))}
    grid = [["." if (row, column) in free else "#" for column in range(size)] for row in range(size)]
    grid[-1][-1] = "G"
    return ["".join(row) for row in grid]


class BrowserMultiply(BrowserTask):
    """Numbers that are shown one after the other."""

    template = BrowserTask.preamble + (
        "Then remember the {count} numbers that it shows one after the other, and enter their product."
    )
    budget = 26

    @classmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to five numbers from 1 to 9."""
        numbers = [rng.randint(1, 9) for _ in range(rng.randint(3, 5))]
        return {"numbers": numbers, "count": str(len(numbers))}

    def page(self) -> bytes:
        """Writes the numbers' page."""
        return task_pages.product(self.params["numbers"])


class BrowserDraw(BrowserTask):
    """A canvas on which some colours are wanted."""

    template = BrowserTask.preamble + "Then draw lines in all the colors shown at its top, and hand the drawing in."
    budget = 28

    @classmethod
    def puzzle(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws an order of the colours, and two or three to draw with."""
        palette = rng.sample(COLORS, len(COLORS))
        return {"palette": palette, "wanted": rng.sample(palette, rng.randint(2, 3))}

    def page(self) -> bytes:
        """Writes the drawing's page."""
        return task_pages.drawing(self.params["wanted"], self.params["palette"])


TASKS: tuple[type[Task], ...] = (BrowserDraw, BrowserMaze, BrowserMultiply)
