"""The parts of an app: an `App`, its `Screen`s, and the dialogs that apps share.

An app keeps its data where the real app keeps it: in databases, settings and files of the phone's storage. Its
screens keep only what is being looked at or typed. The phone calls `build` whenever something may have changed, so
a screen reads what it shows from storage and returns views; it never updates views.

A snapshot of the phone copies the screens with everything they keep: plain data, other screens, and callbacks, which
may be methods, partials or lambdas (see `copying.py`). A screen cannot keep what lies outside of the phone's state,
such as a database connection; a callback opens it when it is called.
"""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol, Self, Unpack

from coach_gym.envs.phone.alarms import Wakeup
from coach_gym.envs.phone.intents import Answer, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import ScrollState, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    ButtonMore,
    Column,
    ListItem,
    ListView,
    Radio,
    Row,
    Text,
    TextField,
)


class Host(Protocol):
    """What apps need of the phone they run on.

    Attributes:
        density: Pixels per dp.
        storage: Files, databases and settings.
        services: What Android's services keep: calls, roles, packages, properties.
        apps: The installed apps by package.
        stacks: The screens of running apps by package, the most recent app last.
        foreground: The package of the app in front.
        focus: The text field with the cursor.
        clipboard: The text that was copied last.
        permissions: What users have allowed, as (package, what).
        now: The phone's clock.
    """

    density: float
    storage: Storage
    services: Services
    apps: dict[str, App]
    stacks: dict[str, list[Screen]]
    foreground: str
    focus: TextInput | None
    clipboard: str
    permissions: set[tuple[str, str]]
    now: datetime

    def local(self, clock: datetime) -> datetime:
        """Returns a time on the phone's clock as it is in the time zone that is set."""

    def on_clock(self, local: datetime) -> datetime:
        """Returns what the phone's clock shows at a time in the time zone that is set."""

    @property
    def width(self) -> int:
        """Width of the screen as it is turned, in pixels."""

    @property
    def height(self) -> int:
        """Height of the screen as it is turned, in pixels."""

    @property
    def stack(self) -> list[Screen]:
        """The screens of the app in front, the top one last."""

    @property
    def top(self) -> Screen:
        """The screen in front."""

    def launch(self, package: str) -> None:
        """Brings an app to the front."""

    def open_screen(self, package: str, screen: Screen) -> None:
        """Brings an app to the front with one more screen."""

    def push(self, app: App, screen: Screen) -> None:
        """Opens a screen above the others of its app."""

    def pop(self, screen: Screen) -> None:
        """Leaves a screen and those above it."""

    def stop(self, package: str) -> None:
        """Ends an app."""

    def force_stop(self, package: str) -> None:
        """Ends an app for good: its notifications go, too."""

    def go_home(self) -> None:
        """Shows the home screen."""

    def start(self, intent: Intent) -> str | None:
        """Shows what an intent asks for. Returns the package of the app that does."""

    def broadcast(self, intent: Intent) -> Answer | None:
        """Lets every app hear an intent. Returns the first answer."""

    def post(self, notification: Notification) -> None:
        """Adds an entry to the notification shade."""

    def snackbar(self, text: str) -> None:
        """Shows a message at the bottom of the screen for a few seconds."""


class App:
    """One installed app. Subclasses set the class attributes and implement `install` and `main`.

    Attributes:
        package: The app's package.
        activity: The class that the home screen starts; with a dot in front, it is in the app's package.
        activities: Other classes that clients start by name.
        role: The category of apps that it stands for, such as `android.intent.category.APP_BROWSER`.
        label: What the home screen calls it.
        icon: Its icon.
        color: The colour behind the icon.
    """

    package = ""
    activity = ".MainActivity"
    activities: tuple[str, ...] = ()
    role = ""
    label = ""
    icon = "android"
    color = theme.PRIMARY

    def __init__(self, phone: Host) -> None:
        self.phone = phone

    def on(self, phone: Host) -> Self:
        """Returns the same app on another phone."""
        twin = copy.copy(self)
        twin.phone = phone
        return twin

    def install(self) -> None:
        """Creates the app's databases, folders and settings. Runs once, when the phone is made."""

    def clear(self) -> None:
        """Removes what the app has stored, so that it is as new."""
        for folder in (self.data, f"/data/user_de/0/{self.package}"):
            self.phone.storage.remove(folder)
        self.phone.storage.mkdir(self.data)
        self.install()

    def main(self) -> Screen:
        """Returns the screen that opens when the app is launched."""
        raise RuntimeError(f"{self.label} has no main screen")

    def open(self, intent: Intent) -> bool:
        """Shows what an intent asks for, such as a picture. Returns whether this app handles the intent."""
        return False

    def received(self, intent: Intent) -> Answer | None:
        """Handles a broadcast. Returns the answer, or None if the app has none."""
        return None

    def elapsed(self, since: datetime) -> None:
        """Notes that the clock has moved on from `since` to now. Runs with every input, so it must be quick."""

    def wakeups(self) -> Iterable[Wakeup]:
        """Returns when Android's alarm service is to wake the app. It tells so; `elapsed` does what is due."""
        return ()

    @property
    def data(self) -> str:
        """The app's private folder."""
        return f"/data/data/{self.package}"

    def database(self, path: str, schema: str) -> sqlite3.Connection:
        """Returns the database at an absolute path.

        Args:
            path: Where it is stored.
            schema: The `CREATE TABLE …` script that makes it if it is missing.
        """
        return self.phone.storage.create_database(path, schema)


