"""How long gestures take and how far they reach, on every device."""

from coach_gym.actions import Action, Point

TAP = 0.0  # seconds the finger stays down
LONG_PRESS = 1.0
SWIPE = 0.5
DRAG = 2.0  # slow, so that nothing keeps scrolling
WAIT = 4.0
SCROLL_SHARE = 0.5  # how far the finger moves for a scroll given by its direction, as a share of the screen


def scroll_end(action: Action, size: tuple[int, int]) -> Point:
    """Returns where a scrolling finger leaves the screen: at the given end, or away from what it should reveal."""
    if action.end is not None:
        return action.end
    assert action.start is not None
    (x, y), (width, height) = action.start, size
    x_sign, y_sign = {"left": (1, 0), "right": (-1, 0), "up": (0, 1), "down": (0, -1)}[action.direction or "down"]
    return _within(x + x_sign * width * SCROLL_SHARE, width), _within(y + y_sign * height * SCROLL_SHARE, height)


def _within(value: float, length: int) -> int:
    return round(min(max(0, value), length - 1))
