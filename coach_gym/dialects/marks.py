"""Set-of-marks: numbered elements, in the screenshot and as a list (Yang et al. 2023; AndroidWorld's M3A)."""

from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from coach_gym.ui import Element, parse_ui

GREEN, WHITE, BLACK = (0, 255, 0), (255, 255, 255), (0, 0, 0)
_SCREEN = 1080  # width of the screen that the sizes below are for, as M3A's
_LINE, _LABEL, _FONT = 2, (35, 25), 22


@lru_cache(maxsize=64)
def marked_elements(ui: str) -> tuple[Element, ...]:
    """Returns the elements of a screen that carry a mark; the number of an element is its index."""
    return tuple(each for each in parse_ui(ui) if each.bounds[0] < each.bounds[2] and each.bounds[1] < each.bounds[3])


def draw_marks(screenshot: np.ndarray, ui: str) -> np.ndarray:
    """Returns a copy of a screenshot, (H, W, 3) uint8, with a box around every element and its number in a corner."""
    image = Image.fromarray(screenshot)
    draw = ImageDraw.Draw(image)
    scale = image.width / _SCREEN
    font = ImageFont.load_default(max(8, round(_FONT * scale)))
    width, height = (max(12, round(side * scale)) for side in _LABEL)
    for number, element in enumerate(marked_elements(ui)):
        left, top, right, bottom = element.bounds
        draw.rectangle((left, top, right - 1, bottom - 1), outline=GREEN, width=max(1, round(_LINE * scale)))
        draw.rectangle((left + 1, top + 1, left + width, top + height), fill=WHITE)
        draw.text((left + 1 + width / 2, top + 1 + height / 2), str(number), BLACK, font, anchor="mm")
    return np.asarray(image)


def element_at(ui: str, x: int, y: int) -> int | None:
    """Returns the number of the smallest element that contains a pixel; None if none does."""
    found = [
        ((right - left) * (bottom - top), number)
        for number, element in enumerate(marked_elements(ui))
        for left, top, right, bottom in [element.bounds]
        if left <= x < right and top <= y < bottom
    ]
    return min(found)[1] if found else None
