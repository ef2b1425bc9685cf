"""Text measures and masks in Roboto, and icons from the Material Design icon font."""

from __future__ import annotations

from functools import lru_cache

import font_roboto
from fonticon_mdi6 import MDI6
from PIL import Image, ImageDraw, ImageFont

from coach_gym.envs.phone.caching import cached

_MEASURED = 8  # times as many characters as there are squares in a line: hardly any text of that length fits


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
    """Returns the width of a line of text in pixels."""
    return int(font(size, bold).getlength(text) + 0.999)


@cached(4)
def wrap(text: str, size: int, bold: bool, width: int, max_lines: int | None) -> tuple[str, ...]:
    """Breaks text into lines of at most `width` pixels. If `max_lines` cuts it off, it ends in an ellipsis."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _wrap_paragraph(paragraph, size, bold, width)
    if max_lines is not None and len(lines) > max_lines:
        last = " ".join(lines[max_lines - 1 : max_lines + 1])  # half a word of the next line may still fit
        lines = [*lines[: max_lines - 1], _ellipsis(last, size, bold, width)]
    return tuple(lines)


def _wrap_paragraph(text: str, size: int, bold: bool, width: int) -> list[str]:
    if _fits(text, size, bold, width):
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if _fits(longer, size, bold, width):
            line = longer
            continue
        if line:
            lines.append(line)
        while (cut := _fitting(word, size, bold, width)) < len(word):
            lines.append(word[:cut])
            word = word[cut:]
        line = word
    return [*lines, line]


def _fits(text: str, size: int, bold: bool, width: int) -> bool:
    """Returns whether a text fits into a line. One that is far too long is not measured whole, again and again."""
    start = text[: _MEASURED * max(1, width // size)]
    if len(start) < len(text) and text_width(start, size, bold) > width:
        return False
    return text_width(text, size, bold) <= width


def _fitting(word: str, size: int, bold: bool, width: int) -> int:
    """Returns how many leading characters of a word fit; at least one."""
    low, high = min(len(word), 1), min(len(word), width // size + 1)
    while high < len(word) and font(size, bold).getlength(word[:high]) <= width:
        high = min(len(word), 2 * high)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if font(size, bold).getlength(word[:middle]) <= width else (low, middle - 1)
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
    ImageDraw.Draw(mask).text((0, 0), text, fill=255, font=font(size, bold))
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