class DatabaseApp(App):
    """An app over a single database.

    Attributes:
        path: Where the database is stored.
        schema: The script that makes it when the phone is made.
    """

    path = ""
    schema = ""

    def install(self) -> None:
        """Creates the database."""
        self.database(self.path, self.schema)

    @property
    def db(self) -> sqlite3.Connection:
        """The connection to the database."""
        return self.database(self.path, self.schema)


class Screen:
    """One screen of an app. Set plain attributes in `__init__`; return their appearance from `build`.

    Attributes:
        app: The app, set when the screen is pushed.
        activity: The class that adb reports while this screen is shown; empty for the app's main activity.
        window_package: The package that its views and its activity belong to; empty for the app's own.
        window: What adb calls the window in focus while this screen is shown; empty for its activity.
        dialog: Whether it is shown as a card above the screen below it.
        cancelable: Whether a touch beside the card closes it.
        placement: Where a dialog appears: "center", "top" (menus, below the app bar) or "bottom" (sheets).
    """

    app: App
    activity = ""
    window_package = ""
    window = ""
    dialog = False
    cancelable = True
    placement = "center"

    def __init__(self) -> None:
        self.scrolls: dict[str, ScrollState] = {}

    def build(self) -> View:
        """Returns the views of this screen, made from its attributes and the phone's storage."""
        raise RuntimeError(f"{type(self).__name__} has no build method")

    def on_back(self) -> bool:
        """Handles the Back button. Returns True if the screen stays."""
        return False

    def leave(self) -> None:
        """Leaves this screen as the Back button does."""
        if not self.on_back():
            self.pop()

    @property
    def phone(self) -> Host:
        """The phone that the app runs on."""
        return self.app.phone

    @property
    def now(self) -> datetime:
        """The phone's clock."""
        return self.phone.now

    @property
    def local_now(self) -> datetime:
        """The time in the time zone that is set, as the app shows it."""
        return self.phone.local(self.phone.now)

    def columns(self, upright: int) -> int:
        """Returns how many columns a grid has that has `upright` of them on a phone held upright, 360 dp wide."""
        return max(upright, int(upright * self.phone.width / self.phone.density / 360))

    def push(self, screen: Screen) -> None:
        """Opens a screen or dialog of this app above this one."""
        self.phone.push(self.app, screen)

    def pop(self) -> None:
        """Leaves this screen and those above it."""
        self.phone.pop(self)

    def replace(self, screen: Screen) -> None:
        """Leaves this screen and opens another."""
        self.phone.pop(self)
        self.phone.push(self.app, screen)

    def closing(self, then: Callable[[], Any] | None = None) -> Callable[[], None]:
        """Returns a callback that leaves this screen and then calls `then`."""

        def close() -> None:
            self.pop()
            if then is not None:
                then()

        return close

    def notify(self, text: str) -> None:
        """Shows a short message at the bottom of the screen for a few seconds."""
        self.phone.snackbar(text)

    def allowed(self, what: str, then: Callable[[], Any]) -> None:
        """Calls `then` if the app has a permission, or once the user grants it."""
        if (self.app.package, what) in self.phone.permissions:
            then()
        else:
            self.push(Permission(self.app, what, then))

    def focus(self, input: TextInput) -> None:
        """Puts the cursor in a text field and shows the keyboard."""
        self.phone.focus = input

    def ask(self, title: str, then: Callable[[str], Any], text: str = "", hint: str = "", yes: str = "OK") -> None:
        """Asks for a line of text. The proposed text is selected, so that typing replaces it."""
        prompt = Prompt(title, then, text, hint, yes)
        prompt.input.select_all()
        self.push(prompt)
        self.focus(prompt.input)


class Dialog(Screen):
    """A card with a title, content and buttons. Back, or a touch beside the card, closes it."""

    dialog = True
    title_id = "alertTitle"

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.title = title

    def content(self) -> Sequence[View]:
        """Returns the views between the title and the buttons."""
        return []

    def buttons(self) -> Sequence[View]:
        """Returns the buttons at the bottom, from left to right."""
        return []

    def build(self) -> View:
        """Returns the card."""
        parts: list[View] = [Text(self.title, 18, pad=(20, 18, 20, 6), id=self.title_id)] if self.title else []
        parts += [Column(list(self.content()), pad=(0, 4, 0, 4))]
        if buttons := list(self.buttons()):
            parts.append(Row(buttons, gap=6, pad=(12, 4, 12, 10), justify="end"))
        return Column(parts, bg=theme.SURFACE, radius=20)

    def button(self, label: str, then: Callable[[], Any] | None = None, **more: Unpack[ButtonMore]) -> View:
        """Returns a text button that closes the dialog and then calls `then`."""
        return Button(label, self.closing(then), kind="text", **more)


