"""Layout: measures and places a tree of views."""

from __future__ import annotations

from coach_gym.envs.phone.toolkit.fonts import line_height, text_width, wrap
from coach_gym.envs.phone.toolkit.view import Rect, ScrollState, View


class Layout:
    """Measures and places trees of views.

    Args:
        density: Pixels per dp.
        scrolls: Scroll positions by the `scroll_key` of their views; missing ones are added.
        font_scale: Size of texts relative to the default.
    """

    def __init__(self, density: float, scrolls: dict[str, ScrollState], font_scale: float = 1.0) -> None:
        self.density = density
        self.scrolls = scrolls
        self.font_scale = font_scale

    def run(self, root: View, rect: Rect) -> View:
        """Places `root` in `rect`, in pixels, and all views below it. Returns the root."""
        left, top, right, bottom = rect
        self._measure(root, right - left)
        self._place(root, left, top, right - left, bottom - top)
        return root

    def px(self, dp: float) -> int:
        """Converts dp to pixels."""
        return round(dp * self.density)

    def font_px(self, sp: float) -> int:
        """Converts a text size to pixels, at least 6."""
        return max(6, round(sp * self.density * self.font_scale))

    # measuring: the size that a view wants in a given width

    def _measure(self, view: View, available: int) -> None:
        d = self.density
        width = available if view.width is None else min(available, round(view.width * d))
        if view.children:
            left, top, right, bottom = view.pad
            inner_w, inner_h = self._measure_children(view, max(0, width - round((left + right) * d)))
            view.content_height = inner_h
            w, h = inner_w + round((left + right) * d), inner_h + round((top + bottom) * d)
        else:
            w, h = self._measure_leaf(view, width)
        view.w = width if view.width is not None else min(w, available)
        view.h = round(view.height * d) if view.height is not None else max(h, round(view.min_height * d))

    def _measure_leaf(self, view: View, width: int) -> tuple[int, int]:
        left, top, right, bottom = (round(side * self.density) for side in view.pad)
        if view.icon is not None:
            side = self.px(view.size)
            return side + left + right, side + top + bottom
        shown = view.text or view.hint
        if not shown and view.input is None:
            return left + right, top + bottom
        size = self.font_px(view.size)
        if view.password:
            shown = "•" * len(view.text) or view.hint
        view.lines = wrap(shown, size, view.bold, max(1, width - left - right), view.max_lines)
        w = max((text_width(line, size, view.bold) for line in view.lines), default=0)
        return w + left + right, len(view.lines or " ") * line_height(size) + top + bottom

    def _measure_children(self, view: View, inner: int) -> tuple[int, int]:
        if view.columns:
            return self._measure_grid(view, inner)
        if view.axis == "h":
            return self._measure_row(view, inner)
        for child in view.children:
            self._measure(child, inner)
        widest = max(child.w for child in view.children)
        heights = [child.h for child in view.children]
        if view.axis == "z":
            return widest, max(heights)
        return widest, sum(heights) + self.px(view.gap) * (len(heights) - 1)

    def _measure_row(self, view: View, inner: int) -> tuple[int, int]:
        gaps = self.px(view.gap) * (len(view.children) - 1)
        left = inner - gaps
        for child in view.children:
            if not child.flex:
                self._measure(child, max(0, left))
                left -= child.w
        shares = sum(child.flex for child in view.children)
        for child in view.children:
            if child.flex:
                self._measure(child, max(0, int(left * child.flex / shares)))
                child.w = max(0, int(left * child.flex / shares))
        return sum(child.w for child in view.children) + gaps, max(child.h for child in view.children)

    def _measure_grid(self, view: View, inner: int) -> tuple[int, int]:
        gap = self.px(view.gap)
        cell = (inner - gap * (view.columns - 1)) // view.columns
        for child in view.children:
            self._measure(child, cell)
            child.w = cell
        rows = [view.children[i : i + view.columns] for i in range(0, len(view.children), view.columns)]
        return inner, sum(max(child.h for child in row) for row in rows) + gap * (len(rows) - 1)

    # placing: the final rectangle of every view

    def _place(self, view: View, x: int, y: int, w: int, h: int) -> None:
        view.bounds = (x, y, x + w, y + h)
        if not view.children:
            return
        d = self.density
        left, top, right, bottom = view.pad
        x, y = x + round(left * d), y + round(top * d)
        w, h = w - round((left + right) * d), h - round((top + bottom) * d)
        if view.scroll_key is not None:
            y, h = self._scrolled(view, y, w, h)
        if view.columns:
            self._place_grid(view, x, y)
        elif view.axis == "h":
            self._place_row(view, x, y, w, h)
        elif view.axis == "z":
            for child in view.children:
                self._place(child, x, y, w, h)
        else:
            self._place_column(view, x, y, w, h)

    def _scrolled(self, view: View, y: int, w: int, h: int) -> tuple[int, int]:
        """Returns where the content of a scrolling view starts, and how high it is."""
        state = view.scroll = self.scrolls.setdefault(view.scroll_key or "", ScrollState())
        content = max(h, view.content_height)
        at_end = state.offset == state.limit
        state.limit = content - h
        state.offset = state.limit if view.from_end and at_end else min(state.offset, state.limit)
        return y - state.offset, content

    def _place_column(self, view: View, x: int, y: int, w: int, h: int) -> None:
        gap = self.px(view.gap)
        used = sum(child.h for child in view.children if not child.flex) + gap * (len(view.children) - 1)
        shares = sum(child.flex for child in view.children)
        y += 0 if shares else _shift(view.justify, h - used)
        for child in view.children:
            height = max(0, int((h - used) * child.flex / shares)) if child.flex else child.h
            stretched = view.align == "stretch" and child.width is None
            width = w if stretched else min(child.w, w)
            offset = 0 if stretched else _shift("start" if view.align == "stretch" else view.align, w - width)
            self._place(child, x + offset, y, width, height)
            y += height + gap

    def _place_row(self, view: View, x: int, y: int, w: int, h: int) -> None:
        gap = self.px(view.gap)
        used = sum(child.w for child in view.children) + gap * (len(view.children) - 1)
        x += _shift(view.justify, w - used)
        for child in view.children:
            height = h if view.align == "stretch" and child.height is None else min(child.h, h)
            offset = _shift("center" if view.align == "stretch" else view.align, h - height)
            self._place(child, x, y + offset, child.w, height)
            x += child.w + gap

    def _place_grid(self, view: View, x: int, y: int) -> None:
        gap = self.px(view.gap)
        for i in range(0, len(view.children), view.columns):
            row = view.children[i : i + view.columns]
            height = max(child.h for child in row)
            for column, child in enumerate(row):
                self._place(child, x + column * (child.w + gap), y, child.w, height)
            y += height + gap


