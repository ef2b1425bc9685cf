"""Where the characters of a text field are: the place of the cursor, and the character below a finger."""

from __future__ import annotations

import re
from bisect import bisect

from coach_gym.envs.phone.toolkit.fonts import line_height, text_width
from coach_gym.envs.phone.toolkit.layout import Layout
from coach_gym.envs.phone.toolkit.view import View

_WORD = re.compile(r"(?:\w|(?<=\w)['’.](?=\w))+")
_WHOLE = re.compile(r"(?=.*\d)[-+\d\s().,:/*#]+|\S+@\S+")


def text_box(view: View, layout: Layout) -> tuple[int, int, int, int, int]:
    """Returns left, top and right of a view's lines of text, the size of the font, and the height of a line."""
    size, d = layout.font_px(view.size), layout.density
    height = line_height(size)
    left, top, right, bottom = view.bounds
    left, top = left + round(view.pad[0] * d), top + round(view.pad[1] * d)
    right, bottom = right - round(view.pad[2] * d), bottom - round(view.pad[3] * d)
    first = top + (0 if view.multiline else max(0, (bottom - top - height * len(view.lines)) // 2))
    return left, first, right, size, height


def line_starts(view: View) -> list[int]:
    """Returns the index in a field's text at which each of its lines starts."""
    shown = "•" * len(view.text) if view.password else view.text
    starts, end = [], 0
    for line in view.lines:
        found = shown.find(line, end)  # the space or line break where the text wraps is in no line
        starts.append(end if found < 0 else found)  # what is cut ends in an ellipsis
        end = starts[-1] + len(line)
        end += shown[end : end + 1] in (" ", "\n")
    return starts


def caret_place(view: View, index: int) -> tuple[int, str]:
    """Returns the line that an index in a field's text is in, and the part of the line before it."""
    if not view.text:
        return 0, ""
    for row, (start, line) in enumerate(zip(line_starts(view), view.lines, strict=True)):
        if index <= start + len(line):
            return row, line[: max(0, index - start)]
    return len(view.lines) - 1, view.lines[-1]


def line_ends(view: View, index: int) -> tuple[int, int]:
    """Returns start and end of the line that an index in a field's text is in; a single-line field has but one."""
    if not view.text or not view.multiline:
        return 0, len(view.text)
    row, _ = caret_place(view, index)
    start = line_starts(view)[row]
    return start, min(start + len(view.lines[row]), len(view.text))


def index_beside(view: View, layout: Layout, index: int, way: int) -> int:
    """Returns the index in the line above (-1) or below (1); in the first line the start of all, in the last the end.
    """
    row, before = caret_place(view, index)
    if not view.text or not 0 <= row + way < len(view.lines):
        return 0 if way < 0 else len(view.text)
    left, top, _, size, height = text_box(view, layout)
    return index_at(view, layout, left + text_width(before, size, view.bold), top + (row + way) * height)


def selected_parts(view: View) -> dict[int, tuple[int, int]]:
    """Returns by their numbers the lines of a field that the selection touches, and where it starts and ends in them.
    """
    start, end = view.input.selection if view.input is not None else (0, 0)
    lines = enumerate(zip(line_starts(view), view.lines, strict=True))
    return {
        row: (max(0, start - first), min(end - first, len(line)))
        for row, (first, line) in lines
        if start <= first + len(line) and end >= first
    }


def index_at(view: View, layout: Layout, x: int, y: int) -> int:
    """Returns the index in a field's text that is nearest to a point."""
    if not view.text:
        return 0
    left, _, _, size, _ = text_box(view, layout)
    row = _row(view, layout, y)
    line = view.lines[row]

    def right_of(count: int) -> int:
        return left + text_width(line[:count], size, view.bold)

    after = min(bisect(range(len(line) + 1), x, key=right_of), len(line))
    nearer = after - 1 if after and x - right_of(after - 1) <= right_of(after) - x else after
    return min(line_starts(view)[row] + nearer, len(view.text))


def is_on_text(view: View, layout: Layout, x: int, y: int) -> bool:
    """Returns whether a point is neither left nor right of the nearest line of a field's text."""
    left, _, _, size, _ = text_box(view, layout)
    return bool(view.text) and left <= x <= left + text_width(view.lines[_row(view, layout, y)], size, view.bold)


def _row(view: View, layout: Layout, y: int) -> int:
    _, top, _, _, height = text_box(view, layout)
    return min(max(0, (y - top) // height), len(view.lines) - 1)


def word_at(text: str, index: int) -> tuple[int, int]:
    """Returns start and end of the word at an index of a text, or of the character if no word is there.

    A number, date, telephone number or e-mail address is taken as a whole, as Android does in fields for them.
    """
    if _WHOLE.fullmatch(text):
        return 0, len(text)
    for word in _WORD.finditer(text):
        if word.start() <= index <= word.end():
            return word.span()
    start = min(index, len(text) - 1)
    return start, start + 1
