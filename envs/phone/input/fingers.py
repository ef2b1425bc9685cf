"""Turns fingers that go down, move and go up into the gestures of a phone."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.system import STEP

LONG_PRESS = 0.5  # seconds; Android's default
SLOP = 8  # dp that a resting finger may move
DOUBLE_TAP = 0.3  # seconds from a tap to the next one within which they are one gesture
DOUBLE_TAP_SLOP = 100  # dp between two such taps
_MOST = 10  # fingers at once, as on the emulator
_LONGEST = 4096  # points kept of a path


class Fingers:
    """The fingers on a phone's screen.

    A gesture is recognised when the finger goes up: a tap, the second of two taps, a long press, a swipe, or a line
    through many points. Two fingers at once are a pinch, which has no effect on the embedded apps.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._paths: dict[int, list[tuple[int, int]]] = {}  # of the fingers that are down
        self._since: dict[int, float] = {}
        self._pinching = False
        self._tapped: tuple[tuple[int, int], float] | None = None  # where the last gesture was a tap, and its end

    def down(self, finger: int, x: int, y: int, at: float) -> None:
        """Puts a finger on pixel (x, y), or moves it there, at a time in seconds."""
        if finger not in self._paths:
            if len(self._paths) >= _MOST:
                return
            self._paths[finger], self._since[finger] = [], at
            self._pinching = len(self._paths) > 1
        path = self._paths[finger]
        if len(path) == _LONGEST:
            path.pop()
        if not path or path[-1] != (x, y):
            path.append((x, y))

    def up(self, finger: int, at: float) -> None:
        """Lifts a finger at a time in seconds. Nothing happens if it is not down."""
        path = self._paths.pop(finger, None)
        if path is None:
            return
        since = self._since.pop(finger)
        if self._paths:
            return
        tapped, self._tapped = self._tapped, None
        if self._pinching:
            self._phone.elapse(STEP)
        elif not self._rests(path):
            self._phone.trace(path, at - since)
        elif at - since >= LONG_PRESS:
            self._phone.long_press(*path[0])
        elif tapped is not None and since - tapped[1] <= DOUBLE_TAP and is_near(self._phone, tapped[0], path[0]):
            self._phone.double_tap(*path[0])
        else:
            self._phone.tap(*path[0])
            self._tapped = path[0], at

    def _rests(self, path: list[tuple[int, int]]) -> bool:
        return all(is_near(self._phone, path[0], point, SLOP) for point in path)


def is_near(phone: Phone, one: tuple[int, int], other: tuple[int, int], dp: float = DOUBLE_TAP_SLOP) -> bool:
    """Returns whether two pixels are so near to each other; by default, that two taps can be one gesture."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) <= dp * phone.density
