"""`screenrecord`: a film of what the screen shows while clients work the phone."""

from __future__ import annotations

import io
import time

import numpy as np
from PIL import Image

from coach_gym.envs.phone.media import mp4
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process

LONGEST_FILM = 180  # seconds
FRAME_SECONDS = 0.5  # at least; between two pictures


def screenrecord(p: Process) -> int:
    """`screenrecord [--time-limit SECONDS] [--size WxH] [--bit-rate N] FILE`: films until it is stopped."""
    words, limit = list(p.args), LONGEST_FILM
    while words and words[0].startswith("-"):
        name, _, value = words.pop(0).partition("=")
        if name not in ("--time-limit", "--size", "--bit-rate", "--verbose", "--bugreport", "--show-frame-time"):
            bad = name[2:] if name.startswith("--") else name[1:2]
            return p.complain(f"screenrecord: unknown option -- {bad}", 2)
        if name in ("--time-limit", "--size", "--bit-rate"):
            value = value or (words.pop(0) if words else "")
        if name == "--time-limit":
            limit = int(value) if value.isdecimal() and len(value) < 9 else 0
            if not 0 < limit <= LONGEST_FILM:
                return p.complain(f"Time limit {value}s outside acceptable range [1,{LONGEST_FILM}]", 2)
    if len(words) != 1:
        return p.complain("Must specify output file (see --help).", 2)
    path = p.path(words[0])
    if not p.storage.is_dir(path.rpartition("/")[0] or "/"):
        return p.complain(f"Unable to open '{words[0]}': {NO_FILE}", 1)
    p.shell.endless, p.shell.follow = True, Recorder(p.phone, path, limit)
    return 0


class Recorder:
    """Films the screen, by the clock of this computer: clients act on the phone meanwhile.

    The file is a whole film after every new picture, so that it does not matter how the program ends.

    Args:
        phone: The phone.
        path: Where the film is stored.
        limit: The most seconds that it takes.
    """

    def __init__(self, phone: Phone, path: str, limit: float) -> None:
        self._phone, self._path, self._began = phone, path, time.monotonic()
        self._limit = limit
        self._frame = phone.screenshot()
        self._shown: list[tuple[bytes, float]] = [(_jpeg(self._frame), 0.0)]  # pictures, and when each appeared
        self._write(1.0)

    def __call__(self) -> bytes | None:
        """Looks at the screen. Returns what the program prints; None once it has ended."""
        now = time.monotonic() - self._began
        if now >= self._limit:
            self._write(self._limit)
            return None
        frame = self._phone.screenshot()
        same_size = frame.shape == self._frame.shape  # a film does not turn
        if now - self._shown[-1][1] >= FRAME_SECONDS and same_size and not np.array_equal(frame, self._frame):
            self._frame = frame
            self._shown.append((_jpeg(frame), now))
            self._write(now + FRAME_SECONDS)
        return b""

    def _write(self, end: float) -> None:
        starts = [start for _, start in self._shown]
        lasts = [after - start for start, after in zip(starts, [*starts[1:], end], strict=True)]
        height, width, _ = self._frame.shape
        pictures = [(picture, last) for (picture, _), last in zip(self._shown, lasts, strict=True)]
        self._phone.storage.write(self._path, mp4.film(pictures, (width, height)))


def _jpeg(frame: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(frame).save(out, "JPEG", quality=80)
    return out.getvalue()


COMMANDS: dict[str, Command] = {"screenrecord": screenrecord}
