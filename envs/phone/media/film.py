"""Frames of films. JPEG films always work; other codecs need OpenCV."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from typing import Any

import numpy as np

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.media import mp4, pictures

EXTENSIONS = ("3gp", "mkv", "mp4", "webm")


def frame(data: bytes, seconds: float, width: int, height: int) -> np.ndarray | None:
    """Returns a frame of a film, as large as fits: height x width x 3 uint8; None if it cannot be decoded."""
    slide = mp4.slide_at(data, seconds)
    return _decoded(data, seconds) if slide is None else pictures.pixels(slide, width, height)


@cached(16)
def _decoded(data: bytes, seconds: float) -> np.ndarray | None:
    capture = _capture(data)
    if capture is None:
        return None
    import cv2

    rate = capture.get(cv2.CAP_PROP_FPS) or 1.0
    last = max(0.0, capture.get(cv2.CAP_PROP_FRAME_COUNT) - 1)
    capture.set(cv2.CAP_PROP_POS_FRAMES, min(seconds * rate, last) // 1)
    found, picture = capture.read()
    return np.ascontiguousarray(picture[:, :, ::-1]) if found else None


@lru_cache(maxsize=1)
def _capture(data: bytes) -> Any:
    """Returns OpenCV's reader of a film, or None if OpenCV is missing or cannot read it."""
    try:
        import cv2
    except ImportError:
        return None
    with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
        file.write(data)
        file.flush()
        capture = cv2.VideoCapture(file.name)  # the file stays open after its name is gone
    return capture if capture.isOpened() else None
