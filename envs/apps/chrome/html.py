"""Reading web pages without a script engine: their text, and what the scripts of known kinds of pages would do.

Three kinds of pages are known by the constants in their scripts: a maze, a product of numbers to remember, and a
canvas to draw on in given colours. Constants are written out (``const GRID = [...]``) or drawn from a seeded
generator, as AndroidWorld's pages do it. Anything else is a text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from coach_gym.envs.phone.toolkit.view import TextInput

SUCCESS = "Success!"
WALL, FREE, GOAL = "#", ".", "G"
DESKTOP_WIDTH = 980  # css pixels of a page that does not ask for the width of the device
_COLOR = re.compile(r"#[0-9a-f]{6}")
Stroke = tuple[str, tuple[float, float], tuple[float, float]]
"""A colour, and where a line starts and ends, as 0…1 of the canvas."""


@dataclass
class Page:
    """What all pages have: a title, and whether they fit themselves to the width of a phone."""

    title: str
    mobile: bool


@dataclass
class Article(Page):
    """A text: its blocks as (tag, text)."""

    blocks: list[tuple[str, str]]


@dataclass
class Maze(Page):
    """A grid of walls and ways; the buttons move an X from its first cell to the goal in its last."""

    grid: list[str]
    side: int  # of a cell, in css pixels
    font: int  # of the buttons, in css pixels
    row: int = 0
    column: int = 0

    @property
    def solved(self) -> bool:
        return self.grid[self.row][self.column] == GOAL

    def move(self, down: int, right: int) -> None:
        """Moves the X by one cell, unless a wall or the edge is there."""
        row, column = self.row + down, self.column + right
        inside = 0 <= row < len(self.grid) and 0 <= column < len(self.grid[row])
        if inside and self.grid[row][column] != WALL:
            self.row, self.column = row, column


@dataclass
class Product(Page):
    """Numbers shown one after the other; after the last one their product is asked for."""

    numbers: list[int]
    button: str
    hint: str
    submit: str
    clicks: int = 0
    answer: TextInput = field(default_factory=TextInput)
    solved: bool = False

    @property
    def number(self) -> int | None:
        """What is shown; None once the question is."""
        return self.numbers[self.clicks] if self.clicks < len(self.numbers) else None

    def click(self) -> None:
        self.clicks += 1

    def check(self) -> None:
        """Compares the whole number that the answer starts with."""
        product = 1
        for number in self.numbers:
            product *= number
        given = re.match(r"\s*[+-]?\d{1,30}(?!\d)", self.answer.text)
        self.solved = given is not None and int(given[0]) == product


@dataclass
class Drawing(Page):
    """A canvas, the colours to draw with, and those that must be on it."""

    wanted: list[str]
    palette: list[str]
    heading: str
    buttons: tuple[str, str]
    width: int  # of a line, in css pixels
    color: str = "#000000"
    strokes: tuple[Stroke, ...] = ()
    solved: bool = False


def read(data: bytes) -> Page:
    """The page that a file of HTML describes."""
    source = _Source()
    source.feed(data.decode("utf-8", "replace"))
    source.close()
    try:
        return _maze(source) or _product(source) or _drawing(source) or _article(source)
    except (ValueError, IndexError, TypeError):  # constants that are not what their names say
        return _article(source)


def _article(source: _Source) -> Article:
    return Article(*source.head, source.blocks)


# the kinds of pages


def _maze(source: _Source) -> Maze | None:
    grid = _constant(source.script, "GRID")
    size = _number(source.script, r"mazeSize = (\d{1,2})")
    if grid is None and size is not None:
        grid = _generated_maze(_random(source.script), size)
    if grid is None:
        return None
    rows = [str(row) for row in grid]
    if not rows or any(set(row) - {WALL, FREE, GOAL} for row in rows) or rows[0][0] == WALL:
        raise ValueError("that is no maze")
    side = _number(source.style, r"(?:td|\.cell) \{\s{0,9}width: (\d{1,3})px") or 50
    return Maze(*source.head, rows, side, _number(source.style, r"button \{[^}]{0,200}font-size: (\d{1,3})px") or 16)


def _generated_maze(rng: _Random, size: int) -> list[str]:
    """A way from the first cell to the last, found depth first, and all that was seen on the way there."""
    grid = [[WALL] * size for _ in range(size)]
    stack, ways = [(0, 0)], [(-1, 0), (1, 0), (0, -1), (0, 1)]
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


def _product(source: _Source) -> Product | None:
    numbers = _constant(source.script, "NUMBERS")
    count = _number(source.script, r"clickCount < (\d{1,2})")
    highest = _number(source.script, r"random\(\) \* (\d{1,4})\) \+ 1")
    if numbers is None and count is not None and highest is not None:
        rng = _random(source.script)
        numbers = [rng.below(highest) + 1 for _ in range(count)]
    if numbers is None:
        return None
    button, submit = source.labels("button")[:2]
    return Product(*source.head, [int(number) for number in numbers], button, source.hint, submit)


def _drawing(source: _Source) -> Drawing | None:
    wanted, palette = _constant(source.script, "WANTED"), _constant(source.script, "PALETTE")
    count = _number(source.script, r"generateRandomColors\((\d{1,2})\)")
    listed = re.search(r"availableColors = \[([^\]]{0,2000})\]", source.script)
    if wanted is None and count is not None and listed is not None:
        palette = _COLOR.findall(listed[1])
        rng, left = _random(source.script), list(palette)
        wanted = [left.pop(rng.below(len(left))) for _ in range(min(count, len(left)))]
    if wanted is None or palette is None:
        return None
    if any(_COLOR.fullmatch(str(color)) is None for color in (*wanted, *palette)):
        raise ValueError("those are no colours")
    clear, submit = source.labels("button")[:2]
    heading = source.labels("p")[0]
    width = _number(source.script, r"lineWidth = (\d{1,2});") or 1
    return Drawing(*source.head, wanted, palette, heading, (clear, submit), width)


# the constants of scripts


def _constant(script: str, name: str) -> list[Any] | None:
    """A list that a script writes out, in JSON's notation."""
    found = re.search(rf"const {name} = (\[[^;]{{0,4000}}\]);", script)
    if found is None:
        return None
    value = json.loads(found[1])
    return value if isinstance(value, list) else None


