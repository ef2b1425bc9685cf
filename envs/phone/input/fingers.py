"""Fingers on the screen, told as they go down, move and go up, as the gestures that the phone knows."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.system import STEP

LONG_PRESS = 0.5  # seconds; Android's default
SLOP = 8  # dp that a finger may move and still rest
_MOST = 10  # fingers at a time, as on the emulator
_LONGEST = 4096  # points of a path that are kept


class Fingers:
    """The fingers on one phone's screen.

    What a finger did is decided when it goes up: a tap, a long press, a swipe, or a line through many points.
    Two fingers at once are a pinch, for which the embedded apps have no use: it passes without effect.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._paths: dict[int, list[tuple[int, int]]] = {}  # of the fingers that are down
        self._since: dict[int, float] = {}
        self._pinching = False

    def down(self, finger: int, x: int, y: int, at: float) -> None:
        """A finger is on the screen at pixel (x, y) at a time in seconds; where it was before, it has moved."""
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
        """A finger leaves the screen; nothing happens if it was not there."""
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
