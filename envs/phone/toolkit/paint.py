"""Draws laid-out views with Pillow.

A tree becomes a flat list of drawing commands. A frame repaints only the rectangle in which the list differs from the
last one: most touches change a small part of the screen, and many change nothing.
"""

from __future__ import annotations

import colorsys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageColor

from coach_gym.envs.phone.caching import cached
from coach_gym.envs.phone.toolkit.caret import caret_place, selected_parts, text_box
from coach_gym.envs.phone.toolkit.fonts import icon_mask, rounded_mask, text_mask, text_width
from coach_gym.envs.phone.toolkit.layout import Layout
from coach_gym.envs.phone.toolkit.view import Rect, Sides, View

_DIMMED = [round(level * 0.68) for level in range(256)] * 3
"""What each channel's levels become behind a dialog: Material's 32 % of black."""


class Command(NamedTuple):
    """One thing to draw.

    Attributes:
        kind: "box", "text", "icon", "image" or "dim", which darkens what is there.
        rect: Its rectangle in pixels.
        clip: The part of the screen where it is visible.
        color: Its colour.
        content: The radius of a box, the text, the name of an icon, or the `Picture` of an image.
        size: The size of a text or icon in pixels.
        bold: Whether a text is bold.
    """

    kind: str
    rect: Rect
    clip: Rect
    color: str
    content: Any = None
    size: int = 0
    bold: bool = False


def commands(root: View, layout: Layout, clip: Rect) -> list[Command]:
    """Returns the drawing commands of a laid-out tree, back to front."""
    out: list[Command] = []
    _collect(root, layout, clip, out)
    return out


def _collect(view: View, layout: Layout, clip: Rect, out: list[Command]) -> None:
    bounds = view.bounds
    clip_here = intersect(bounds, clip)
    if clip_here is None:
        return
    if view.border is not None:
        box = _inside(bounds, view.inset, layout)
        out.append(Command("box", box, clip_here, view.border, layout.px(view.radius)))
        line = max(1, layout.px(1))
        inner = (box[0] + line, box[1] + line, box[2] - line, box[3] - line)
        out.append(Command("box", inner, clip_here, view.bg or "#ffffff", max(0, layout.px(view.radius) - line)))
    elif view.bg is not None:
        out.append(Command("box", bounds, clip_here, view.bg, layout.px(view.radius)))
    if view.icon is not None:
        _collect_icon(view, layout, clip_here, out)
    elif view.image is not None:
        rect = _middle(view.image, bounds) if view.whole else bounds
        out.append(Command("image", rect, clip_here, "", Picture(view.image)))
    elif view.lines:
        _collect_text(view, layout, clip_here, out)
    for child in view.children:
        _collect(child, layout, clip_here, out)


def _inside(bounds: Rect, inset: Sides, layout: Layout) -> Rect:
    left, top, right, bottom = (layout.px(side) for side in inset)
    return bounds[0] + left, bounds[1] + top, bounds[2] - right, bounds[3] - bottom


class Picture:
    """An image in a command. It is compared by identity: comparing pixels would cost more than drawing them."""

    def __init__(self, pixels: np.ndarray) -> None:
        self.pixels = pixels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and other.pixels is self.pixels

    def __hash__(self) -> int:
        return id(self.pixels)

    @property
    def nbytes(self) -> int:
        """Bytes of its pixels."""
        return self.pixels.nbytes


def _middle(pixels: np.ndarray, bounds: Rect) -> Rect:
    """Returns where in a rectangle an image lies that is scaled without being stretched."""
    left, top, right, bottom = bounds
    height, width = pixels.shape[:2]
    scale = min((right - left) / width, (bottom - top) / height)
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    left, top = left + (right - left - w) // 2, top + (bottom - top - h) // 2
    return left, top, left + w, top + h


def _collect_icon(view: View, layout: Layout, clip: Rect, out: list[Command]) -> None:
    side = layout.px(view.size)
    left, top, right, bottom = view.bounds
    x, y = left + (right - left - side) // 2, top + (bottom - top - side) // 2
    out.append(Command("icon", (x, y, x + side, y + side), clip, view.color, view.icon, side))


