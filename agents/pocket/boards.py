"""Synthetic screens on which something must be seen: large pictures, grids, lists with small pictures, switches.

Names of elements do not help, or there are none ("Button"). No app and no task of a suite occurs here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.agents.pocket.drawings import COUNTS, GROUNDS, INVENT, PAINTS, SHAPES, Artist, Box, Facts
from coach_gym.agents.pocket.screens import HEIGHT, WIDTH, Phrase

FINE = 2  # times larger while drawing, for smooth edges
SMALL = 22  # pixels: a narrower picture stands in a row of a list, whose line of text is about the whole row
BARE = ("Button", "Button", "Button", "Image", "View")
"""Names of elements that have none."""
PANELS = (*["shapes"] * 4, *["arrow", "bars", "stroke"] * 2, "plain", "clock", "pin", "switch")
"""Kinds of large pictures, some more frequent than others."""
Label = str | Phrase
Several = tuple[str, list[Facts], list[str]]
"""Kind and facts of several things, and what each is called in a goal: nothing if no words tell it from the rest."""


@dataclass
class Thing:
    """An element: what kind of drawing it is, what is true of it, where it is drawn, and its line in the text.

    Elements without a drawing are of no kind.
    """

    kind: str
    facts: Facts
    box: Box
    label: Label
    x: int
    y: int


@dataclass
class Board:
    """A screen.

    Attributes:
        pixels: Its picture, (height, width, 3) uint8.
        things: What may be asked about.
        lines: All elements in the order of the text.
    """

    pixels: np.ndarray
    things: list[Thing]
    lines: list[Thing]


class Boards:
    """A source of random screens.

    Args:
        rng: Source of all randomness.
        label: Makes random labels: a single word if its argument is true.
    """

    def __init__(self, rng: random.Random, label: Callable[[bool], Phrase]) -> None:
        self.random, self.label = rng, label

    def any(self) -> Board:
        """Returns a screen of any kind."""
        draw = self.random.random()
        if draw < 0.6:
            return self.one()
        return self.several(9)[0] if draw < 0.92 else self.switches()[0]

    def one(self) -> Board:
        """Returns a screen with one large picture."""
        kind = self.random.choice(PANELS)
        side = WIDTH * self.random.choice((1.0, 1.0, self.random.uniform(0.6, 1.0)))
        left, top = (WIDTH - side) / 2, (HEIGHT - side) / 2 + self.random.uniform(-20, 20)
        thing = self._thing(kind, INVENT[kind](self.random), Box(left, top, left + side, top + side), self.label(True))
        return self._board([thing], dark=self.random.random() < 0.5)

    def several(self, most: int) -> tuple[Board, list[str]]:
        """Returns a screen with at least two things, and what each is called in a goal."""
        count = self.random.randint(2, most)
        boxes = self._grid(count) if self.random.random() < 0.65 else self._rows(min(count, 7))
        makers = [self._colored, self._signs] if boxes[0].width < SMALL else [
            self._colored, self._signs, self._captioned, self._odd]  # fmt: skip
        kind, facts, calls = self.random.choice(makers)(len(boxes))
        bare = self.random.choice(BARE) if self.random.random() < 0.5 else None
        things = [
            self._thing(kind, fact, box, bare or self.label(False)) for fact, box in zip(facts, boxes, strict=False)
        ]
        return self._board(things), calls

    def switches(self) -> tuple[Board, list[Phrase]]:
        """Returns a screen of rows with switches, whose last thing is a button to save, and the names of the rows."""
        count, width = self.random.randint(2, 5), self.random.uniform(14, 28)
        pitch, right = self.random.uniform(16, 26), WIDTH - self.random.uniform(3, 14)
        top, bare = self.random.uniform(26, 60), self.random.choice(BARE)
        names, switches, lines = [self.label(True) for _ in range(count)], [], []
        for number, name in enumerate(names):
            y = top + number * pitch
            box = Box(right - width, y, right, y + pitch - 2)
            x, middle = map(round, box.center)
            switches.append(Thing("switch", INVENT["switch"](self.random), box, bare, x, middle))
            lines += [Thing("", {}, Box(4, y, right - width, box.bottom), name, x // 2, middle), switches[-1]]
        y = top + count * pitch + 4
        save = self._thing("", {}, Box(30, y, WIDTH - 30, y + 12), "Save")
        board = self._board([*lines, save])
        board.things = [*switches, save]
        return board, names

    def words(self, words: list[str]) -> Board:
        """Returns a screen whose text names some words; there is nothing to see."""
        boxes = self._rows(len(words))
        return self._board([self._thing("", {}, box, word) for word, box in zip(words, boxes, strict=False)])

    def _colored(self, count: int) -> Several:
        colors = self.random.sample(PAINTS, min(count, len(PAINTS)))
        form = self.random.choice((" the {} one", " the {} button", " the one whose picture is {}", " the {} picture"))
        return "plain", [{"color": color} for color in colors], [form.format(color) for color in colors]

    def _signs(self, count: int) -> Several:
        shapes = self.random.sample(tuple(SHAPES), min(count, len(SHAPES)))
        color = self.random.choice(PAINTS)
        form = self.random.choice((" the {}", " the button with a {} on it", " the one that shows a {}"))
        facts = [{"count": "one", "color": color, "shape": shape} for shape in shapes]
        return "shapes", facts, [form.format(shape) for shape in shapes]

    def _captioned(self, count: int) -> Several:
        facts: list[Facts] = []
        while len(facts) < count:
            new = {**INVENT["shapes"](self.random), "count": self.random.choice(COUNTS[:3])}
            if all(sum(new[fact] != old[fact] for fact in new) >= 2 for old in facts):
                facts.append(new)
        form = self.random.choice((" the picture that shows {}", " the one with {}", " {}"))
        return "shapes", facts, [form.format(caption(fact)) for fact in facts]

    def _odd(self, count: int) -> Several:
        kind, (common, odd), _ = self._captioned(2)
        facts, at = [common] * count, self.random.randrange(count)
        facts[at] = odd
        calls = [""] * count
        calls[at] = self.random.choice((" the one that shows something else", " the one that differs from the others"))
        return kind, facts, calls

    def _thing(self, kind: str, facts: Facts, box: Box, label: Label) -> Thing:
        x, y = box.center
        if box.width < SMALL:  # the line stands for the row
            x = WIDTH / 2
        return Thing(kind, facts, box, label, min(WIDTH - 1, max(0, round(x))), min(HEIGHT - 1, max(0, round(y))))

    def _grid(self, count: int) -> list[Box]:
        columns = self.random.choice((2, 3, 3))
        rows, gap = -(-count // columns), self.random.uniform(1, 6)
        side = min(self.random.uniform(24, 38), (WIDTH - 2) / columns - gap, 184 / rows - gap)
        pitch_x, pitch_y = side + gap, min(side + self.random.choice((gap, gap + 6, gap + 14)), 184 / rows)
        left = self.random.uniform(1, max(1.0, WIDTH - columns * pitch_x))
        top = self.random.uniform(24, max(25.0, min(90.0, 208 - rows * pitch_y)))
        places = [(left + c * pitch_x, top + r * pitch_y) for r in range(rows) for c in range(columns)][:count]
        return [Box(x, y, x + side, y + side) for x, y in places]

    def _rows(self, count: int) -> list[Box]:
        pitch = self.random.uniform(14, 26)
        side = min(pitch - 3, self.random.uniform(11, 20))
        left = self.random.choice((self.random.uniform(2, 10), self.random.uniform(2, 10), WIDTH - side - 6))
        top = self.random.uniform(24, max(25.0, min(60.0, 205 - count * pitch)))
        return [Box(left, top + i * pitch, left + side, top + i * pitch + side) for i in range(count)]

    def _board(self, things: list[Thing], dark: bool = False) -> Board:
        """Draws the things on a phone's screen, among other elements."""
        image = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE), (32, 33, 36) if dark else (255, 255, 255))
        pen = ImageDraw.Draw(image)
        self._frame(pen)
        artist = Artist(pen, self.random)
        for thing in things:
            if thing.kind:
                artist.draw(thing.kind, Box(*(FINE * length for length in thing.box)), thing.facts)
            if thing.kind != "switch" and (thing.box.width < SMALL or not thing.kind):
                self._scribble(pen, thing.box.right + 4 if thing.kind and thing.box.left < WIDTH / 2 else 6, thing.y)
        above = [self._other(self.random.randint(10, 22)) for _ in range(self.random.randint(0, 3))]
        below = [self._other(self.random.randint(195, 215)) for _ in range(self.random.randint(0, 2))]
        return Board(np.array(image.reduce(FINE)), things, [*above, *things, *below])

    def _other(self, y: int) -> Thing:
        """An element that has nothing to do with the goal."""
        x = self.random.randrange(WIDTH)
        return Thing("", {}, Box(x, y, x, y), self.label(False), x, y)

    def _frame(self, pen: ImageDraw.ImageDraw) -> None:
        """Bars at the top and the bottom, as phones have them."""
        width, height = WIDTH * FINE, HEIGHT * FINE
        pale = self.random.choice(((240, 243, 250), (255, 255, 255), (235, 235, 235), (243, 237, 247)))
        bar = self.random.uniform(18, 24) * FINE
        pen.rectangle((0, 0, width, bar), self.random.choice(GROUNDS))
        pen.rectangle((0, 0, width, 8 * FINE), pale)
        pen.line((8, 8, 34, 8), (60, 60, 60), 5)
        pen.line((width - 30, 8, width - 10, 8), (60, 60, 60), 5)
        self._scribble(pen, self.random.uniform(4, 16), 15)
        pen.rectangle((0, height - 11 * FINE, width, height), pale)
        y = height - 5 * FINE
        for x in (0.25, 0.5, 0.75):
            pen.ellipse((x * width - 5, y - 5, x * width + 5, y + 5), None, (80, 80, 80), 2)

    def _scribble(self, pen: ImageDraw.ImageDraw, x: float, y: float) -> None:
        """Strokes that look like small text."""
        x, y = x * FINE, y * FINE
        for _ in range(self.random.randint(1, 4)):
            end = x + self.random.uniform(10, 40)
            pen.line((x, y, end, y), self.random.choice(((90, 90, 90), (130, 130, 130))), 5)
            x = end + 6


def caption(facts: Facts) -> str:
    """Says what a drawing of one kind shows, such as `two red circles`."""
    if "shape" not in facts:
        return facts["color"]
    shape = facts["shape"]
    plural = shape if facts["count"] == "one" else f"{shape}es" if shape.endswith("s") else f"{shape}s"
    return f"{facts['count']} {facts['color']} {plural}"
