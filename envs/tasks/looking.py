"""How scripted experts look: what they need to see, read off the pixels of a screenshot.

Everything works on a crop of the screen as an H x W x 3 uint8 array, of any size from about thirty pixels on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

import numpy as np
from PIL import Image

from coach_gym.envs.tasks import scenes
from coach_gym.ui import Bounds

Key = TypeVar("Key")
SAMPLES = 64  # pixels along the sides of a crop when it is looked at
CELL = 16  # pixels along the sides of a shape when it is compared
DISTINCT = 70.0  # distance in RGB between what is drawn and what it is drawn on


def crop(pixels: np.ndarray, bounds: Bounds, inset: float = 0.04) -> np.ndarray:
    """Cuts a rectangle out of a screenshot, without a share of it on each side, where frames may be."""
    left, top, right, bottom = bounds
    across, along = round((right - left) * inset), round((bottom - top) * inset)
    return pixels[top + along : bottom - along, left + across : right - across]


def middle_square(bounds: Bounds) -> Bounds:
    """Returns where a square picture is shown that was fitted into a box."""
    left, top, right, bottom = bounds
    side = min(right - left, bottom - top)
    x, y = (left + right - side) // 2, (top + bottom - side) // 2
    return x, y, x + side, y + side


def color_of(crop: np.ndarray) -> str:
    """Names the color of what is drawn in a picture."""
    samples = _samples(crop)
    distance = _from_background(samples)
    inked = samples[distance >= np.quantile(distance[distance > DISTINCT], 0.5)]
    return nearest_color(np.median(inked, axis=0))


def nearest_color(color: np.ndarray | Iterable[float]) -> str:
    """Names the color of `scenes.COLORS` that is nearest to a color (red, green, blue)."""
    rgb = np.asarray(tuple(color), float)
    return min(scenes.COLORS, key=lambda name: float(np.linalg.norm(rgb - _rgb(scenes.COLORS[name]))))


def caption_of(crop: np.ndarray) -> str:
    """Says what a picture of equal shapes shows, such as `two red circles`."""
    return scenes.caption({"shape": shape_of(crop), "color": color_of(crop), "count": count_of(crop)})


def count_of(crop: np.ndarray) -> int:
    """Counts what is drawn in a picture."""
    return len(_parts(crop))


def shape_of(crop: np.ndarray) -> str:
    """Names the shape that is drawn in a picture, once or several times."""
    largest = max(_parts(crop), key=len)
    (top, left), (bottom, right) = largest.min(axis=0), largest.max(axis=0) + 1
    mask = np.zeros((bottom - top, right - left), np.uint8)
    mask[tuple((largest - (top, left)).T)] = 255
    seen = np.asarray(Image.fromarray(mask).resize((CELL, CELL), Image.Resampling.BOX), float)
    return min(scenes.SHAPES, key=lambda shape: float(np.abs(seen - _outline(shape)).mean()))


def tallest_bar(crop: np.ndarray, colors: Iterable[str]) -> str:
    """Names the color that reaches highest in a bar chart."""
    samples = _samples(crop)
    tops = {}
    for color in colors:
        rows = (np.linalg.norm(samples - _rgb(scenes.COLORS[color]), axis=-1) < DISTINCT).sum(axis=1)
        tops[color] = int(np.argmax(rows >= 3)) if (rows >= 3).any() else SAMPLES
    return min(tops, key=tops.__getitem__)


def most_alike(crop: np.ndarray, pictures: Mapping[Key, Image.Image], inset: float = 0.04) -> Key:
    """Returns the key of the picture that a crop resembles most.

    Args:
        crop: Of a square picture on the screen.
        pictures: What it may show.
        inset: Share of the picture that `crop` cut off on each side.
    """
    seen = _samples(crop)
    return min(pictures, key=lambda key: float(np.abs(seen - _samples(_inner(pictures[key], inset))).mean()))


def _inner(picture: Image.Image, inset: float) -> np.ndarray:
    return crop(np.asarray(picture), (0, 0, picture.width, picture.height), inset)


def _samples(crop: np.ndarray) -> np.ndarray:
    """Scales a crop to a fixed size, as floats."""
    image = Image.fromarray(np.ascontiguousarray(crop))
    return np.asarray(image.resize((SAMPLES, SAMPLES), Image.Resampling.BILINEAR), float)


def _from_background(samples: np.ndarray) -> np.ndarray:
    """Distance of every pixel from the color at the border."""
    border = np.concatenate([samples[0], samples[-1], samples[:, 0], samples[:, -1]])
    return np.linalg.norm(samples - np.median(border, axis=0), axis=-1)


def _parts(crop: np.ndarray) -> list[np.ndarray]:
    """Finds what hangs together in a picture: for each part its pixels as (row, column), N x 2."""
    left = set(map(tuple, np.argwhere(_from_background(_samples(crop)) > DISTINCT).tolist()))
    parts = []
    while left:
        part, front = [], [left.pop()]
        while front:
            row, column = front.pop()
            part.append((row, column))
            for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if near in left:
                    left.remove(near)
                    front.append(near)
        parts.append(np.array(part))
    return [part for part in parts if len(part) > 12]  # less is dirt


@lru_cache(maxsize=len(scenes.SHAPES))
def _outline(shape: str) -> np.ndarray:
    picture = np.asarray(scenes.shape_picture(shape, "#000000", "#ffffff").convert("L"))
    rows, columns = np.nonzero(picture < 128)
    inside = 255 - picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return np.asarray(Image.fromarray(inside).resize((CELL, CELL), Image.Resampling.BOX), float)


def _rgb(color: str) -> np.ndarray:
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], float)
