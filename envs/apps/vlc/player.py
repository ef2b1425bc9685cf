"""VLC's player."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from coach_gym.envs.apps.vlc.data import Library, file_name
from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.media import film
from coach_gym.envs.phone.media.duration import clock_text
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Icon,
    IconButton,
    Picture,
    Row,
    Scaffold,
    Slider,
    Text,
)

SKIP = 10  # seconds
BLACK = "#101010"


class LibraryScreen(Screen):
    """A screen with films on it."""

    @property
    def library(self) -> Library:
        """The phone's films and playlists."""
        return Library(self.phone.storage)


class Player(LibraryScreen):
    """Plays films one after the other as the phone's clock runs, and stops at the end of the last."""

    def __init__(self, paths: Sequence[str], now: datetime, index: int = 0) -> None:
        super().__init__()
        self.paths, self.index = list(paths), index
        self.place = 0.0  # seconds into the film when it was last started or stopped
        self.since: datetime | None = now  # when it was started; None: stopped

    def build(self) -> View:
        """Shows the picture of the moment above the controls."""
        self._follow_clock()
        length = self.library.seconds(self.path)
        bar = Slider(self.place_now / length if length else 0.0, self._seek, "Seek", "player_overlay_seekbar")
        times = Row([
            Text(clock_text(int(self.place_now)), 13, "#ffffff", id="player_overlay_time"),
            Column([bar], flex=1), Text(clock_text(length), 13, "#ffffff", id="player_overlay_length"),
        ], gap=12, pad=(16, 4, 16, 0))  # fmt: skip
        return Scaffold(
            Text(file_name(self.path), 15, max_lines=2, id="player_overlay_title"), self._picture(), self.pop,
            bottom=Column([times, self._buttons()], bg=BLACK),
        )  # fmt: skip

    def _picture(self) -> View:
        data = self.phone.storage.read(self.path) or b""
        shown = film.frame(data, self.place_now, self.phone.width, self.phone.height)
        if shown is None:
            sign = Text("This film can't be decoded on this phone", 14, "#bdbdbd", align="center")
            return Column([Icon("filmstrip_off", 48, "#757575"), sign], bg=BLACK, justify="center", gap=12)
        return Picture(shown, "Video player", whole=True, bg=BLACK, id="player_surface")

    def _buttons(self) -> View:
        play = ("pause", "Pause", self._pause) if self.since else ("play", "Play", self._resume)
        buttons: list[tuple[str, str, Callable[[], None]]] = [
            ("rewind_10", "Rewind 10 seconds", lambda: self._skip(-SKIP)),
            ("skip_previous", "Previous", lambda: self._turn(-1)),
            play,
            ("skip_next", "Next", lambda: self._turn(1)),
            ("fast_forward_10", "Forward 10 seconds", lambda: self._skip(SKIP)),
        ]
        row = [IconButton(icon, label, then, color="#ffffff") for icon, label, then in buttons]
        return Row(row, gap=14, justify="center", pad=(0, 0, 0, 8))

    @property
    def path(self) -> str:
        """The path of the film that is being played."""
        return self.paths[self.index]

    @property
    def place_now(self) -> float:
        """Seconds into the film; the phone's clock may have been set back."""
        return self.place + (max(0.0, (self.now - self.since).total_seconds()) if self.since else 0.0)

    def _follow_clock(self) -> None:
        """Goes on to the next film when one has ended."""
        while self.since and self.place_now >= (length := self.library.seconds(self.path)):
            rest = self.place_now - length
            if self.index + 1 == len(self.paths):
                self.place, self.since = length, None
            else:
                self.index, self.place, self.since = self.index + 1, rest, self.now

    def _pause(self) -> None:
        self.place, self.since = self.place_now, None

    def _resume(self) -> None:
        if self.place >= self.library.seconds(self.path):
            self.place = 0.0
        self.since = self.now

    def _seek(self, share: float) -> None:
        self.place = share * self.library.seconds(self.path)
        self.since = self.now if self.since else None

    def _skip(self, seconds: float) -> None:
        self.place = min(max(0.0, self.place_now + seconds), self.library.seconds(self.path))
        self.since = self.now if self.since else None

    def _turn(self, films: int) -> None:
        self.index = min(max(0, self.index + films), len(self.paths) - 1)
        self.place, self.since = 0.0, self.now
