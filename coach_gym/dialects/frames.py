"""Coordinate frames: screen pixels, pixels of the resized image that a model sees, and the model's coordinates."""

import math
from dataclasses import dataclass, field, replace
from typing import Self

from coach_gym.checks import require_whole

Size = tuple[int, int]
"""Width, height."""

# Qwen's image processors refuse more elongated images.
MAX_ASPECT_RATIO = 200


@dataclass(frozen=True)
class Frame:
    """Maps between screen pixels and a model's coordinates.

    Attributes:
        screen: Width and height of the screenshot in pixels.
        model: Width and height of the model's coordinate space.
        resized: Width and height of the image that the model sees; None if its coordinates are pixels of that image.
        ui: The screen as text, for dialects whose answers name elements.
    """

    screen: Size
    model: Size
    resized: Size | None = None
    ui: str = field(default="", compare=False, repr=False)

    def showing(self, ui: str) -> Self:
        """Returns the same frame around a screen with the elements of `ui`."""
        return replace(self, ui=ui)

    @property
    def image(self) -> Size:
        """The width and height of the image that the model sees."""
        return self.resized or self.model

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """Maps a model's point to a screen pixel; points outside the image map to the nearest edge."""
        return _scale(x, self.model[0], self.screen[0]), _scale(y, self.model[1], self.screen[1])

    def to_model(self, x: float, y: float) -> tuple[int, int]:
        """Maps a screen pixel to a model's point; pixels off the screen map to the nearest edge."""
        return _scale(x, self.screen[0], self.model[0]), _scale(y, self.screen[1], self.model[1])


def _scale(value: float, size: int, other: int) -> int:
    return min(max(round(value * other / size), 0), other - 1)


def require_limits(least: int | None = None, most: int | None = None, **limits: int | None) -> None:
    """Checks what a dialect is made with, before a model is loaded for it.

    Args:
        least: Its `min_pixels`.
        most: Its `max_pixels`.
        limits: Further whole numbers from 1 on; None is no limit.

    Raises:
        TypeError: One is not a whole number.
        ValueError: One is below 1, or the fewest pixels are more than the most.
    """
    given = {"min_pixels": least, "max_pixels": most, **limits}
    require_whole(1, **{name: value for name, value in given.items() if value is not None})
    if least is not None and most is not None and least > most:
        raise ValueError(f"min_pixels={least} is more than max_pixels={most}; pass a smaller one")


def frame_of(width: int, height: int, factor: int, min_pixels: int, max_pixels: int, scale: int | None) -> Frame:
    """Returns the frame of a screen that a model sees after `smart_resize`.

    Args:
        width: Width of the screen in pixels.
        height: Height of the screen in pixels.
        factor: See `smart_resize`.
        min_pixels: See `smart_resize`.
        max_pixels: See `smart_resize`.
        scale: Upper end of the model's coordinates on both axes; None if they are pixels of the resized image.
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
    """Returns the size to which Qwen's image processors resize an image.

    Both sides become multiples of `factor`, the area falls between the two bounds, and the aspect ratio is kept as
    closely as that allows. Implements `smart_resize` of transformers' Qwen2-VL image processor.

    Args:
        height: Height of the image in pixels.
        width: Width of the image in pixels.
        factor: Side of the square that becomes one visual token, in pixels.
        min_pixels: Lower bound of the area.
        max_pixels: Upper bound of the area.

    Returns:
        Height and width, in this order.

    Raises:
        ValueError: One side is more than 200 times as long as the other.
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
