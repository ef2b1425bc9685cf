"""Pictures of text that tasks put on a phone, and films made of them."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.phone.toolkit.fonts import font, line_height, text_width

TEXT, MARGIN = 30, 24  # pixels: of a line, around all of them
NARROWEST = 560  # pixels: pictures of short lines are not narrower, or the lines would fill a screen
FILM, TITLE = (320, 240), 34  # pixels: of a film's frames and of the text in them
BACKGROUNDS = ("#264653", "#6d597a", "#355070", "#5f0f40", "#344e41")


@cached(8)
def _drawn(text: str, format: str) -> bytes:
    lines, height = text.split("\n"), line_height(TEXT)
    width = max(NARROWEST, *(text_width(line, TEXT) for line in lines)) + 2 * MARGIN
    image = Image.new("L", (width, height * len(lines) + 2 * MARGIN), "white")  # grey: less to encode
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        pen.text((MARGIN, MARGIN + number * height), line, "black", font(TEXT))
    return _encoded(image, format)


def text_picture(lines: Sequence[str], name: str) -> bytes:
    """Draws black text on white, as a JPEG or PNG file, whichever the name says."""
    return _drawn("\n".join(lines), "PNG" if name.endswith(".png") else "JPEG")


@cached(8)
def film(messages: tuple[str, ...], seconds: float) -> bytes:
    """Makes a film that shows texts one after the other, each for some seconds."""
    frames = [_frame(message, BACKGROUNDS[number % len(BACKGROUNDS)]) for number, message in enumerate(messages)]
    return mp4.slides(frames, seconds, FILM)


def _frame(message: str, background: str) -> bytes:
    image = Image.new("RGB", FILM, background)
    ImageDraw.Draw(image).text((FILM[0] / 2, FILM[1] / 2), message, "#ffe66d", font(TITLE), anchor="mm")
    return _encoded(image, "JPEG")


def _encoded(image: Image.Image, format: str) -> bytes:
    out = io.BytesIO()
    image.save(out, format, quality=90)
    return out.getvalue()
