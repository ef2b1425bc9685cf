"""Random drawings with what can be said about them: colored shapes, arrows, bars, clocks, strokes, switches, pins.

Sizes, hues, places and proportions are random throughout, so that whoever learns from them learns the words and not the
pictures of some app.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import NamedTuple

from PIL import ImageDraw

Facts = dict[str, str]
"""What can be said about a drawing, such as `{"color": "red", "shape": "star", "count": "two"}`."""
Color = tuple[int, int, int]
Points = tuple[tuple[float, float], ...]


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def center(self) -> tuple[float, float]:
        """The middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Returns the point at shares of width and height."""
        return self.left + x * self.width, self.top + y * self.height


COLORS: dict[str, Color] = {
    "red": (222, 40, 36), "green": (34, 158, 60), "blue": (30, 96, 220), "yellow": (246, 202, 20),
    "purple": (142, 40, 168), "black": (28, 28, 28), "orange": (246, 132, 22), "white": (252, 252, 252),
    "brown": (124, 80, 48), "gray": (142, 142, 142),
}  # fmt: skip
PAINTS = tuple(color for color in COLORS if color not in ("white", "gray"))
"""Colors of things on a light ground."""
COUNTS = ("one", "two", "three", "four", "five", "six")
DIRECTIONS = ("up", "right", "down", "left")
GROUNDS: tuple[Color, ...] = ((255, 255, 255), (255, 241, 220), (227, 240, 251), (236, 245, 228), (240, 240, 240))
SHAPES: dict[str, Points] = {
    "circle": (),
    "ring": (),
    "square": ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)),
    "triangle": ((0, -1), (1, 0.85), (-1, 0.85)),
    "cross": (
        (-0.3, -1), (0.3, -1), (0.3, -0.3), (1, -0.3), (1, 0.3), (0.3, 0.3), (0.3, 1), (-0.3, 1), (-0.3, 0.3),
        (-1, 0.3), (-1, -0.3), (-0.3, -0.3),
    ),
    "star": tuple(
        (math.sin(math.tau * i / 10) * (1, 0.42)[i % 2], -math.cos(math.tau * i / 10) * (1, 0.42)[i % 2])
        for i in range(10)
    ),
    "diamond": ((0, -1), (0.75, 0), (0, 1), (-0.75, 0)),
}  # fmt: skip
"""Corners in a square from -1 to 1; those without are round."""
STROKES: dict[str, Points] = {
    "zigzag": ((0, 0.25), (0.25, 0.75), (0.5, 0.25), (0.75, 0.75), (1, 0.25)),
    "triangle": ((0.5, 0), (1, 0.9), (0, 0.9), (0.5, 0)),
    "rectangle": ((0, 0.2), (1, 0.2), (1, 0.8), (0, 0.8), (0, 0.2)),
    "circle": tuple((0.5 + math.sin(math.tau * i / 24) / 2, 0.5 - math.cos(math.tau * i / 24) / 2) for i in range(25)),
    "arrow": ((0, 0.5), (1, 0.5), (0.7, 0.25), (1, 0.5), (0.7, 0.75)),
    "line": ((0, 0.8), (1, 0.2)),
}
ARROW: Points = ((0, -1), (0.8, -0.1), (0.3, -0.1), (0.3, 1), (-0.3, 1), (-0.3, -0.1), (-0.8, -0.1))
CHARTED = ("red", "green", "blue", "yellow", "purple", "black")
MINUTES = ("00", "30")

Invent = Callable[[random.Random], Facts]


def plain_facts(rng: random.Random) -> Facts:
    """Of one color all over."""
    return {"color": rng.choice(PAINTS)}


def shape_facts(rng: random.Random) -> Facts:
    """Of equal shapes of one color."""
    count = "one" if rng.random() < 0.5 else rng.choice(COUNTS)
    return {"count": count, "color": rng.choice(PAINTS), "shape": rng.choice(tuple(SHAPES))}


def arrow_facts(rng: random.Random) -> Facts:
    """Of an arrow."""
    return {"color": rng.choice(PAINTS), "direction": rng.choice(DIRECTIONS)}


def bar_facts(rng: random.Random) -> Facts:
    """Of a bar chart."""
    return {"tallest": rng.choice(CHARTED)}


def clock_facts(rng: random.Random) -> Facts:
    """Of a clock."""
    return {"time": f"{rng.randint(1, 12)}:{rng.choice(MINUTES)}"}


def stroke_facts(rng: random.Random) -> Facts:
    """Of what a finger draws in one go."""
    return {"color": rng.choice(PAINTS), "drawing": rng.choice(tuple(STROKES))}


def switch_facts(rng: random.Random) -> Facts:
    """Of a switch."""
    return {"state": rng.choice(("on", "off"))}


def pin_facts(rng: random.Random) -> Facts:
    """Of a pin beside a river that runs from south to north."""
    return {"side": rng.choice(("west", "east"))}


INVENT: dict[str, Invent] = {
    "plain": plain_facts, "shapes": shape_facts, "arrow": arrow_facts, "bars": bar_facts, "clock": clock_facts,
    "stroke": stroke_facts, "switch": switch_facts, "pin": pin_facts,
}  # fmt: skip
"""Draws facts at random, by the kind of drawing."""


def shade(color: str, rng: random.Random, spread: int = 14) -> Color:
    """Returns a random shade of a color."""
    red, green, blue = (min(255, max(0, part + rng.randint(-spread, spread))) for part in COLORS[color])
    return red, green, blue


class Artist:
    """Draws facts into boxes.

    Args:
        pen: Draws on the picture.
        rng: Source of all that the facts leave open.
    """

    def __init__(self, pen: ImageDraw.ImageDraw, rng: random.Random) -> None:
        self.pen, self.random = pen, rng
        self._kinds: dict[str, Callable[[Box, Facts], None]] = {
            "plain": self._plain, "shapes": self._shapes, "arrow": self._arrow, "bars": self._bars,
            "clock": self._clock, "stroke": self._stroke, "switch": self._switch, "pin": self._pin,
        }  # fmt: skip

    def draw(self, kind: str, box: Box, facts: Facts) -> None:
        """Draws one of the kinds of `INVENT` so that the facts are true of it."""
        self._kinds[kind](box, facts)

    def _ground(self, box: Box) -> None:
        self.pen.rectangle(box, self.random.choice(GROUNDS))

    def _plain(self, box: Box, facts: Facts) -> None:
        self.pen.rectangle(box, shade(facts["color"], self.random))

    def _shapes(self, box: Box, facts: Facts) -> None:
        self._ground(box)
        count = COUNTS.index(facts["count"]) + 1
        side = min(box.width, box.height)
        paint = shade(facts["color"], self.random)
        if count == 1:
            x, y = box.at(self.random.uniform(0.4, 0.6), self.random.uniform(0.4, 0.6))
            self._shape(facts["shape"], x, y, side * self.random.uniform(0.27, 0.4), paint)
            return
        radius = side * self.random.uniform(0.1, 0.14)
        for cell in self.random.sample(range(9), count):
            shift = self.random.uniform(-0.03, 0.03), self.random.uniform(-0.03, 0.03)
            x, y = box.at(0.2 + 0.3 * (cell % 3) + shift[0], 0.2 + 0.3 * (cell // 3) + shift[1])
            self._shape(facts["shape"], x, y, radius, paint)

    def _shape(self, shape: str, x: float, y: float, radius: float, paint: Color) -> None:
        if SHAPES[shape]:
            self._polygon(SHAPES[shape], x, y, radius, paint)
            return
        box = (x - radius, y - radius, x + radius, y + radius)
        if shape == "circle":
            self.pen.ellipse(box, paint)
        else:
            self.pen.ellipse(box, None, paint, max(2, round(radius * self.random.uniform(0.3, 0.42))))

    def _polygon(self, points: Points, x: float, y: float, radius: float, paint: Color, turn: float = 0.0) -> None:
        cos, sin = math.cos(math.tau * turn), math.sin(math.tau * turn)
        self.pen.polygon([(x + radius * (a * cos - b * sin), y + radius * (a * sin + b * cos)) for a, b in points],
                         paint)  # fmt: skip

    def _arrow(self, box: Box, facts: Facts) -> None:
        self._ground(box)
        x, y = box.at(self.random.uniform(0.43, 0.57), self.random.uniform(0.43, 0.57))
        radius = min(box.width, box.height) * self.random.uniform(0.3, 0.42)
        turn = DIRECTIONS.index(facts["direction"]) / 4
        self._polygon(ARROW, x, y, radius, shade(facts["color"], self.random), turn)

    def _bars(self, box: Box, facts: Facts) -> None:
        self._ground(box)
        others = [color for color in CHARTED if color != facts["tallest"]]
        colors = [facts["tallest"], *self.random.sample(others, self.random.choice((2, 3, 3, 4)))]
        self.random.shuffle(colors)
        top, width = self.random.uniform(0.6, 0.88), 0.9 / len(colors)
        share = self.random.uniform(0.6, 0.85)
        for number, color in enumerate(colors):
            height = top if color == facts["tallest"] else self.random.uniform(0.12, top - 0.1)
            left = 0.05 + (number + (1 - share) / 2) * width
            paint = shade(color, self.random)
            self.pen.rectangle((*box.at(left, 0.95 - height), *box.at(left + share * width, 0.95)), paint)
        self.pen.line((*box.at(0.03, 0.955), *box.at(0.97, 0.955)), (40, 40, 40), 3)

    def _clock(self, box: Box, facts: Facts) -> None:
        hour, minute = map(int, facts["time"].split(":"))
        self.pen.rectangle(box, self.random.choice(GROUNDS))
        (x, y), side = box.center, min(box.width, box.height)
        radius, scale = side * self.random.uniform(0.4, 0.48), self.random.uniform(0.85, 1.1)
        ink, red = shade("black", self.random), shade("red", self.random)
        paint = shade(self.random.choice(("blue", "blue", "red", "black")), self.random)
        edge = max(2, round(side * 0.02))
        self.pen.ellipse((x - radius, y - radius, x + radius, y + radius), (255, 255, 255), ink, edge)
        self._hand(x, y, 0, 0.74 * radius, 0.93 * radius, red, side * 0.045)
        for tick in range(1, 12):
            self._hand(x, y, tick / 12, 0.83 * radius, 0.93 * radius, ink, side * 0.022)
        self._hand(x, y, (hour % 12 + minute / 60) / 12, 0, 0.46 * scale * radius, ink, side * 0.07)
        self._hand(x, y, minute / 60, 0, 0.74 * scale * radius, paint, side * 0.035)

    def _hand(self, x: float, y: float, turn: float, start: float, end: float, paint: Color, width: float) -> None:
        sin, cos = math.sin(math.tau * turn), math.cos(math.tau * turn)
        ends = [(x + length * sin, y - length * cos) for length in (start, end)]
        self.pen.line(ends, paint, max(1, round(width)))

    def _stroke(self, box: Box, facts: Facts) -> None:
        self._ground(box)
        side = self.random.uniform(0.55, 0.8)
        left, top = self.random.uniform(0.06, 0.94 - side), self.random.uniform(0.06, 0.94 - side)
        points = [box.at(left + side * x, top + side * y) for x, y in STROKES[facts["drawing"]]]
        width = max(2, round(box.width * self.random.uniform(0.035, 0.06)))
        self.pen.line(points, shade(facts["color"], self.random), width, "curve")

    def _switch(self, box: Box, facts: Facts) -> None:
        on = facts["state"] == "on"
        paint = shade(self.random.choice(("green", "green", "blue")) if on else "gray", self.random)
        if not on:
            paint = (paint[0] + 40, paint[1] + 40, paint[2] + 40)
        middle, half = box.center[1], box.width * self.random.uniform(0.22, 0.28)
        self.pen.rounded_rectangle((box.left, middle - half, box.right, middle + half), half, paint)
        x, radius = box.at(0.72 if on else 0.28, 0)[0], half * 0.8
        self.pen.ellipse((x - radius, middle - radius, x + radius, middle + radius), (255, 255, 255))

    def _pin(self, box: Box, facts: Facts) -> None:
        self.pen.rectangle(box, (244, 239, 226))
        for _ in range(self.random.randint(0, 3)):
            ends = [box.at(0, self.random.random()), box.at(1, self.random.random())]
            self.pen.line(ends, self.random.choice(((224, 214, 190), (250, 250, 250))), 2)
        middle, slope = self.random.uniform(0.42, 0.58), self.random.uniform(-0.25, 0.25)
        bend = self.random.uniform(-0.06, 0.06)
        river = [box.at(middle + slope * (y - 0.5) + bend * math.sin(math.tau * y), y) for y in (0, 0.25, 0.5, 0.75, 1)]
        self.pen.line(river, (150, 200, 235), max(2, round(box.width * self.random.uniform(0.03, 0.07))))
        y = self.random.uniform(0.35, 0.65)
        off = self.random.uniform(0.14, 0.34) * (1 if facts["side"] == "east" else -1)
        x = middle + slope * (y - 0.5) + bend * math.sin(math.tau * y) + off
        (px, py), size = box.at(x, y), box.width * self.random.uniform(0.035, 0.05)
        red = shade("red", self.random)
        self.pen.polygon([(px - 0.8 * size, py), (px + 0.8 * size, py), (px, py + 2.2 * size)], red)
        self.pen.ellipse((px - size, py - size, px + size, py + size), red)
        self.pen.ellipse((px - size / 3, py - size / 3, px + size / 3, py + size / 3), (255, 255, 255))
