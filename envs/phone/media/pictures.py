"""Picture files as pixels. Each is decoded once per size; what cannot be decoded is None."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageOps

from coach_gym.envs.phone.caching import cached

EXTENSIONS = ("bmp", "gif", "jpeg", "jpg", "png", "webp")
MOST_PIXELS = 50_000_000
"""Larger pictures are not decoded: a phone has no memory for them."""


@cached(16)
def thumbnail(data: bytes, side: int) -> np.ndarray | None:
    """Returns the middle of a picture as a square: side x side x 3 uint8."""
    picture = _decoded(data, (side, side))
    return None if picture is None else np.asarray(ImageOps.fit(picture, (side, side)))


@cached(24)
def pixels(data: bytes, width: int, height: int) -> np.ndarray | None:
    """Returns a picture, reduced to fit into a size: height x width x 3 uint8."""
    picture = _decoded(data, (width, height))
    if picture is None:
        return None
    picture.thumbnail((width, height))
    return np.asarray(picture)


@cached(8)
def size(data: bytes) -> tuple[int, int] | None:
    """Returns width and height of a picture."""
    picture = _opened(data)
    return None if picture is None else picture.size


def _decoded(data: bytes, wanted: tuple[int, int]) -> Image.Image | None:
    picture = _opened(data)
    if picture is None:
        return None
    try:
        picture.draft("RGB", (2 * wanted[0], 2 * wanted[1]))  # a large JPEG is decoded at a fraction of its size
        return picture.convert("RGB")
    except Exception:  # noqa: BLE001 (decoders fail on broken files in ways of their own; such a file is no picture)
        return None


def _opened(data: bytes) -> Image.Image | None:
    try:
        picture = Image.open(io.BytesIO(data))
    except Exception:  # noqa: BLE001
        return None
    return picture if picture.width * picture.height <= MOST_PIXELS else None