def _number(script: str, pattern: str) -> int | None:
    found = re.search(pattern, script)
    return int(found[1]) if found else None


class _Random:
    """A linear congruential generator, as such scripts write it."""

    def __init__(self, seed: int, factor: int, step: int, modulus: int) -> None:
        self.seed, self.factor, self.step, self.modulus = seed, factor, step, modulus

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        self.seed = (self.factor * self.seed + self.step) % self.modulus
        return int(self.seed / self.modulus * limit)

    def shuffle(self, items: list) -> None:
        """Brings a list into a random order, from its end on."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def _random(script: str) -> _Random:
    seed = _number(script, r"new SeededRNG\((\d{1,10})\)")
    factor, step = _number(script, r"const a = (\d{1,10});"), _number(script, r"const c = (\d{1,10});")
    bits = _number(script, r"const m = 2 \*\* (\d{1,2});")
    if seed is None or factor is None or step is None or bits is None:
        raise ValueError("the script's generator is not known")
    return _Random(seed, factor, step, 2**bits)


class _Source(HTMLParser):
    """A file of HTML taken apart.

    Attributes:
        title: as the tab shows it.
        script, style: all scripts, all style sheets.
        hint: the placeholder of the last input.
        mobile: whether the page fits itself to the device's width.
        blocks: the visible text as (tag, text), block by block.
    """

    BLOCKS = ("p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "br", "body", "button")
    HIDDEN = ("script", "style", "title")

    def __init__(self) -> None:
        super().__init__()
        self.title = self.script = self.style = self.hint = ""
        self.mobile = False
        self.blocks: list[tuple[str, str]] = []
        self._tag, self._words, self._hidden = "div", "", ""

    @property
    def head(self) -> tuple[str, bool]:
        return " ".join(self.title.split()), self.mobile

    def labels(self, tag: str) -> list[str]:
        """The texts of all elements of a tag."""
        return [text for known, text in self.blocks if known == tag]

    def close(self) -> None:
        super().close()
        self._end("div")

    def _end(self, tag: str) -> None:
        text = " ".join(self._words.split())
        if text:
            self.blocks.append((self._tag, text))
        self._tag, self._words = tag, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in self.HIDDEN:
            self._hidden = tag
        elif tag in self.BLOCKS:
            self._end(tag)
        elif tag == "input":
            self.hint = values.get("placeholder") or ""
        elif tag == "meta" and "width=device-width" in (values.get("content") or ""):
            self.mobile = True

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""
        elif tag in self.BLOCKS:
            self._end("div")

    def handle_data(self, data: str) -> None:
        if self._hidden == "script":
            self.script += data
        elif self._hidden == "style":
            self.style += data
        elif self._hidden == "title":
            self.title += data
        elif not self._hidden:
            self._words += data
