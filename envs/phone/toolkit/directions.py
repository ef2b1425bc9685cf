"""Which view lies in a direction of another one."""

from __future__ import annotations

from collections.abc import Sequence

from coach_gym.envs.phone.toolkit.view import Rect, View

Way = tuple[int, int]
UP, DOWN, LEFT, RIGHT = (0, -1), (0, 1), (-1, 0), (1, 0)


def nearest(views: Sequence[View], start: View, way: Way) -> View:
    """Returns the view that lies in a direction from the start and is nearest; the start if there is none."""
    x, y = _centre(start.bounds)
    best, shortest = start, float("inf")
    for view in views:
        dx, dy = _centre(view.bounds)[0] - x, _centre(view.bounds)[1] - y
        ahead, aside = dx * way[0] + dy * way[1], abs(dx * way[1]) + abs(dy * way[0])
        if ahead > 0 and ahead >= aside / 4 and ahead + 2 * aside < shortest:
            best, shortest = view, ahead + 2 * aside
    return best


def _centre(bounds: Rect) -> tuple[int, int]:
    return (bounds[0] + bounds[2]) // 2, (bounds[1] + bounds[3]) // 2
