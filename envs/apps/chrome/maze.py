"""A maze on a web page: four buttons move an X from the first cell to the goal in the last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from coach_gym.envs.apps.chrome.html import Document
from coach_gym.envs.apps.chrome.page import SUCCESS, Page, block, button
from coach_gym.envs.apps.chrome.script import SeededRandom, constant, number
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Row

WALL, FREE, GOAL = "#", ".", "G"
COLORS = {WALL: "#000000", FREE: "#ffffff", GOAL: "#008000"}
MOVES = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}


@dataclass
class Maze(Page):
    """A grid of walls and ways, and the X in it.

    Attributes:
        grid: Rows of `WALL`, `FREE` and `GOAL`.
        side: Side of a cell.
        font: Size of the buttons' texts.
        row: Where the X is.
        column: Where the X is.
    """

    grid: list[str]
    side: int
    font: int
    row: int = 0
    column: int = 0

    @classmethod
    def read(cls, document: Document) -> Maze | None:
        """Returns the maze that a script draws: from `GRID`, or as AndroidWorld's page generates it."""
        grid = constant(document.script, "GRID")
        size = number(document.script, r"mazeSize = (\d{1,2})")
        if grid is None and size is not None:
            grid = _generated(SeededRandom(document.script), size)
        if grid is None:
            return None
        rows = [str(row) for row in grid]
        if not rows or any(set(row) - COLORS.keys() for row in rows) or rows[0][0] == WALL:
            raise ValueError("this is not a maze")
        side = number(document.style, r"(?:td|\.cell) \{\s{0,9}width: (\d{1,3})px") or 50
        font = number(document.style, r"button \{[^}]{0,200}font-size: (\d{1,3})px") or 16
        return cls(document.title, document.mobile, rows, side, font)

    @property
    def solved(self) -> bool:
        """Whether the X has reached the goal."""
        return self.grid[self.row][self.column] == GOAL

    def move(self, down: int, right: int) -> None:
        """Moves the X by one cell, unless a wall or the edge is there."""
        row, column = self.row + down, self.column + right
        inside = 0 <= row < len(self.grid) and 0 <= column < len(self.grid[row])
        if inside and self.grid[row][column] != WALL:
            self.row, self.column = row, column

    def views(self, scale: float) -> list[View]:
        """Shows the grid with the X in it and four buttons, or that the goal was reached."""
        if self.solved:
            return [block("h1", SUCCESS, scale)]
        rows = [
            Row([self._cell(row, column, kind, scale) for column, kind in enumerate(cells)])
            for row, cells in enumerate(self.grid)
        ]
        pad = self.font, self.font / 2
        buttons = [button(name, partial(self.move, *way), scale, self.font, pad) for name, way in MOVES.items()]
        return [*rows, Row(buttons, gap=5 * scale, pad=(0, 10 * scale, 0, 0))]

    def _cell(self, row: int, column: int, kind: str, scale: float) -> View:
        side, here = (self.side + 2) * scale, (row, column) == (self.row, self.column)
        return View(
            "android.widget.TextView", text="X" if here else "", size=side / 2, align="center", width=side,
            height=side, bg=COLORS[kind], border="#000000",
        )  # fmt: skip


def _generated(rng: SeededRandom, size: int) -> list[str]:
    """Digs depth first from the first cell to the last, as AndroidWorld's page does."""
    grid = [[WALL] * size for _ in range(size)]
    stack, ways = [(0, 0)], list(MOVES.values())
    while stack:
        row, column = stack.pop()
        grid[row][column] = FREE
        if (row, column) == (size - 1, size - 1):
            break
        rng.shuffle(ways)
        for down, right in ways:
            r, c = row + down, column + right
            if 0 <= r < size and 0 <= c < size and grid[r][c] == WALL:
                stack.append((r, c))
    grid[-1][-1] = GOAL
    return ["".join(row) for row in grid]
