"""Coordinate frames: the screen's pixels, the pixels of the image that a model sees, and the model's coordinates."""

import math
from dataclasses import dataclass

Size = tuple[int, int]
"""Width, height."""

# Qwen's processors refuse images more elongated than this.
MAX_ASPECT_RATIO = 200


@dataclass(frozen=True)
class Frame:
    """Maps between a screen and the coordinates that a model gives of it.

    Attributes:
        screen: Width and height of the screenshot in pixels.
        model: Width and height of the space that the model's coordinates live in.
        resized: Width and height of the image that the model sees; None where its coordinates are that image's pixels.
    """

    screen: Size
    model: Size
    resized: Size | None = None

    @property
    def image(self) -> Size:
        """Width and height of the image that the model sees."""
        return self.resized or self.model

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """The screen's pixel at a model's point; points outside the image give the nearest edge."""
        return _scale(x, self.model[0], self.screen[0]), _scale(y, self.model[1], self.screen[1])

    def to_model(self, x: float, y: float) -> tuple[int, int]:
        """The model's point at a screen's pixel; pixels off the screen give the nearest edge."""
        return _scale(x, self.screen[0], self.model[0]), _scale(y, self.screen[1], self.model[1])


def _scale(value: float, size: int, other: int) -> int:
    return min(max(round(value * other / size), 0), other - 1)


def frame_of(width: int, height: int, factor: int, min_pixels: int, max_pixels: int, scale: int | None) -> Frame:
    """The frame of a screen that the model sees as `smart_resize` leaves it.

    Args:
        width, height: Of the screen in pixels.
        factor, min_pixels, max_pixels: As in `smart_resize`.
        scale: Where coordinates end on both axes; None where they are pixels of the image.
    """
    rows, columns = smart_resize(height, width, factor, min_pixels, max_pixels)
    if scale is None:
        return Frame(screen=(width, height), model=(columns, rows))
    return Frame(screen=(width, height), model=(scale, scale), resized=(columns, rows))


def smart_resize(
    height: int,
    width: int,
    factor: int = 28,
    min_pixels: int = 4 * 28 * 28,
    max_pixels: int = 16384 * 28 * 28,
) -> tuple[int, int]:
    """Size to which Qwen's image processors resize an image.

    Both sides become multiples of ``factor``, the area comes to lie between the two bounds, and the aspect
    ratio stays as near as that allows.

    Args:
        height, width: Size of the image in pixels.
        factor: Side of the square that becomes one visual token.
        min_pixels, max_pixels: Bounds of the area.

    Returns:
        Height and width, in this order.

    Raises:
        ValueError: One side is more than 200 times the other.
    """
    if max(height, width) > MAX_ASPECT_RATIO * min(height, width):
        raise ValueError(
            f"an image of {width}x{height} pixels is more elongated than {MAX_ASPECT_RATIO}:1; crop it first"
        )
    rows, columns = round(height / factor), round(width / factor)
    if rows * columns * factor**2 > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = max(1, math.floor(height / shrink / factor))
        columns = max(1, math.floor(width / shrink / factor))
    elif rows * columns * factor**2 < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        rows, columns = math.ceil(height * grow / factor), math.ceil(width * grow / factor)
    return rows * factor, columns * factor
