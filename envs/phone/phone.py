"""The embedded phone: an Android 13 phone as one Python object.

    phone = Phone(1080, 2400)
    phone.tap(540, 2000); phone.type("hello"); phone.key("BACK")
    frame, tree = phone.screenshot(), phone.ui()

It is deterministic: its clock moves by a fixed time with every input, and nothing depends on the host.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from coach_gym.envs.phone.app import App, Host
from coach_gym.envs.phone.copying import Memo, copied
from coach_gym.envs.phone.digest import digest
from coach_gym.envs.phone.input.touch import Touch
from coach_gym.envs.phone.storage import Snapshot, Storage
from coach_gym.envs.phone.system.system import STEP, System
from coach_gym.envs.phone.system.windows import Windows
from coach_gym.envs.phone.toolkit.paint import Painter
from coach_gym.ui import Node


class Phone(System):
    """A phone to look at and to touch, which can be kept, brought back and forked. See `System` for the arguments.

    Coordinates are in pixels of the screen.
    """

    def __init__(
        self,
        width: int = 1080,
        height: int = 2400,
        density: float | None = None,
        apps: Sequence[Callable[[Host], App]] = (),
    ) -> None:
        super().__init__(width, height, density, apps)
        self.touch = Touch(self, self.windows)
        self._painter = Painter(width, height)

    # looking

    def screenshot(self) -> np.ndarray:
        """Returns what the screen shows now: height x width x 3 uint8. It is black if it is off."""
        if not self.services.screen_on:
            return np.zeros((self.height, self.width, 3), np.uint8)
        dark = self.storage.settings.get(("secure", "ui_night_mode")) == "2"
        size = self.width, self.height
        if size != self._painter.size:  # the screen has been turned
            self._painter = Painter(*size)
        return self._painter.show(self.windows.drawing(), dark)

    def ui(self) -> Node:
        """Returns the accessibility tree of all windows."""
        return self.windows.accessibility()

    # touching

    def _feel(self, touch: Callable[[], None]) -> None:
        """Lets the screen feel a touch. It feels nothing if it is off."""
        if self.services.screen_on:
            with self.running():
                touch()
        self.elapse(STEP)

    def tap(self, x: int, y: int) -> None:
        """Touches the screen for a moment."""
        self._feel(partial(self.touch.tap, x, y))

    def double_tap(self, x: int, y: int) -> None:
        """Touches the screen once more, right after a touch at the same place."""
        self._feel(partial(self.touch.double_tap, x, y))

    def long_press(self, x: int, y: int) -> None:
        """Touches the screen for a second."""
        self._feel(partial(self.touch.long_press, x, y))

    def swipe(self, start: tuple[int, int], end: tuple[int, int], seconds: float = 0.5) -> None:
        """Moves a finger from `start` to `end`. What scrolls follows it, and runs on if it was fast."""
        self._feel(partial(self.touch.swipe, start, end, seconds))

    def trace(self, points: Sequence[tuple[int, int]], seconds: float = 0.5) -> None:
        """Moves a finger through two points or more: a swipe, or a line where one can draw."""
        self._feel(partial(self.touch.trace, points, seconds))

    # keeping

    def snapshot(self) -> Any:
        """Returns the whole phone as it is now, for `restore`. Takes about a tenth of a millisecond."""
        return self.storage.snapshot(), copied(self._live(), self._shared(self)), self._plain(), self

    def restore(self, snapshot: Any) -> None:
        """Returns exactly to a snapshot of this phone, or of one with the same apps, which can be restored again."""
        storage, live, plain, owner = snapshot
        self._become(storage, copied(live, owner._shared(self)), plain)

    def fork(self) -> Phone:
        """Returns another phone in the same state. From then on neither has an influence on the other."""
        twin = copy.copy(self)
        twin._keep(Storage(self.storage.read_only))
        twin.receivers, twin.programs = [], {}
        twin.apps = {package: app.on(twin) for package, app in self.apps.items()}
        twin.launcher = self.launcher.on(twin)
        twin.windows, twin._painter = Windows(twin), Painter(self.width, self.height)
        twin.touch = Touch(twin, twin.windows)
        twin._become(self.storage.snapshot(), copied(self._live(), self._shared(twin)), self._plain())
        return twin

    def digest(self) -> str:
        """Returns a hash of the whole state, 32 hexadecimal digits.

        Two phones with the same apps have the same one exactly if they are in the same state: they show the same, and
        will show the same after the same inputs. Their clocks are part of it.
        """
        parts = {id(part): number for number, part in enumerate(self._parts())}
        files, directories, settings, attributes, now = self.storage.snapshot()
        stored = files, directories, sorted(settings.items()), sorted(attributes.items()), now
        return digest((stored, self._live(), self._plain()), parts)

    def _live(self) -> tuple:
        """Returns what can change in place, or refers to what can."""
        return self.stacks, self.focus, self.notifications, self.permissions, self.services

    def _plain(self) -> tuple:
        return (
            self.foreground, self.clipboard, self.shade, self.keyboard, self.message, self.editing, self.keyboard_shown,
            self.highlight,
        )  # fmt: skip

    def _become(self, storage: Snapshot, live: tuple, plain: tuple) -> None:
        self.storage.restore(storage)
        self.stacks, self.focus, self.notifications, self.permissions, self.services = live
        (
            self.foreground, self.clipboard, self.shade, self.keyboard, self.message, self.editing, self.keyboard_shown,
            self.highlight,
        ) = plain  # fmt: skip
        self.changed()

    def _shared(self, other: Phone) -> Memo:
        """Returns what copies of the screens share with `other` instead of copying it, by the `id` of our own."""
        return {id(mine): its for mine, its in zip(self._parts(), other._parts(), strict=True)}

    def _parts(self) -> list[Any]:
        """Returns what belongs to the phone alone and is never copied with a screen."""
        storage = self.storage
        return [self, storage, storage.settings, self.windows, self.launcher, self.apps, *self.apps.values()]
