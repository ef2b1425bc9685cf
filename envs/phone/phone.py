"""The embedded phone: an Android 13 phone as one Python object.

    phone = Phone(1080, 2400)
    phone.tap(540, 2000); phone.type("hello"); phone.key("BACK")
    frame, tree = phone.screenshot(), phone.ui()

It is deterministic: its clock moves by a fixed time with every input, and nothing depends on the host.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.copying import Memo, copied
from coach_gym.envs.phone.input.touch import Touch
from coach_gym.envs.phone.intents import HOME, MAIN, Answer, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.storage import Snapshot, Storage
from coach_gym.envs.phone.system.launcher import Launcher, Recents
from coach_gym.envs.phone.toolkit.paint import Painter
from coach_gym.envs.phone.toolkit.view import TextInput
from coach_gym.envs.phone.windows import Windows
from coach_gym.ui import Node

START = datetime(2023, 10, 15, 15, 34)  # the day on which AndroidWorld's phones live (UTC)
STEP = timedelta(seconds=1)  # how long one input takes


class Phone:
    """The phone's state and inputs.

    Args:
        width: Screen width in pixels.
        height: Screen height in pixels.
        density: Pixels per dp; by default such that the screen is 360 dp wide.
        apps: What makes each app from its phone, as its class does, in the order in which the home screen shows them.
    """

    def __init__(
        self,
        width: int = 1080,
        height: int = 2400,
        density: float | None = None,
        apps: Sequence[Callable[[Phone], App]] = (),
    ) -> None:
        self.width, self.height = width, height
        self.density = density or width / 360
        self.storage = Storage()
        self.storage.now = START
        self.services = Services()
        self.apps: dict[str, App] = {app.package: app for app in (make(self) for make in apps)}
        self.launcher = Launcher(self)
        self.stacks: dict[str, list[Screen]] = {}  # running apps by package, the most recent last
        self.foreground = self.launcher.package
        self.focus: TextInput | None = None
        self.editing = False  # the toolbar to cut, copy and paste is shown
        self.clipboard = ""
        self.notifications: list[Notification] = []
        self.permissions: set[tuple[str, str]] = set()
        self.shade = 0  # 0 closed, 1 notifications, 2 all quick settings
        self.keyboard = "lower"  # the page of the soft keyboard: lower, upper, symbols
        self.message: tuple[str, datetime] | None = None
        self.receivers: list[Callable[[Intent], object]] = []  # hear broadcasts from outside the phone
        self.windows = Windows(self)
        self.touch = Touch(self, self.windows)
        self._painter = Painter(width, height)
        self._install()
        self.go_home()

    def _install(self) -> None:
        for folder in ("Download", "Documents", "DCIM", "Pictures", "Music", "Movies", "Android"):
            self.storage.mkdir(f"/storage/emulated/0/{folder}")
        self.storage.mkdir("/data/local/tmp")
        for app in self.apps.values():
            self.storage.mkdir(app.data)
            app.install()

    # what is seen

    def screenshot(self) -> np.ndarray:
        """The screen as it is now: height x width x 3 uint8."""
        dark = self.storage.settings.get(("secure", "ui_night_mode")) == "2"
        return self._painter.show(self.windows.drawing(), dark)

    @property
    def font_scale(self) -> float:
        """How much larger than by default texts are."""
        return float(self.storage.settings.get(("system", "font_scale"), "1.0"))

    def ui(self) -> Node:
        """The accessibility tree of all windows."""
        return self.windows.accessibility()

    # what is touched; coordinates in pixels of the screen

    def tap(self, x: int, y: int) -> None:
        """A short touch."""
        self.touch.tap(x, y)
        self.elapse(STEP)

    def long_press(self, x: int, y: int) -> None:
        """A touch of a second."""
        self.touch.long_press(x, y)
        self.elapse(STEP)

    def swipe(self, start: tuple[int, int], end: tuple[int, int], seconds: float = 0.5) -> None:
        """A finger that moves from `start` to `end`. What scrolls follows it, and flings on if it was fast."""
        self.touch.swipe(start, end, seconds)
        self.elapse(STEP)

    def trace(self, points: Sequence[tuple[int, int]], seconds: float = 0.5) -> None:
        """A finger that goes through two points or more: a swipe, or a line on what can be drawn on."""
        self.touch.trace(points, seconds)
        self.elapse(STEP)

    def type(self, text: str) -> None:
        """Types at the cursor. Without a focused text field the text is lost; a new line is Enter."""
        for part in text.splitlines(keepends=True):
            line = part.rstrip("\r\n")
            if self.focus is not None and line:
                self.focus.insert(line)
                self.editing = False
                self.changed()
            if line != part:
                self._enter()
        self.elapse(STEP)

    def key(self, name: str) -> None:
        """A key: BACK, HOME, ENTER, APP_SWITCH, DEL, or one that does nothing here."""
        action = {
            "BACK": self.go_back, "HOME": self.go_home, "ENTER": self._enter, "APP_SWITCH": self.show_recents,
            "DEL": self._delete,
        }.get(name)  # fmt: skip
        if action is not None:
            action()
            self.changed()
        self.elapse(STEP)

    def elapse(self, time: timedelta) -> None:
        """Lets the phone's clock run."""
        since = self.now
        self.now += time
        for app in self.apps.values():
            app.elapsed(since)
        if self.message is not None and self.message[1] <= self.now:
            self.message = None
        self.changed()

    @property
    def now(self) -> datetime:
        """The phone's clock."""
        return self.storage.now

    @now.setter
    def now(self, value: datetime) -> None:
        self.storage.now = value

    def _enter(self) -> None:
        view = self.windows.focused_view()
        if self.focus is None or view is None:
            return
        if view.multiline:
            self.focus.insert("\n")
        else:
            self.focus = None
            if view.on_submit is not None:
                view.on_submit()
        self.changed()

    def _delete(self) -> None:
        if self.focus is not None:
            self.focus.delete()

    def cut(self) -> None:
        """Moves the text of the focused field to the clipboard."""
        self.copy()
        if self.focus is not None:
            self.focus.set("")

    def copy(self) -> None:
        """Copies the text of the focused field to the clipboard."""
        if self.focus is not None:
            self.clipboard = self.focus.text

    def paste(self) -> None:
        """Puts the clipboard's text at the cursor, or in place of the selection."""
        if self.focus is not None:
            self.focus.insert(self.clipboard)

    # apps and screens

    def app_named(self, label: str) -> App | None:
        """The installed app of that name, whatever the case and spaces around it."""
        wanted = label.strip().casefold()
        return next((app for app in self.apps.values() if app.label.casefold() == wanted), None)

    def launch(self, package: str) -> None:
        """Brings an app to the front, where it was left, or at its main screen."""
        stack = self.stacks.pop(package, None) or [self._attached(self.apps[package], self.apps[package].main())]
        self.stacks[package] = stack
        self._show(package)

    def open_screen(self, package: str, screen: Screen) -> None:
        """Brings an app to the front with one more screen, as an intent of another app does."""
        self.launch(package)
        self.push(self.apps[package], screen)

    def start(self, intent: Intent) -> str | None:
        """Shows what an intent asks for, in the first app that can.

        Returns:
            The package of that app, or None if there is none.
        """
        if intent.action == MAIN and HOME in intent.categories and not intent.package:
            self.go_home()
            return self.launcher.package
        if not intent.package:
            return next((app.package for app in self.apps.values() if app.open(intent)), None)
        if intent.package == self.launcher.package:
            self.go_home()
        elif intent.package not in self.apps:
            return None
        elif not self.apps[intent.package].open(intent):
            self.launch(intent.package)
        return intent.package

    def broadcast(self, intent: Intent) -> Answer | None:
        """Lets every app, and whoever listens from outside, hear an intent.

        Returns:
            The answer of the first app that gives one, or None.
        """
        for receiver in self.receivers:
            receiver(intent)
        answers = (app.received(intent) for app in self.apps.values())
        return next((answer for answer in answers if answer is not None), None)

    def push(self, app: App, screen: Screen) -> None:
        """Opens a screen above the others of its app."""
        self.stacks[app.package].append(self._attached(app, screen))
        self.focus = None
        self.changed()

    def pop(self, screen: Screen) -> None:
        """Leaves a screen and those above it; leaving the last one of an app goes home."""
        stack = self.stacks[screen.app.package]
        if screen in stack:
            del stack[stack.index(screen) :]
        if not stack:
            self.stop(screen.app.package)
        self.focus = None
        self.changed()

    def stop(self, package: str) -> None:
        """Ends an app; what was only on its screens is lost."""
        self.stacks.pop(package, None)
        if self.foreground == package:
            self.go_home()

    def snackbar(self, text: str) -> None:
        """Shows a message at the bottom of the screen for four seconds."""
        self.message = (text, self.now + timedelta(seconds=4))

    def post(self, notification: Notification) -> None:
        """Adds an entry to the notification shade."""
        self.notifications.insert(0, notification)
        self.changed()

    def go_home(self) -> None:
        """Home: the launcher's first page; apps stay as they are."""
        self.stacks[self.launcher.package] = [self._attached(self.launcher, self.launcher.main())]
        self._show(self.launcher.package)

    def show_recents(self) -> None:
        """The overview of running apps."""
        self.stacks[self.launcher.package] = [self._attached(self.launcher, Recents())]
        self._show(self.launcher.package)

    def go_back(self) -> None:
        """Back: closes the shade, the keyboard, a dialog or a screen, whichever is in front."""
        if self.shade:
            self.shade = 0
        elif self.focus is not None:
            self.focus = None
        elif not self.top.on_back() and (self.foreground != self.launcher.package or len(self.stack) > 1):
            self.pop(self.top)
        self.changed()

    @property
    def stack(self) -> list[Screen]:
        """The screens of the app in front, the top one last."""
        return self.stacks[self.foreground]

    @property
    def top(self) -> Screen:
        return self.stack[-1]

    def _show(self, package: str) -> None:
        self.foreground, self.focus, self.shade = package, None, 0
        self.changed()

    def _attached(self, app: App, screen: Screen) -> Screen:
        screen.app = app
        return screen

    def changed(self) -> None:
        """Something may look different now: the screen is built anew when it is next looked at."""
        self.windows.stale = True

    # snapshots

    def snapshot(self) -> Any:
        """Returns the whole phone as it is now, for `restore`."""
        return self.storage.snapshot(), copied(self._live(), self._shared(self)), self._plain()

    def restore(self, snapshot: Any) -> None:
        """Returns exactly to a snapshot of this phone, which can be restored again."""
        storage, live, plain = snapshot
        self._become(storage, copied(live, self._shared(self)), plain)

    def fork(self) -> Phone:
        """Returns another phone in the same state. From then on neither has an influence on the other."""
        twin = copy.copy(self)
        twin.storage, twin.receivers = Storage(), []
        twin.apps = {package: app.on(twin) for package, app in self.apps.items()}
        twin.launcher = self.launcher.on(twin)
        twin.windows, twin._painter = Windows(twin), Painter(self.width, self.height)
        twin.touch = Touch(twin, twin.windows)
        twin._become(self.storage.snapshot(), copied(self._live(), self._shared(twin)), self._plain())
        return twin

    def _live(self) -> tuple:
        """What can change in place, or refers to what can."""
        return self.stacks, self.focus, self.notifications, self.permissions, self.services

    def _plain(self) -> tuple:
        return self.foreground, self.clipboard, self.shade, self.keyboard, self.message, self.editing

    def _become(self, storage: Snapshot, live: tuple, plain: tuple) -> None:
        self.storage.restore(storage)
        self.stacks, self.focus, self.notifications, self.permissions, self.services = live
        self.foreground, self.clipboard, self.shade, self.keyboard, self.message, self.editing = plain
        self.changed()

    def _shared(self, other: Phone) -> Memo:
        """What copies of the screens do not copy but find again on `other`: the phone, its storage and apps."""
        parts = [(self, other), (self.storage, other.storage), (self.launcher, other.launcher)]
        parts += [(self.apps[package], other.apps[package]) for package in self.apps]
        return {id(mine): its for mine, its in parts}
