"""A clock with hands."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.phone.toolkit import theme


@lru_cache(maxsize=8)
def face(hour: int, minute: int) -> np.ndarray:
    """Draws the face of a clock with two hands, for an hour from 0 to 11: 280 x 280 x 3 uint8."""
    image = Image.new("RGB", (280, 280), theme.SURFACE)
    draw = ImageDraw.Draw(image)
    draw.ellipse((10, 10, 270, 270), outline=theme.TEXT, width=8)
    for turn, length, width in ((hour / 12 + minute / 720, 70, 10), (minute / 60, 105, 6)):
        angle = 2 * math.pi * turn
        draw.line((140, 140, 140 + length * math.sin(angle), 140 - length * math.cos(angle)), theme.TEXT, width)
    return np.array(image)
