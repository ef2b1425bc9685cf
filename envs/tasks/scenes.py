"""Pictures whose content no file name and no screen text tells: colored shapes, clocks, charts, arrows, words.

A scene is a dict of JSON values; its `kind` says which of the functions below draws it. Everything is large and in
few colors: a screenshot of 168 x 336 pixels is enough to tell any two scenes apart.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Callable
from typing import Any

from PIL import Image, ImageDraw

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.toolkit.fonts import font

Scene = dict[str, Any]
Polygon = tuple[tuple[float, float], ...]

SIDE = 256  # pixels of a picture
FILE_SIZE = 1 << 16  # bytes: all picture files are as large, or their sizes would tell them apart
FINE = 2  # times larger while drawing, for smooth edges
COLORS = {
    "red": "#e02b20", "green": "#1f9d3a", "blue": "#1c5fd4", "yellow": "#f7c500", "purple": "#8e24aa",
    "black": "#1d1d1d",
}  # fmt: skip
SHAPES = ("circle", "square", "triangle", "cross", "ring")
DIRECTIONS = ("up", "right", "down", "left")
NUMBERS = ("one", "two", "three", "four", "five", "six")
BACKGROUNDS = ("#ffffff", "#fff1dc", "#e3f1fb", "#ecf5e4")
INK = "#1d1d1d"

_POLYGONS: dict[str, Polygon] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0, -1), (1, 0.9), (-1, 0.9)),
    "cross": (
        (-0.33, -1), (0.33, -1), (0.33, -0.33), (1, -0.33), (1, 0.33), (0.33, 0.33), (0.33, 1), (-0.33, 1),
        (-0.33, 0.33), (-1, 0.33), (-1, -0.33), (-0.33, -0.33),
    ),
}  # fmt: skip
_ARROW: Polygon = ((0, -1), (0.85, -0.1), (0.33, -0.1), (0.33, 1), (-0.33, 1), (-0.33, -0.1), (-0.85, -0.1))


def caption(scene: Scene) -> str:
    """Says what a scene of shapes shows, such as `two red circles`."""
    shape = scene["shape"]
    plural = shape if scene["count"] == 1 else f"{shape}es" if shape.endswith("s") else f"{shape}s"
    return f"{NUMBERS[scene['count'] - 1]} {scene['color']} {plural}"


def drawn(scene: Scene) -> Image.Image:
    """Returns a scene as a square picture of `SIDE` pixels."""
    return _drawn(tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in scene.items()))


@cached(8)
def _drawn(scene: tuple[tuple[str, Any], ...]) -> Image.Image:
    values = dict(scene)
    return _KINDS[values.pop("kind")](**values)


def picture_file(picture: Image.Image) -> bytes:
    """Returns a picture as a PNG file of `FILE_SIZE` bytes; what follows its end is no part of the picture."""
    return _padded(picture, "PNG")


def film_frame(picture: Image.Image, size: tuple[int, int]) -> bytes:
    """Returns a picture in the middle of a white frame as a JPEG of `FILE_SIZE` bytes."""
    frame = Image.new("RGB", size, "white")
    frame.paste(picture.resize((size[1], size[1])), ((size[0] - size[1]) // 2, 0))
    return _padded(frame, "JPEG")


def _padded(picture: Image.Image, format: str) -> bytes:
    out = io.BytesIO()
    picture.save(out, format, quality=90)
    return out.getvalue().ljust(FILE_SIZE, b"\0")


# kinds of scenes


def _shapes(shape: str, color: str, count: int, seed: int) -> Image.Image:
    """Draws up to six equal shapes; the seed says where, and on which background."""
    rng = random.Random(seed)
    image, pen = _sheet(rng.choice(BACKGROUNDS))
    if count == 1:
        draw_shape(pen, shape, COLORS[color], (rng.uniform(0.42, 0.58), rng.uniform(0.42, 0.58)), 0.34)
        return _smooth(image)
    for cell in rng.sample(range(9), count):
        center = 0.2 + 0.3 * (cell % 3), 0.2 + 0.3 * (cell // 3)
        draw_shape(pen, shape, COLORS[color], center, 0.12)
    return _smooth(image)


def _clock(time: str) -> Image.Image:
    """Draws a clock without numbers, with a mark at twelve."""
    hour, minute = map(int, time.split(":"))
    image, pen = _sheet("#dfe6ee")
    _disc(pen, (0.5, 0.5), 0.47, "#ffffff", INK)
    for tick in range(12):
        inner = 0.34 if tick == 0 else 0.39
        _hand(pen, tick / 12, 0.44, 0.05 if tick == 0 else 0.025, COLORS["red"] if tick == 0 else INK, inner)
    _hand(pen, (hour % 12 + minute / 60) / 12, 0.21, 0.075, INK)
    _hand(pen, minute / 60, 0.34, 0.035, COLORS["blue"])
    _disc(pen, (0.5, 0.5), 0.045, INK)
    return _smooth(image)


def _bars(heights: tuple[float, ...], colors: tuple[str, ...], tallest: str) -> Image.Image:
    """Draws a bar chart; heights are shares of the picture's."""
    image, pen = _sheet("#ffffff")
    width = 0.9 / len(heights)
    for number, (height, color) in enumerate(zip(heights, colors, strict=True)):
        left = 0.05 + (number + 0.12) * width
        box = (left, 0.95 - height, left + 0.76 * width, 0.95)
        pen.rectangle([_px(length) for length in box], COLORS[color])
    pen.rectangle([_px(length) for length in (0.03, 0.95, 0.97, 0.965)], INK)
    return _smooth(image)


