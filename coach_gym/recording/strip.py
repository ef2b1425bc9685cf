"""Draws an episode as one picture: its screenshots in order, each with thought and action, up to the last screen."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import font_roboto
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from coach_gym.actions import Action, ActionError, Point, parse_action
from coach_gym.episode import Episode

_MARK, _RIM = "#d93025", "#ffffff"  # Material red, which no embedded screen uses
_FINER = 4  # marks are drawn as many times larger, for smooth edges
_SCROLLED = {"up": (0, 1), "down": (0, -1), "left": (1, 0), "right": (-1, 0)}  # where the finger goes
_MARGIN = 12


class _Colors(NamedTuple):
    paper: str
    ink: str
    pale: str


_LIGHT, _DARK = _Colors("#ffffff", "#202124", "#5f6368"), _Colors("#1e2129", "#e8eaed", "#9aa0a6")


def episode_strip(episode: Episode, height: int = 480, per_row: int = 8, dark: bool = False) -> Image.Image:
    """Draws an episode with its goal above and its outcome below.

    The last screen follows if it was kept and the agent did not end the episode by saying `finished`, which leaves the
    screen as it was.

    Args:
        episode: An episode of at least one step.
        height: Height of each screenshot in the picture, in pixels.
        per_row: Number of screenshots in a row.
        dark: Whether text is light on dark paper.
    """
    screenshots = [step.observation.screenshot for step in episode.steps]
    actions = [step.action for step in episode.steps]
    ended = _parsed(actions[-1])
    if episode.last is not None and (ended is None or ended.kind != "finished"):
        screenshots.append(episode.last.screenshot)
    return strip(screenshots, actions, episode.goal, _verdict(episode), height, per_row, dark)


def strip(
    screenshots: Sequence[np.ndarray],
    actions: Sequence[str],
    title: str = "",
    footer: str = "",
    height: int = 480,
    per_row: int = 8,
    dark: bool = False,
) -> Image.Image:
    """Draws screenshots side by side, each with its action drawn on it, and thought and action written below.

    Args:
        screenshots: One or more (height, width, 3) uint8 arrays of the same size.
        actions: Action text for each screenshot, in pixels of the screenshot. With one action less than screenshots,
            the last screenshot is what the last action led to.
        title: Text above the screenshots.
        footer: Text below the screenshots.
        height: Height of each screenshot in the picture, in pixels.
        per_row: Number of screenshots in a row.
        dark: Whether text is light on dark paper.

    Raises:
        ValueError: There are no screenshots, or not as many actions as screenshots or one less.
    """
    if not screenshots:
        raise ValueError("there are no screenshots to show")
    if len(screenshots) - len(actions) not in (0, 1):
        raise ValueError(f"{len(actions)} actions do not belong to {len(screenshots)} screenshots; pass one for each")
    done = [None] * (len(screenshots) - len(actions))
    taken = [*actions, *done]
    colors = _DARK if dark else _LIGHT
    shots = [draw_action(shot, action or "", height) for shot, action in zip(screenshots, taken, strict=True)]
    captions = [_caption(number, action, shots[0].width, colors) for number, action in enumerate(taken, start=1)]
    lines = max(len(caption) for caption in captions)
    panels = [_panel(shot, caption, lines, colors) for shot, caption in zip(shots, captions, strict=True)]
    return _page(panels, title, footer, per_row, colors)


def draw_action(screenshot: np.ndarray, action: str, height: int | None = None) -> Image.Image:
    """Marks an action on a screenshot: a finger beside what it taps, a ring around the finger that stays, an arrow for
    one that moves. What is tapped stays visible.

    Args:
        screenshot: A (height, width, 3) uint8 array.
        action: Action text. Actions without a touch, and text that does not parse, leave the screenshot unmarked.
        height: Height of the picture in pixels; that of the screenshot by default.
    """
    image = Image.fromarray(screenshot)
    scale = (height or image.height) / image.height
    image = image.resize((max(1, round(image.width * scale)), height or image.height), Image.Resampling.LANCZOS)
    parsed = _parsed(action)
    if parsed is None or parsed.start is None:
        return image
    marks = Image.new("RGBA", (_FINER * image.width, _FINER * image.height))
    _mark(ImageDraw.Draw(marks), parsed, _FINER * scale, marks.size)
    left, top, right, bottom = (edge // _FINER for edge in marks.getbbox() or (0, 0, 0, 0))
    drawn = marks.crop((_FINER * left, _FINER * top, _FINER * (right + 1), _FINER * (bottom + 1)))  # far less to shrink
    smooth = drawn.resize((right + 1 - left, bottom + 1 - top), Image.Resampling.BOX)
    image.paste(smooth, (left, top), mask=smooth.getchannel("A"))
    return image


def _mark(draw: ImageDraw.ImageDraw, action: Action, scale: float, size: tuple[int, int]) -> None:
    assert action.start is not None
    start = (action.start[0] * scale, action.start[1] * scale)
    radius = max(6.0 * _FINER, size[0] / 18)
    end = _finger_end(action, start, size[1] / 5, scale)
    if end is not None:
        _arrow(draw, start, end, radius)
    else:
        _finger(draw, start, radius, size, stays=action.kind == "long_press")


def _parsed(text: str) -> Action | None:
    try:
        return parse_action(text)[1]
    except ActionError:
        return None


def _finger_end(
    action: Action, start: tuple[float, float], reach: float, scale: float
) -> tuple[float, float] | None:
    if action.end is not None:
        return action.end[0] * scale, action.end[1] * scale
    if action.direction is None:
        return None
    dx, dy = _SCROLLED[action.direction]
    return start[0] + dx * reach, start[1] + dy * reach


def _finger(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], radius: float, size: tuple[int, int], stays: bool
) -> None:
    """Draws a drop on the side of a place where there is more room; its tip ends just before the place."""
    x, y = (1 if place < length / 2 else -1 for place, length in zip(at, size, strict=True))
    for color, rim in ((_RIM, 0.25 * radius), (_MARK, 0.0)):
        center = at[0] + 2.2 * x * radius, at[1] + 2.2 * y * radius
        tip = at[0] + 0.6 * x * radius - x * rim, at[1] + 0.6 * y * radius - y * rim
        _drop(draw, center, tip, radius + rim, color)
        if stays:
            _disc(draw, center, 1.8 * radius + rim, outline=color, width=round(0.3 * radius + 2 * rim))


def _drop(
    draw: ImageDraw.ImageDraw, center: tuple[float, float], tip: tuple[float, float], radius: float, color: str
) -> None:
    """Draws a disc and its two tangents to the tip."""
    toward = math.atan2(tip[1] - center[1], tip[0] - center[0])
    turn = math.acos(min(1.0, radius / math.dist(center, tip)))
    sides = [
        (center[0] + radius * math.cos(toward + each), center[1] + radius * math.sin(toward + each))
        for each in (turn, -turn)
    ]
    draw.polygon([tip, *sides], fill=color)
    _disc(draw, center, radius, fill=color)


def _disc(draw: ImageDraw.ImageDraw, center: tuple[float, float], radius: float, **style: Any) -> None:
    x, y = center
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), **style)


def _arrow(
    draw: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float], size: float
) -> None:
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    barbs = [
        (end[0] - size * math.cos(angle + turn), end[1] - size * math.sin(angle + turn)) for turn in (0.5, -0.5)
    ]
    shaft = end[0] - 0.8 * size * math.cos(angle), end[1] - 0.8 * size * math.sin(angle)
    draw.line((start, shaft), fill=_MARK, width=3 * _FINER)
    draw.polygon([end, *barbs], fill=_MARK)
    _disc(draw, start, 4 * _FINER, fill=_MARK)


Caption = list[tuple[str, str]]
"""Lines of text with their colours."""


def _caption(number: int, action: str | None, width: int, colors: _Colors) -> Caption:
    """Returns the thought in pale and the action in ink, two lines each at most; of the last screen, its name."""
    if action is None:
        return [(f"{number}  the end", colors.ink)]
    font = _font(12)
    try:
        thought, parsed = parse_action(action)
        call = _described(parsed)
    except ActionError:
        thought, call = "", f"no action: {' '.join(action.split())}"
    return [
        *((line, colors.ink) for line in _wrapped(f"{number}  {call}", font, width, 2)),
        *((line, colors.pale) for line in _wrapped(thought, font, width, 2)),
    ]


def _described(action: Action) -> str:
    """Says what an action does, as `coach-gym view` does: a narrow caption has no room for its call."""
    match action:
        case Action(kind="scroll", start=start, end=None, direction=direction):
            return f"scroll {direction} from {_at(start)}"
        case Action(kind="scroll" | "drag" as kind, start=start, end=end):
            return f"{kind} {_at(start)} to {_at(end)}"
        case Action(kind="click" | "long_press" as kind, start=start):
            return f"{kind.replace('_', ' ')} {_at(start)}"
        case Action(kind="open_app", content=app):
            return f"open {app}"
        case Action(kind="type", content=text):
            return f"type “{text}”"
        case Action(kind="finished", content=answer) if answer:
            return f"finished: “{answer}”"
    return action.kind.replace("_", " ")


def _at(point: Point | None) -> str:
    assert point is not None
    return f"({point[0]}, {point[1]})"


def _panel(shot: Image.Image, caption: Caption, lines: int, colors: _Colors) -> Image.Image:
    """Draws a screenshot with its caption below, in a panel with room for some lines."""
    font, line = _font(12), 16
    panel = Image.new("RGB", (shot.width + 2, shot.height + 8 + lines * line), colors.paper)
    draw = ImageDraw.Draw(panel)
    draw.rectangle((0, 0, shot.width + 1, shot.height + 1), outline="#9aa0a6")
    panel.paste(shot, (1, 1))
    for index, (text, color) in enumerate(caption):
        draw.text((1, shot.height + 6 + index * line), text, color, font)
    return panel


def _page(panels: list[Image.Image], title: str, footer: str, per_row: int, colors: _Colors) -> Image.Image:
    rows = [panels[first : first + per_row] for first in range(0, len(panels), per_row)]
    width, height = panels[0].size
    page_width = _MARGIN + len(rows[0]) * (width + _MARGIN)
    heading = _wrapped(title, _font(16), page_width - 2 * _MARGIN, 3)
    top = _MARGIN + 22 * len(heading)
    bottom = top + len(rows) * (height + _MARGIN)
    page = Image.new("RGB", (page_width, bottom + (30 if footer else 0)), colors.paper)
    draw = ImageDraw.Draw(page)
    for index, text in enumerate(heading):
        draw.text((_MARGIN, 6 + 22 * index), text, colors.ink, _font(16))
    for index, panel in enumerate(panels):
        row, column = divmod(index, per_row)
        page.paste(panel, (_MARGIN + column * (width + _MARGIN), top + row * (height + _MARGIN)))
    if footer:
        (text, *_) = _wrapped(footer, _font(14), page_width - 2 * _MARGIN, 1)
        draw.text((_MARGIN, bottom), text, colors.ink, _font(14))
    return page


def _wrapped(text: str, font: ImageFont.FreeTypeFont, width: int, lines: int) -> list[str]:
    """Wraps a text to a width, within words if necessary, and truncates it after some lines with an ellipsis."""
    wrapped: list[str] = []
    rest = " ".join(text.split())
    while rest and len(wrapped) < lines:
        cut = min(len(rest), width // 2)  # no character is narrower than two pixels
        while cut > 1 and font.getlength(rest[:cut]) > width:
            cut -= 1
        space = rest.rfind(" ", 0, cut)
        if cut < len(rest) and space > cut // 2:
            cut = space
        wrapped.append(rest[:cut])
        rest = rest[cut:].lstrip()
    if rest:
        wrapped[-1] = wrapped[-1][:-1] + "…"
    return wrapped


def _verdict(episode: Episode) -> str:
    if episode.fault is not None:
        return f"fault: {episode.fault}"
    answer = f", answered {episode.answer!r}" if episode.answer else ""
    if episode.outcome is None:
        return f"no outcome{answer}"
    return f"{'solved' if episode.success else 'not solved'}, {episode.length} steps{answer}"


@lru_cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_roboto.Roboto, size)
