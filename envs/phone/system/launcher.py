"""The home screen, the app drawer and the overview of running apps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.system.thumbnails import thumbnail
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (  # fmt: skip
    Button,
    Card,
    Column,
    Empty,
    Grid,
    Icon,
    IconButton,
    ListView,
    Picture,
    Row,
    Space,
    Text,
    TextField,
)

COLUMNS, ROWS = 4, 3  # of icons on a phone held upright
DOCK = (
    "com.google.android.dialer", "com.google.android.apps.messaging", "com.simplemobiletools.smsmessenger",
    "com.android.chrome", "com.android.camera2",
)  # fmt: skip
WALLPAPER = "#e8f0fe"
MARGIN, GAP, EDGE = 14, 12, 8  # dp; around and between the cards of running apps, and around their pictures


class Launcher(App):
    """The app behind the Home button."""

    package = "com.google.android.apps.nexuslauncher"
    activity = ".NexusLauncherActivity"
    label = "Pixel Launcher"

    def main(self) -> Screen:
        """Returns the home screen."""
        return Home()

    def sorted_apps(self) -> list[App]:
        """Returns all apps by label."""
        return sorted(self.phone.apps.values(), key=lambda app: app.label.casefold())


class Home(Screen):
    """Pages of app icons above a dock of the apps that are used most. Swiping up opens the drawer."""

    app: Launcher

    def __init__(self) -> None:
        super().__init__()
        self.page = 0

    def build(self) -> View:
        """Returns the date, the icons of this page, the dock and the search button."""
        tall = self.phone.height >= theme.SHORT * self.phone.density
        docked = [self.phone.apps[package] for package in DOCK if tall and package in self.phone.apps]
        apps = [app for app in self.phone.apps.values() if app not in docked]
        columns = self.columns(COLUMNS)
        per_page = columns * (ROWS if tall else 1)
        pages = -(-len(apps) // per_page)
        page = min(self.page, pages - 1)  # a turned screen has other pages
        shown = apps[page * per_page : (page + 1) * per_page]
        clock = Text(self.local_now.strftime("%a, %b %-d"), 20, pad=(20, 18, 20, 14), id="clock")
        grid = Grid([self._icon(app) for app in shown], columns, gap=8, pad=(10, 6, 10, 6))
        dots = Row([self._dot(i == page) for i in range(pages)], gap=8, justify="center", pad=6)
        icons = [self._icon(app, named=False) for app in docked]
        dock = [Grid(icons, len(docked), pad=(10, 0, 10, 0))] if docked else []
        search = Button("Search apps", lambda: self.push(Drawer()), "search_container", "outlined")
        body = [clock, grid, Space(flex=1), dots, *dock, Column([search], pad=(24, 4, 24, 16))]
        return Column(body, bg=WALLPAPER, on_swipe=partial(self._swiped, page, pages))

    def _icon(self, app: App, named: bool = True) -> View:
        return AppIcon(app, partial(self.phone.launch, app.package), named)

    def _dot(self, shown: bool) -> View:
        color = theme.PRIMARY if shown else theme.OUTLINE
        return View(width=7, height=7, radius=3, bg=color, important=False)

    def _swiped(self, page: int, pages: int, way: str) -> None:
        if way == "up":
            self.push(Drawer())
        elif way in ("left", "right"):
            self.page = min(max(0, page + (1 if way == "left" else -1)), pages - 1)


class Drawer(Screen):
    """All apps, with a search field."""

    app: Launcher

    def __init__(self) -> None:
        super().__init__()
        self.query = TextInput()

    def build(self) -> View:
        """Returns the search field and the icons of the matching apps."""
        wanted = self.query.text.strip().casefold()
        apps = [app for app in self.app.sorted_apps() if wanted in app.label.casefold()]
        icons = [AppIcon(app, partial(self._open, app)) for app in apps]
        field = Column([TextField(self.query, "Search apps", "search_box")], pad=(14, 12, 14, 8))
        grid = [Grid(icons, self.columns(COLUMNS), gap=8, pad=(10, 6, 10, 6))] if icons else []
        return Column([field, ListView(grid, on_swipe=self._swiped)], bg=theme.SURFACE)

    def _open(self, app: App) -> None:
        self.pop()
        self.phone.launch(app.package)

    def _swiped(self, way: str) -> None:
        if way == "down":
            self.pop()


class Recents(Screen):
    """A card for every running app, the most recent first."""

    app: Launcher

    def build(self) -> View:
        """Returns a card for each running app."""
        running = [p for p in reversed(self.phone.stacks) if p != self.app.package]
        if not running:
            return Empty("No recent items", "view_carousel_outline")
        columns = self.columns(2)
        width = (self.phone.width / self.phone.density - 2 * MARGIN - (columns - 1) * GAP) / columns
        cards = Grid([self._card(package, width) for package in running], columns, gap=GAP)
        clear = Button("Clear all", self._clear, "clear_all", "text")
        return Column([ListView([Column([cards, clear], gap=10, pad=MARGIN)])], bg=WALLPAPER)

    def _card(self, package: str, width: float) -> View:
        app = self.phone.apps[package]
        close = IconButton("close", f"Close {app.label}", partial(self.phone.stop, package))
        name = Text(app.label, 13, flex=1, max_lines=1, important=False)
        heading = Row([Icon(app.icon, 20, app.color), name, close], gap=6)
        shown = thumbnail(self.phone, package, round((width - 2 * EDGE) * self.phone.density))
        picture = Picture(shown, height=(width - 2 * EDGE) * len(shown) / len(shown[0]), important=False)
        card = partial(self.phone.launch, package)
        return Card([heading, picture], card, desc=app.label, pad=(EDGE, 0, EDGE, EDGE), radius=16)

    def _clear(self) -> None:
        for package in [p for p in self.phone.stacks if p != self.app.package]:
            self.phone.stop(package)
        self.phone.go_home()


def AppIcon(app: App, on_tap: Callable[[], Any], named: bool = True) -> View:
    """Returns an app's icon, with its label below if it is `named`."""
    disc = View(
        "android.widget.ImageView", [Icon(app.icon, 26, "#ffffff")], bg=app.color, radius=24, width=48, height=48,
        align="center", justify="center", important=False,
    )  # fmt: skip
    name = [Text(app.label, 11, align="center", max_lines=1, important=False)] if named else []
    return View(
        "android.widget.TextView", [Column([disc], align="center"), *name], text=app.label, on_tap=on_tap, gap=4,
        pad=(0, 6, 0, 6),
    )  # fmt: skip