class Confirm(Dialog):
    """A question with two answers.

    Args:
        title: The question.
        text: Further explanation; may be empty.
        yes: Label of the button that agrees.
        then: Called if the user agrees.
        no: Label of the button that does not.
    """

    def __init__(self, title: str, text: str, yes: str, then: Callable[[], Any], no: str = "Cancel") -> None:
        super().__init__(title)
        self.text, self.yes, self.no, self.then = text, yes, no, then

    def content(self) -> Sequence[View]:
        """Returns the explanation."""
        return [Text(self.text, 14, theme.SECONDARY, pad=(20, 2, 20, 8))] if self.text else []

    def buttons(self) -> Sequence[View]:
        """Returns the two answers."""
        return [self.button(self.no), self.button(self.yes, self.then)]


class Prompt(Dialog):
    """A question for a line of text.

    Args:
        title: The question.
        then: Called with the text.
        text: The text to begin with.
        hint: What the field shows while it is empty.
        yes: Label of the button that accepts the text.
        no: Label of the button that cancels.
    """

    def __init__(
        self,
        title: str,
        then: Callable[[str], Any],
        text: str = "",
        hint: str = "",
        yes: str = "OK",
        no: str = "Cancel",
    ) -> None:
        super().__init__(title)
        self.input, self.hint, self.yes, self.no, self.then = TextInput(text), hint, yes, no, then

    def content(self) -> Sequence[View]:
        """Returns the text field."""
        return [Column([TextField(self.input, self.hint, on_submit=self.closing(self.finish))], pad=(20, 4, 20, 8))]

    def buttons(self) -> Sequence[View]:
        """Returns the buttons that cancel and accept."""
        return [self.button(self.no), self.button(self.yes, self.finish)]

    def finish(self) -> None:
        """Passes the text on."""
        self.then(self.input.text)


class Choice(Dialog):
    """A list of options, one of them marked.

    Args:
        title: The question.
        options: The labels to choose from.
        then: Called with the chosen label.
        current: The marked label; None marks none.
    """

    def __init__(
        self, title: str, options: Sequence[str], then: Callable[[str], Any], current: str | None = None
    ) -> None:
        super().__init__(title)
        self.options, self.then, self.current = list(options), then, current

    def content(self) -> Sequence[View]:
        """Returns the options."""
        chosen = {option: self.closing(partial(self.then, option)) for option in self.options}
        rows = [Radio(option, option == self.current, then) for option, then in chosen.items()]
        return [Column([ListView(rows)], height=min(44 * len(rows), 340))]

    def buttons(self) -> Sequence[View]:
        """Returns the button that cancels."""
        return [self.button("Cancel")]


class Permission(Dialog):
    """Android's question whether an app may do something, such as "record audio". `then` is called if it may."""

    window_package = "com.android.permissioncontroller"
    activity = ".permission.ui.GrantPermissionsActivity"
    cancelable = False
    title_id = "permission_message"
    ANSWERS = {
        "allow_foreground_only": "While using the app", "allow_one_time": "Only this time", "deny": "Don’t allow",
    }  # fmt: skip

    def __init__(self, app: App, what: str, then: Callable[[], Any]) -> None:
        super().__init__(f"Allow {app.label} to {what}?")
        self.what, self.then = what, then

    def content(self) -> Sequence[View]:
        """Returns the three answers."""
        rows = [
            Button(label, self.closing(partial(self._answer, name)), f"permission_{name}_button", "tonal")
            for name, label in self.ANSWERS.items()
        ]
        return [Column(rows, gap=8, pad=(20, 6, 20, 14))]

    def _answer(self, name: str) -> None:
        if name == "allow_foreground_only":
            self.phone.permissions.add((self.app.package, self.what))
        if name != "deny":
            self.then()


class Menu(Screen):
    """A pop-up list, such as the overflow menu or the menu of a long press.

    Args:
        items: Labels, and what is called when one is chosen.
        placement: Where it appears. See `Screen`.
    """

    dialog = True
    placement = "top"

    def __init__(self, items: Sequence[tuple[str, Callable[[], Any]]], placement: str = "top") -> None:
        super().__init__()
        self.items, self.placement = list(items), placement

    def build(self) -> View:
        """Returns the list."""
        rows = [ListItem(label, on_tap=self.closing(then), min_height=44) for label, then in self.items]
        return Column(rows, bg=theme.SURFACE, radius=8, pad=(0, 6, 0, 6))
