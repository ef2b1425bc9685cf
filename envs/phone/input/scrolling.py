"""Scrolling by finger until something is seen, as uiautomator's UiScrollable does."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.ui import Node

SCROLL_SECONDS = 2.0  # slow enough that the list stops with the finger
FLING_SECONDS = 0.025
MOST_SWIPES = 100
_EDGE = 0.1  # share of the area at both ends that the finger avoids


def scroll(phone: Phone, area: Node, vertical: bool, way: int, seconds: float) -> bool:
    """Swipes once over an area.

    Args:
        phone: The phone.
        area: The node to swipe over.
        vertical: Whether to swipe along the height.
        way: 1 towards the end, -1 towards the beginning.
        seconds: How long the finger takes.

    Returns:
        Whether anything moved.
    """
    left, top, right, bottom = area.bounds
    x, y = (left + right) // 2, (top + bottom) // 2
    edge_x, edge_y = round(_EDGE * (right - left)), round(_EDGE * (bottom - top))
    if vertical:
        late, early = (x, bottom - 1 - edge_y), (x, top + edge_y)
    else:
        late, early = (right - 1 - edge_x, y), (left + edge_x, y)
    before = _position(phone, vertical)
    phone.swipe(late if way > 0 else early, early if way > 0 else late, seconds)
    return _position(phone, vertical) != before


def to_end(phone: Phone, area: Node, vertical: bool, way: int, seconds: float, swipes: int) -> bool:
    """Swipes until nothing moves, at most `swipes` times. Always returns True, as UiScrollable does."""
    for _ in range(min(swipes, MOST_SWIPES)):
        if not scroll(phone, area, vertical, way, seconds):
            break
    return True


def _position(phone: Phone, vertical: bool) -> object:
    """Returns what changes on scrolling: the offsets of lists or, sideways, where pages turn, all that is shown."""
    if not vertical:
        return [node for node in phone.ui().children if not node.decor]
    views = (view for root, _ in phone.windows.touchable() for view in root.walk())
    return [view.scroll.offset for view in views if view.scroll is not None]
