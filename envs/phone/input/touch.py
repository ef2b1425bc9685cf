"""Touches: finds the view below a finger and calls what the view provides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from coach_gym.envs.phone.system.host import SystemHost
from coach_gym.envs.phone.system.windows import Windows
from coach_gym.envs.phone.toolkit.caret import index_at, is_on_text, word_at
from coach_gym.envs.phone.toolkit.paint import intersect
from coach_gym.envs.phone.toolkit.view import Rect, TextInput, View

Point = tuple[int, int]
FLING = 1200  # dp a second; a list runs on after a finger that is faster


class Touch:
    """Touches of one phone.

    Args:
        phone: The phone.
        windows: What is on its screen.
    """

    def __init__(self, phone: SystemHost, windows: Windows) -> None:
        self._phone, self._windows = phone, windows

    def tap(self, x: int, y: int) -> None:
        """Touches a point. In a text field the cursor goes there. The text toolbar goes away."""
        view = self._find((x, y), _takes_touches)
        self._phone.editing, self._phone.highlight = False, None
        if view is None or not view.enabled:
            return
        if view.input is not None:
            self._phone.focus = view.input
            view.input.move(index_at(view, self._windows.measures, x, y))
        elif view.on_slide is not None:
            view.on_slide(_share(x, view))
        if view.on_tap is not None:
            view.on_tap()
        self._phone.changed()

    def double_tap(self, x: int, y: int) -> None:
        """Touches a point once more right after a touch. This selects the word there, and is a mere touch elsewhere."""
        view = self._find((x, y), _takes_touches)
        if view is None or view.input is None or not is_on_text(view, self._windows.measures, x, y):
            self.tap(x, y)
        elif view.enabled:
            self._edit(view, view.input, x, y)
            self._phone.changed()

    def _edit(self, field: View, input: TextInput, x: int, y: int) -> None:
        """Shows the toolbar, and selects the word at a point, or all if no text is there.

        There Android would only show the toolbar; but the pocket model has learned that all is selected.
        """
        layout = self._windows.measures
        self._phone.focus, self._phone.editing = input, True
        if field.password or not is_on_text(field, layout, x, y):
            input.select_all()
        else:
            input.select(*word_at(input.text, index_at(field, layout, x, y)))

    def long_press(self, x: int, y: int) -> None:
        """Touches a point for long. In a text field this shows the toolbar and selects a word; beside the text, all."""
        view = self._find((x, y), lambda v: v.on_hold or v.on_long or v.input or v.on_tap)
        if view is None or not view.enabled:
            return
        if view.input is not None:
            self._edit(view, view.input, x, y)
        if view.on_hold is not None:
            view.on_hold(_shares((x, y), view))
        elif view.on_long is not None:
            view.on_long()
        self._phone.changed()

    def swipe(self, start: Point, end: Point, seconds: float) -> None:
        """Moves a finger in a straight line: slides, draws, scrolls or swipes, whichever the views support."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        way = ("right" if dx > 0 else "left") if abs(dx) > abs(dy) else ("down" if dy > 0 else "up")
        slider = self._find(start, lambda v: v.on_slide)
        canvas = self._find(start, lambda v: v.on_drag)
        if slider is not None and slider.on_slide is not None and way in ("left", "right"):
            slider.on_slide(_share(end[0], slider))
        elif canvas is not None and canvas.on_drag is not None:
            canvas.on_drag(_shares(start, canvas), _shares(end, canvas))
        elif way in ("left", "right") or not self._scroll(start, dy, seconds):
            swiped = self._find(start, lambda v: v.on_swipe)
            if swiped is not None and swiped.on_swipe is not None:
                swiped.on_swipe(way)
        self._phone.changed()

    def trace(self, points: Sequence[Point], seconds: float) -> None:
        """Moves a finger through several points. A canvas follows all of them; anything else takes it as a swipe."""
        canvas = self._find(points[0], lambda v: v.on_drag)
        if canvas is None or canvas.on_drag is None:
            self.swipe(points[0], points[-1], seconds)
            return
        for start, end in pairwise(points):
            canvas.on_drag(_shares(start, canvas), _shares(end, canvas))
        self._phone.changed()

    def _scroll(self, start: Point, dy: int, seconds: float) -> bool:
        """Scrolls the innermost list that can move that way. Returns whether there is one."""
        view = self._find(start, lambda v: v.scroll is not None and _can_scroll(v, dy))
        if view is None or view.scroll is None:
            return False
        distance = -dy
        speed = abs(dy) / self._phone.density / max(seconds, 0.01)
        if speed > FLING:
            distance = round(distance * min(speed / FLING, 4))
        return view.scroll.by(distance)

    def _find(self, point: Point, wanted: Callable[[View], object]) -> View | None:
        """Returns the front-most view at a point that is `wanted`, among the windows that take touches."""
        for root, rect in self._windows.touchable():
            if _inside(point, rect):
                return _search(root, point, rect, wanted)
        return None


def _takes_touches(view: View) -> object:
    return view.on_tap or view.input or view.on_slide or view.on_long


def _search(view: View, point: Point, clip: Rect, wanted: Callable[[View], object]) -> View | None:
    visible = intersect(view.bounds, clip)
    if visible is None or not _inside(point, visible):
        return None
    for child in reversed(view.children):
        found = _search(child, point, visible, wanted)
        if found is not None:
            return found
    return view if wanted(view) else None


def _can_scroll(view: View, dy: int) -> bool:
    state = view.scroll
    return state is not None and (state.offset > 0 if dy > 0 else state.offset < state.limit)


def _inside(point: Point, rect: Rect) -> bool:
    return rect[0] <= point[0] < rect[2] and rect[1] <= point[1] < rect[3]


def _share(x: int, view: View) -> float:
    left, _, right, _ = view.bounds
    margin = (right - left) * 0.04  # the ends of a slider are hard to hit exactly
    return min(1.0, max(0.0, (x - left - margin) / max(1.0, right - left - 2 * margin)))


def _shares(point: Point, view: View) -> tuple[float, float]:
    left, top, right, bottom = view.bounds
    return (point[0] - left) / max(1, right - left), (point[1] - top) / max(1, bottom - top)