def scroll_what_is_too_high(root: View, layout: Layout, rect: Rect) -> None:
    """Lays a page or dialog out anew if it was given less than its least height. Then it scrolls.

    Of a dialog all scrolls but the row of buttons at its bottom, as on Android; of a page everything.

    Args:
        root: The laid-out views of a window: the page, or the dialog's card with space around it.
        layout: What laid them out.
        rect: The window's place in pixels.
    """
    (content,) = root.children
    _, top, _, bottom = root.pad
    room = rect[3] - rect[1] - layout.px(top + bottom)
    least = _least(content, layout)
    if least <= room:
        return
    *parts, last = content.children or [content]
    beside = room - last.h
    if parts and last.axis == "h" and last.justify == "end" and beside >= layout.px(_LEAST_BESIDE_BUTTONS):
        inner = View("android.widget.LinearLayout", parts, gap=content.gap, important=False)
        inner.height = (least - last.h) / layout.density
        content.children = [_scrolling(inner, beside, layout), last]
    else:
        content.height, content.flex = least / layout.density, 0
        root.children = [_scrolling(content, room, layout)]
    layout.run(root, rect)


def _scrolling(content: View, height: int, layout: Layout) -> View:
    """Returns a frame of a height in pixels, in which a part of a window scrolls."""
    frame = View("android.widget.ScrollView", [content], scroll_key="window", height=height / layout.density)
    frame.width = content.width
    return frame


_LEAST_BESIDE_BUTTONS = 56  # dp; with less, the buttons of a dialog scroll as well
_LEAST_STRETCHED = 24  # dp; of a list that scrolls by itself, and of a picture that fills the rest


def _least(view: View, layout: Layout) -> int:
    """Returns the height in pixels below which the parts of a measured view would overlap."""
    if view.scroll_key is not None or view.flex and not view.children:
        return min(view.h, layout.px(_LEAST_STRETCHED))
    if view.height is not None or not view.children or view.columns:
        return view.h
    heights = [_least(child, layout) for child in view.children]
    gaps = layout.px(view.gap) * (len(heights) - 1)
    inner = sum(heights) + gaps if view.axis == "v" else max(heights)
    return max(inner + layout.px(view.pad[1] + view.pad[3]), layout.px(view.min_height))


def _shift(where: str, room: int) -> int:
    """Returns how far something moves into `room` spare pixels."""
    return 0 if where == "start" else room // 2 if where == "center" else room
