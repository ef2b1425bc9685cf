"""How actions become movements of a finger and sleeps: the same on every device."""

from coach_gym.actions import Action, Point

TAP = 0.0  # seconds that the finger stays
LONG_PRESS = 1.0
SWIPE = 0.5
DRAG = 2.0  # slow, so that nothing flings on
WAIT = 4.0
SCROLL_SHARE = 0.5  # of the screen: how far the finger moves for a scroll given by its direction


def scroll_end(action: Action, size: tuple[int, int]) -> Point:
    """Where the finger of a scroll leaves the screen: where it is told, or away from what is to be shown."""
    if action.end is not None:
        return action.end
    assert action.start is not None
    (x, y), (width, height) = action.start, size
    x_sign, y_sign = {"left": (1, 0), "right": (-1, 0), "up": (0, 1), "down": (0, -1)}[action.direction or "down"]
    return _within(x + x_sign * width * SCROLL_SHARE, width), _within(y + y_sign * height * SCROLL_SHARE, height)


def _within(value: float, length: int) -> int:
    return round(min(max(0, value), length - 1))
