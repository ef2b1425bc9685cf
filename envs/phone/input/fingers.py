"""Turns fingers that go down, move and go up into the gestures of a phone."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.system import STEP

LONG_PRESS = 0.5  # seconds; Android's default
SLOP = 8  # dp that a resting finger may move
_MOST = 10  # fingers at once, as on the emulator
_LONGEST = 4096  # points kept of a path


class Fingers:
    """The fingers on a phone's screen.

    A gesture is recognised when the finger goes up: a tap, a long press, a swipe, or a line through many points. Two
    fingers at once are a pinch, which has no effect on the embedded apps.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._paths: dict[int, list[tuple[int, int]]] = {}  # of the fingers that are down
        self._since: dict[int, float] = {}
        self._pinching = False

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
        seconds = at - self._since.pop(finger)
        if self._paths:
            return
        if self._pinching:
            self._phone.elapse(STEP)
        elif not self._rests(path):
            self._phone.trace(path, seconds)
        elif seconds >= LONG_PRESS:
            self._phone.long_press(*path[0])
        else:
            self._phone.tap(*path[0])

    def _rests(self, path: list[tuple[int, int]]) -> bool:
        slop = SLOP * self._phone.density
        return all(abs(x - path[0][0]) <= slop and abs(y - path[0][1]) <= slop for x, y in path)
