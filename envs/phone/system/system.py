"""The phone's software: which apps run, which screen is in front, the clock, and what comes of a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from coach_gym.checks import LARGEST_SIDE, require_at_most, require_positive, require_whole
from coach_gym.envs.phone import zones
from coach_gym.envs.phone.alarms import Wakeup
from coach_gym.envs.phone.app import App, Host, Screen
from coach_gym.envs.phone.intents import HOME, MAIN, Answer, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.packages import is_googles, package_file, place
from coach_gym.envs.phone.paths import LINKS, SYSTEM
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.settings import DEFAULTS
from coach_gym.envs.phone.sql import DAMAGED, is_corrupt
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.system.crashes import KeepsStopping, Stopped
from coach_gym.envs.phone.system.launcher import Launcher, Recents
from coach_gym.envs.phone.system.windows import Windows
from coach_gym.envs.phone.toolkit.view import TextInput

START = datetime(2023, 10, 15, 15, 34)
"""When a new phone is switched on: AndroidWorld's day."""

STEP = timedelta(seconds=1)
"""How long an input takes."""

MESSAGE_TIME = timedelta(seconds=4)
FOLDERS = ("Download", "Documents", "DCIM", "Pictures", "Music", "Movies", "Android")


SLIM = 1.65
"""The sides' ratio up to which a screen is a tablet's: 1.6 on most; phones have had 1.67 to 2.3."""


def is_slim(width: int, height: int) -> bool:
    """Returns whether a screen has the shape of a phone's, held either way."""
    return max(width, height) > SLIM * min(width, height)