def _arrow(direction: str, color: str, seed: int) -> Image.Image:
    """Draws an arrow."""
    rng = random.Random(seed)
    image, pen = _sheet(rng.choice(BACKGROUNDS))
    turn = DIRECTIONS.index(direction) / 4
    _polygon(pen, _ARROW, COLORS[color], (rng.uniform(0.45, 0.55), rng.uniform(0.45, 0.55)), 0.38, turn)
    return _smooth(image)


def _word(word: str) -> Image.Image:
    """Draws capital letters that stand askew behind some lines; the same word always in the same way."""
    rng = random.Random(word)
    image, pen = _sheet("#f3efe2")
    for _ in range(4):
        ends = [(0, rng.random()), (1, rng.random())]
        pen.line([(_px(x), _px(y)) for x, y in ends], "#c9b98f", _px(0.015))
    width = 0.94 / len(word)
    for number, letter in enumerate(word):
        sheet = Image.new("L", (_px(0.44), _px(0.44)))
        middle = _px(0.22), _px(0.22)
        ImageDraw.Draw(sheet).text(middle, letter, 255, font(_px(0.30), True), "mm")
        mask = sheet.rotate(rng.uniform(-16, 16), Image.Resampling.BICUBIC)
        left = 0.03 + (number + 0.5) * width - 0.22
        image.paste(rng.choice(("#1c5fd4", "#1d1d1d", "#8e24aa")), (_px(left), _px(rng.uniform(0.2, 0.36))), mask)
    return _smooth(image)


def _plain(color: str) -> Image.Image:
    """Draws one color."""
    return Image.new("RGB", (SIDE, SIDE), COLORS[color])


_KINDS: dict[str, Callable[..., Image.Image]] = {
    "shapes": _shapes, "clock": _clock, "bars": _bars, "arrow": _arrow, "word": _word, "plain": _plain,
}  # fmt: skip


# drawing; lengths are shares of the picture's side


def draw_shape(pen: ImageDraw.ImageDraw, shape: str, color: str, center: tuple[float, float], radius: float) -> None:
    """Draws one of the `SHAPES` on a sheet that is `SIDE * FINE` pixels wide."""
    if shape in _POLYGONS:
        _polygon(pen, _POLYGONS[shape], color, center, radius)
    elif shape == "ring":
        x, y = center
        box = [_px(length) for length in (x - radius, y - radius, x + radius, y + radius)]
        pen.ellipse(box, None, color, _px(0.36 * radius))
    else:
        _disc(pen, center, radius, color)


def shape_picture(shape: str, color: str, background: str) -> Image.Image:
    """Draws one large shape in the middle; colors are `#rrggbb`."""
    image, pen = _sheet(background)
    draw_shape(pen, shape, color, (0.5, 0.5), 0.4)
    return _smooth(image)


def switch_picture(color: str, on: bool) -> Image.Image:
    """Draws a switch of a color, its knob at the right if it is on."""
    image, pen = _sheet("#ffffff")
    box = [_px(length) for length in (0.04, 0.24, 0.96, 0.76)]
    pen.rounded_rectangle(box, _px(0.26), color)
    _disc(pen, (0.7 if on else 0.3, 0.5), 0.21, "#ffffff")
    return _smooth(image)


def _sheet(background: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (SIDE * FINE, SIDE * FINE), background)
    return image, ImageDraw.Draw(image)


def _smooth(image: Image.Image) -> Image.Image:
    return image.resize((SIDE, SIDE), Image.Resampling.BOX)


def _px(length: float) -> int:
    return round(length * SIDE * FINE)


def _polygon(
    pen: ImageDraw.ImageDraw, points: Polygon, color: str, center: tuple[float, float], radius: float, turn: float = 0
) -> None:
    """Draws a polygon, turned clockwise by a share of a full turn."""
    cos, sin = math.cos(math.tau * turn), math.sin(math.tau * turn)
    turned = [(x * cos - y * sin, x * sin + y * cos) for x, y in points]
    pen.polygon([(_px(center[0] + radius * x), _px(center[1] + radius * y)) for x, y in turned], color)


def _disc(
    pen: ImageDraw.ImageDraw, center: tuple[float, float], radius: float, color: str, edge: str | None = None
) -> None:
    x, y = center
    box = [_px(length) for length in (x - radius, y - radius, x + radius, y + radius)]
    pen.ellipse(box, color, edge, _px(0.02) if edge else 0)


def _hand(pen: ImageDraw.ImageDraw, turn: float, length: float, width: float, color: str, start: float = 0.0) -> None:
    """Draws a line outwards from the middle, in the direction that a clock's hand has after a share of a turn."""
    x, y = math.sin(math.tau * turn), -math.cos(math.tau * turn)
    ends = [(_px(0.5 + at * x), _px(0.5 + at * y)) for at in (start, length)]
    pen.line(ends, color, _px(width))
