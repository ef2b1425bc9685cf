"""Text measures and masks in Roboto, and icons from the Material Design icon font."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import font_roboto
from fonticon_mdi6 import MDI6
from PIL import Image, ImageDraw, ImageFont

from coach_gym.envs.phone.caching import cached

MOST_LINES = 1000
_LONGEST = 10_000  # characters of a line that is not broken, such as a name on a map; more are not drawn
_MOST_IN_SQUARE = 8  # characters; the narrowest take a fifth of one, but marks above letters take nothing


@lru_cache(maxsize=64)
def font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Returns Roboto in a pixel size. The layout is basic: complex shaping is ten times slower and Roboto needs none.
    """
    path = font_roboto.RobotoMedium if bold else font_roboto.Roboto
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=64)
def line_height(size: int) -> int:
    """Returns the height of a line of text in pixels."""
    ascent, descent = font(size).getmetrics()
    return ascent + descent


@cached(4)
def text_width(text: str, size: int, bold: bool = False) -> int:
    """Returns the width of a line of text in pixels, as far as it is drawn."""
    return int(font(size, bold).getlength(text[:_LONGEST]) + 0.999)


@cached(4)
def wrap(text: str, size: int, bold: bool, width: int, max_lines: int | None) -> tuple[str, ...]:
    """Breaks text into lines of at most `width` pixels. If `max_lines` cuts it off, it ends in an ellipsis.

    Of any text, `MOST_LINES` are laid out: time and memory are bounded, whatever a client makes an app show.
    """
    most = MOST_LINES if max_lines is None else max_lines
    lines = list(islice(_wrapped(text, size, bold, width), most + 1))
    if len(lines) > most:
        last = " ".join(lines[most - 1 :])  # half a word of the next line may still fit
        lines = [*lines[: most - 1], _ellipsis(last, size, bold, width)]
    return tuple(lines)


def _wrapped(text: str, size: int, bold: bool, width: int) -> Iterator[str]:
    for paragraph in text.split("\n"):
        yield from _wrap_paragraph(paragraph, size, bold, width)


def _wrap_paragraph(text: str, size: int, bold: bool, width: int) -> Iterator[str]:
    if _fits(text, size, bold, width):
        yield text
        return
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if _fits(longer, size, bold, width):
            line = longer
            continue
        if line:
            yield line
        start = 0
        while (cut := _fitting(word, size, bold, width, start)) < len(word) - start:
            yield word[start : start + cut]
            start += cut
        line = word[start:]
    yield line


def _fits(text: str, size: int, bold: bool, width: int) -> bool:
    """Returns whether a text fits into a line. One that is far too long is not measured at all."""
    return len(text) <= _most(size, width) and text_width(text, size, bold) <= width


def _most(size: int, width: int) -> int:
    """Returns how many characters a line has at most."""
    return _MOST_IN_SQUARE * max(1, width // size)


def _fitting(word: str, size: int, bold: bool, width: int, start: int = 0) -> int:
    """Returns how many characters of a word from `start` on fit; at least one."""
    length = min(len(word) - start, _most(size, width))
    low, high = min(length, 1), min(length, width // size + 1)

    def fits(count: int) -> bool:
        return font(size, bold).getlength(word[start : start + count]) <= width

    while high < length and fits(high):
        high = min(length, 2 * high)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _ellipsis(line: str, size: int, bold: bool, width: int) -> str:
    if line and text_width(line + "…", size, bold) > width:
        line = line[: _fitting(line, size, bold, max(1, width - text_width("…", size, bold)))]
    while line and text_width(line + "…", size, bold) > width:
        line = line[:-1]
    return line.rstrip() + "…"


@cached(8)
def text_mask(text: str, size: int, bold: bool = False) -> Image.Image:
    """Returns a line of text as an 8-bit coverage mask, `line_height` high."""
    mask = Image.new("L", (max(1, text_width(text, size, bold)), line_height(size)))
    ImageDraw.Draw(mask).text((0, 0), text[:_LONGEST], fill=255, font=font(size, bold))
    return mask


@cached(4)
def icon_mask(name: str, size: int) -> Image.Image:
    """Returns a Material Design icon (`account_plus`, `arrow_left`, …) as a square coverage mask.

    Raises:
        AttributeError: There is no icon of that name.
    """
    glyph = getattr(MDI6, name).rpartition(".")[2]
    mask = Image.new("L", (size, size))
    face = ImageFont.truetype(MDI6.__font_file__, size, layout_engine=ImageFont.Layout.BASIC)
    ImageDraw.Draw(mask).text((size / 2, size / 2), glyph, fill=255, font=face, anchor="mm")
    return mask


@cached(8)
def rounded_mask(width: int, height: int, radius: int) -> Image.Image:
    """Returns a filled rounded rectangle as a mask, drawn four times larger for smooth corners."""
    radius = min(radius, width // 2, height // 2)
    if radius == 0:
        return Image.new("L", (width, height), 255)
    corner = Image.new("L", (8 * radius, 8 * radius))
    ImageDraw.Draw(corner).ellipse((0, 0, 8 * radius - 1, 8 * radius - 1), fill=255)
    corner = corner.resize((2 * radius, 2 * radius), Image.Resampling.BOX)
    mask = Image.new("L", (width, height), 255)
    r = radius
    for x, y, left, top in ((0, 0, 0, 0), (width - r, 0, r, 0), (0, height - r, 0, r), (width - r, height - r, r, r)):
        mask.paste(corner.crop((left, top, left + r, top + r)), (x, y))
    return mask