class System:
    """A phone's system software with its apps.

    Args:
        width: Screen width in pixels.
        height: Screen height in pixels.
        density: Pixels per dp; by default such that the shorter side is 360 dp long, or 800 dp if the screen is too
            wide for a phone's.
        apps: What makes each app from its phone, as its class does, in the order in which the home screen shows them.

    Attributes:
        storage: Files, databases and settings.
        services: What Android's services keep: calls, roles, packages, properties.
        apps: The installed apps by package.
        launcher: The app behind the Home button.
        stacks: The screens of running apps by package, the most recent app last.
        foreground: The package of the app in front.
        focus: The text field that takes what is typed. Setting it shows the keyboard.
        keyboard_shown: Whether the soft keyboard is on the screen. A field keeps the focus when it is put away.
        highlight: The number of the view that has the focus by a key such as TAB, among those of the front window that
            can have it; None if no view has, or a text field.
        editing: Whether the toolbar to cut, copy and paste is shown.
        clipboard: The text that was copied last.
        notifications: What the notification shade lists, the latest first.
        permissions: What users have allowed, as (package, what).
        shade: 0 closed, 1 with notifications, 2 with all quick settings; 3 is the power menu.
        keyboard: The page of the soft keyboard: "lower", "upper" or "symbols".
        message: The text at the bottom of the screen, and when it goes away.
        programs: Names, by process id, of what clients run in shells: programs outside the phone, which no snapshot
            holds.
        receivers: Called with every broadcast; for programs outside the phone.
        windows: What is on the screen.
        upright: Width and height of the screen before it is turned, in pixels.
        density: Pixels per dp.
    """

    def __init__(
        self,
        width: int = 1080,
        height: int = 2400,
        density: float | None = None,
        apps: Sequence[Callable[[Host], App]] = (),
    ) -> None:
        require_whole(1, width=width, height=height)
        require_at_most(LARGEST_SIDE, width=width, height=height)
        if density is not None:
            require_positive(density=density)
        self.upright = width, height
        self.density = density or min(width, height) / (360 if is_slim(width, height) else 800)
        self.services = Services()
        self._keep(Storage())
        self.storage.now = START
        self.apps: dict[str, App] = {app.package: app for app in (make(self) for make in apps)}
        self.launcher = Launcher(self)
        self.stacks: dict[str, list[Screen]] = {}
        self.foreground = self.launcher.package
        self.keyboard_shown = False
        self.highlight: int | None = None
        self._focus: TextInput | None = None
        self.editing = False
        self.clipboard = ""
        self.notifications: list[Notification] = []
        self.permissions: set[tuple[str, str]] = set()
        self.shade = 0
        self.keyboard = "lower"
        self.message: tuple[str, datetime] | None = None
        self.programs: dict[int, str] = {}
        self.receivers: list[Callable[[Intent], object]] = []
        self.windows = Windows(self)
        self._install()
        self.go_home()

    def _keep(self, storage: Storage) -> None:
        """Has all that the phone stores in one place, which reads times as the phone does."""
        self.storage = storage
        storage.local, storage.on_clock = self.local, self.on_clock

    def _install(self) -> None:
        for folder in (*SYSTEM, *(path.rpartition("/")[0] or "/" for path in LINKS)):
            self.storage.mkdir(folder)
        for folder in FOLDERS:
            self.storage.mkdir(f"/storage/emulated/0/{folder}")
        self.storage.mkdir("/data/local/tmp")
        for app in self.apps.values():
            self.storage.mkdir(app.data)
            self.storage.write(place(app.package, is_googles(app.package)), package_file(app.package))
            app.install()
        self.storage.settings.update(DEFAULTS | self.storage.settings)
        self.storage.read_only = True

    # the screen

    @property
    def rotation(self) -> int:
        """Quarter turns of the screen, 0 to 3: what the settings say, or as the phone is held if it turns by itself."""
        settings = self.storage.settings
        if settings.get(("system", "accelerometer_rotation")) == "1":
            return self.services.held
        turns = settings.get(("system", "user_rotation"), "0")
        return int(turns) if turns in ("1", "2", "3") else 0

    def turn(self, rotation: int | None) -> None:
        """Turns the screen to a number of quarter turns and keeps it so; None has it follow how the phone is held."""
        settings = self.storage.settings
        settings["system", "accelerometer_rotation"] = str(int(rotation is None))
        if rotation is not None:
            settings["system", "user_rotation"] = str(rotation)
        self.changed()

    @property
    def width(self) -> int:
        """Width of the screen as it is turned, in pixels."""
        return self.upright[self.rotation % 2]

    @property
    def height(self) -> int:
        """Height of the screen as it is turned, in pixels."""
        return self.upright[1 - self.rotation % 2]

    @property
    def focus(self) -> TextInput | None:
        """The text field that takes what is typed."""
        return self._focus

    @focus.setter
    def focus(self, input: TextInput | None) -> None:
        self._focus, self.keyboard_shown, self.highlight = input, input is not None, None

    # the clock

    @property
    def now(self) -> datetime:
        """The phone's clock: the time in `services.zone`, without a zone."""
        return self.storage.now

    @now.setter
    def now(self, value: datetime) -> None:
        self.storage.now = value

    def local(self, clock: datetime) -> datetime:
        """Returns a time on the phone's clock as it is in the time zone that is set."""
        return zones.local(self.services, clock)

    def on_clock(self, local: datetime) -> datetime:
        """Returns what the phone's clock shows at a time in the time zone that is set."""
        return zones.from_local(self.services, local)

    def elapse(self, time: timedelta) -> None:
        """Lets the clock run; apps hear of it."""
        since = self.now
        self.now += time
        for app in self.apps.values():
            if type(app).elapsed is App.elapsed:
                continue  # most apps do nothing, and entering `running` is what takes time
            with self.running(app.package, shown=False):
                app.elapsed(since)
        if self.message is not None and self.message[1] <= self.now:
            self.message = None
        self.changed()

    def wakeups(self) -> list[tuple[str, Wakeup]]:
        """Returns the packages that Android's alarm service is to wake, and when, the next one first."""
        found: list[tuple[str, Wakeup]] = []
        for app in self.apps.values():
            with self.running(app.package, shown=False):
                found += [(app.package, wakeup) for wakeup in app.wakeups() if wakeup.at > self.now]
        return sorted(found, key=lambda each: each[1].at)

    # apps

    def app_named(self, label: str) -> App | None:
        """Returns the installed app of that name, whatever the case and the spaces around it; None if missing."""
        wanted = label.strip().casefold()
        return next((app for app in self.apps.values() if app.label.casefold() == wanted), None)

    def launch(self, package: str) -> None:
        """Brings an app to the front, where it was left, or at its main screen.

        Raises:
            Stopped: Its data is damaged; `running` has this pass.
        """
        stack = self.stacks.pop(package, None)
        if not stack:
            self.services.pids[package] = self.services.new_pid()
            self.begin(package)
        else:
            self.stacks[package] = stack
        self._show(package)

    def begin(self, package: str) -> None:
        """Shows an app's main screen in place of the screens it has."""
        self.stacks[package] = [self._attached(self.apps[package], self._main(package))]

    def _main(self, package: str) -> Screen:
        try:
            return self.apps[package].main()
        except DAMAGED as fault:
            self._crash(package, fault, shown=True)
            raise Stopped(package) from fault

    @contextmanager
    def running(self, package: str = "", shown: bool = True) -> Iterator[None]:
        """Runs code of an app, by default the one in front. If it fails because its data is damaged, it ends.

        Args:
            package: The app.
            shown: Whether Android tells the user if it fails; it always does if the app is in front.
        """
        try:
            with self.storage.turn():
                yield
        except Stopped:
            pass
        except DAMAGED as fault:
            self._crash(package or self.foreground, fault, shown)

    def _crash(self, package: str, fault: Exception, shown: bool) -> None:
        shown = shown or package == self.foreground
        kind = "SQLiteException"
        if is_corrupt(fault) and (path := self.storage.remove_corrupt()):
            kind = "SQLiteDatabaseCorruptException"
            words = f"Corruption reported by sqlite on database: {path}\ndeleting the database file: {path}"
            self.services.write_log(self.now, "E", "DefaultDatabaseErrorHandler", words, package=package)
        told = f"FATAL EXCEPTION: main\nProcess: {package}, PID: {self.services.pids.get(package, 0)}"
        words = f"{told}\nandroid.database.sqlite.{kind}: {fault}"
        self.services.write_log(self.now, "E", "AndroidRuntime", words, "crash", package)
        self.stop(package)
        if shown:
            self.go_home()
            self.push(self.launcher, KeepsStopping(self.apps[package]))

    def stop(self, package: str) -> None:
        """Ends an app; what was only on its screens is lost."""
        self.stacks.pop(package, None)
        if self.foreground == package:
            self.go_home()

    def force_stop(self, package: str) -> None:
        """Ends an app for good: its notifications go, too."""
        self.stop(package)
        self.notifications = [each for each in self.notifications if each.package != package]
        self.changed()

    def start(self, intent: Intent) -> str | None:
        """Shows what an intent asks for, in the first app that can.

        Returns:
            The package of that app, or None if no app can.
        """
        if intent.action == MAIN and HOME in intent.categories and not intent.package:
            self.go_home()
            return self.launcher.package
        if not intent.package:
            return next((app.package for app in self.apps.values() if self.opened(app, intent)), None)
        if intent.package == self.launcher.package:
            self.go_home()
        elif intent.package not in self.apps:
            return None
        else:
            with self.running(intent.package):
                if not self.apps[intent.package].open(intent):
                    self.launch(intent.package)
        return intent.package

    def opened(self, app: App, intent: Intent) -> bool:
        """Lets an app show what an intent asks for. Returns whether it does, or has failed at it."""
        with self.running(app.package):
            if intent.action == MAIN and intent.categories and app.role in intent.categories:
                self.launch(app.package)
                return True
            return app.open(intent)
        return True

    def broadcast(self, intent: Intent) -> Answer | None:
        """Lets every app, and whoever listens from outside, hear an intent.

        Returns:
            The answer of the first app that gives one, or None.
        """
        for receiver in self.receivers:
            receiver(intent)
        answers = (self._received(app, intent) for app in self.apps.values())
        return next((answer for answer in answers if answer is not None), None)

    def _received(self, app: App, intent: Intent) -> Answer | None:
        with self.running(app.package, shown=False):
            return app.received(intent)
        return None

    # screens

    @property
    def stack(self) -> list[Screen]:
        """The screens of the app in front, the top one last."""
        return self.stacks[self.foreground]

    @property
    def top(self) -> Screen:
        """The screen in front."""
        return self.stack[-1]

    def open_screen(self, package: str, screen: Screen) -> None:
        """Brings an app to the front with one more screen, as an intent of another app does."""
        self.launch(package)
        self.push(self.apps[package], screen)

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

    def _show(self, package: str) -> None:
        self.foreground, self.focus, self.shade = package, None, 0
        self.changed()

    def _attached(self, app: App, screen: Screen) -> Screen:
        screen.app = app
        return screen

    def changed(self) -> None:
        """Notes that something may look different now: the screen is built anew when it is next looked at."""
        self.windows.stale = True

    # messages to the user

    def snackbar(self, text: str) -> None:
        """Shows a message at the bottom of the screen for four seconds."""
        self.message = (text, self.now + MESSAGE_TIME)

    def post(self, notification: Notification) -> None:
        """Adds an entry to the notification shade, perhaps in place of the one with the same tag."""
        same = notification.package, notification.tag
        others = [each for each in self.notifications if each.tag is None or (each.package, each.tag) != same]
        self.notifications = [notification, *others]
        self.changed()

    # keys

    def key(self, name: str) -> None:
        """Presses a key: BACK, HOME, ENTER, APP_SWITCH or DEL. Any other only takes its time."""
        action = {
            "BACK": self.go_back, "HOME": self.go_home, "ENTER": self._enter, "APP_SWITCH": self.show_recents,
            "DEL": self._delete,
        }.get(name)  # fmt: skip
        if action is not None:
            with self.running():
                action()
            self.changed()
        self.elapse(STEP)

    def type(self, text: str) -> None:
        """Types at the cursor; a line break is Enter. Without a focused text field the text is lost."""
        for part in text.splitlines(keepends=True):
            line = part.rstrip("\r\n")
            if self.focus is not None and line:
                self.focus.insert(line)
                self.editing = False
                self.changed()
            if line != part:
                with self.running():
                    self._enter()
        self.elapse(STEP)

    def go_home(self) -> None:
        """Shows the launcher's first page; apps stay as they are."""
        self.stacks[self.launcher.package] = [self._attached(self.launcher, self.launcher.main())]
        self._show(self.launcher.package)

    def restart(self) -> None:
        """Restarts: screens, clipboard, notifications and calls are lost."""
        for package in list(self.stacks):
            self.stop(package)
        self.notifications.clear()
        self.clipboard, self.message = "", None
        self.services.calls.clear()
        self.services.screen_on = True
        self.go_home()

    def show_recents(self) -> None:
        """Shows the overview of running apps."""
        self.stacks[self.launcher.package] = [self._attached(self.launcher, Recents())]
        self._show(self.launcher.package)

    def go_back(self) -> None:
        """Closes the shade, the keyboard, a dialog or a screen, whichever is in front."""
        if self.shade:
            self.shade = 0
        elif self.keyboard_shown:
            self.keyboard_shown = False
        elif not self.top.on_back() and (self.foreground != self.launcher.package or len(self.stack) > 1):
            self.pop(self.top)
        self.changed()

    def _enter(self) -> None:
        view = self.windows.focused_view()
        if self.focus is None or view is None:
            return
        if view.multiline:
            self.focus.insert("\n")
        elif view.on_submit is None and (below := self.windows.field_below(view)) is not None:
            shown = self.keyboard_shown
            self.focus, self.keyboard_shown = below, shown
        else:
            self.keyboard_shown = False
            if view.on_submit is not None:
                view.on_submit()
        self.changed()

    def _delete(self) -> None:
        if self.focus is not None:
            self.focus.delete()