def _collect_text(view: View, layout: Layout, clip: Rect, out: list[Command]) -> None:
    left, first, right, size, height = text_box(view, layout)
    y = first
    color = view.color if view.enabled and view.text else "#8a8a8a"
    marked = selected_parts(view) if view.input is not None and view.input.selected else {}
    for row, line in enumerate(view.lines):
        width = text_width(line, size, view.bold)
        x = left + (max(0, (right - left - width) // 2) if view.align == "center" else 0)
        if row in marked:
            start, end = (x + text_width(line[:index], size, view.bold) for index in marked[row])
            out.append(Command("box", (start, y, end, y + height), clip, "#b9d4fb", 0))
        out.append(Command("text", (x, y, x + width, y + height), clip, color, line, size, view.bold))
        y += height
    if view.caret and view.input is not None:
        row, before = caret_place(view, view.input.cursor)
        x, y = left + text_width(before, size, view.bold), first + row * height
        out.append(Command("box", (x, y, x + max(1, layout.px(2)), y + height), clip, "#1a73e8", 0))


def intersect(a: Rect, b: Rect) -> Rect | None:
    """Returns the intersection of two rectangles, or None."""
    left, top, right, bottom = a
    x, y, end_x, end_y = b
    left = x if x > left else left  # written out: this runs for every view of every frame
    top = y if y > top else top
    right = end_x if end_x < right else right
    bottom = end_y if end_y < bottom else bottom
    return (left, top, right, bottom) if left < right and top < bottom else None


class Painter:
    """Keeps the frame on the screen up to date.

    Args:
        width: Width in pixels.
        height: Height in pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        self.size = (width, height)
        self._image = Image.new("RGB", self.size)
        self._frame = np.zeros((height, width, 3), np.uint8)
        self._shown: list[Command] = []
        self._counts: Counter[Command] = Counter()  # of what is shown
        self._dark = False

    def show(self, drawing: list[Command], dark: bool = False) -> np.ndarray:
        """Returns the frame of a list of commands as a new array, height x width x 3 uint8, perhaps in dark colours."""
        if dark != self._dark:
            self._dark = dark
            self.forget()
        damage = self._damage(drawing)
        if damage is not None:
            self._repaint(drawing, damage)
            left, top, right, bottom = damage
            self._frame[top:bottom, left:right] = np.asarray(self._image.crop(damage))
        self._shown = drawing
        return self._frame.copy()

    def forget(self) -> None:
        """Has the next frame drawn in full."""
        self._shown = []

    def _damage(self, drawing: list[Command]) -> Rect | None:
        counts, shown = Counter(drawing), self._counts
        self._counts = counts
        if not self._shown:
            return (0, 0, *self.size)
        if drawing == self._shown:
            return None
        changed = counts.keys() ^ shown.keys()
        if len(counts) < len(drawing) or len(shown) < len(self._shown):  # drawn twice, soft edges are harder
            changed |= {command for command, count in counts.items() if count != shown.get(command, count)}
        if not changed:  # the same commands in another order
            return (0, 0, *self.size)
        rects = [rect for rect in (intersect(c.rect, c.clip) for c in changed) if rect]
        if not rects:
            return None
        lefts, tops, rights, bottoms = zip(*rects, strict=True)
        return intersect((min(lefts), min(tops), max(rights), max(bottoms)), (0, 0, *self.size))

    def _repaint(self, drawing: Sequence[Command], damage: Rect) -> None:
        for command in drawing:
            visible = intersect(command.clip, damage)
            if visible is not None:
                visible = intersect(visible, command.rect)
            if visible is not None:
                _draw(self._image, command, visible, self._dark)


def _draw(image: Image.Image, command: Command, visible: Rect, dark: bool) -> None:
    """Draws the `visible` part of a command."""
    left, top, right, bottom = command.rect
    if command.kind == "dim":
        image.paste(image.crop(visible).point(_DIMMED), visible)
    elif command.kind == "image":
        picture = _scaled(command.content, right - left, bottom - top)
        image.paste(picture.crop(_shifted(visible, left, top)), visible)
    elif command.kind == "box" and not command.content:
        image.paste(_rgb(command.color, dark), visible)
    else:
        mask = _mask(command)
        if visible != command.rect:
            mask = mask.crop(_shifted(visible, left, top))
        image.paste(_rgb(command.color, dark), visible, mask)


def _mask(command: Command) -> Image.Image:
    left, top, right, bottom = command.rect
    if command.kind == "box":
        return rounded_mask(right - left, bottom - top, command.content)
    if command.kind == "icon":
        return icon_mask(command.content, command.size)
    mask = text_mask(command.content, command.size, command.bold)
    return mask if mask.size == (right - left, bottom - top) else mask.crop((0, 0, right - left, bottom - top))


def _shifted(rect: Rect, x: int, y: int) -> Rect:
    return rect[0] - x, rect[1] - y, rect[2] - x, rect[3] - y


@lru_cache(maxsize=512)
def _rgb(color: str, dark: bool) -> tuple[int, ...]:
    """Returns red, green and blue. In the dark, the same hue gets the opposite lightness, on dark grey."""
    rgb = ImageColor.getrgb(color)
    if not dark:
        return rgb
    hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in rgb[:3]))
    return tuple(round(255 * part) for part in colorsys.hls_to_rgb(hue, 1 - 0.93 * lightness, saturation))


@cached(24)
def _scaled(picture: Picture, width: int, height: int) -> Image.Image:
    return Image.fromarray(picture.pixels).resize((width, height), Image.Resampling.BILINEAR)
