"""Chrome shows web pages that are files on the phone. It reaches no network and runs no scripts.

It shows the text of any page. Some kinds of pages that depend on their scripts are recognised by the constants in them
and played as their scripts would: a `maze`, a `product` to remember and a `drawing`, which are the pages of
AndroidWorld's browser tasks and of our own (`task_pages`), and `picture_pages` (`sight_pages`).
"""

from __future__ import annotations

from typing import cast
from urllib.parse import quote_plus, unquote

from coach_gym.envs.apps.chrome.drawing import Drawing
from coach_gym.envs.apps.chrome.html import Document
from coach_gym.envs.apps.chrome.maze import Maze
from coach_gym.envs.apps.chrome.page import Article, Page
from coach_gym.envs.apps.chrome.picture_pages import PictureButtons, PictureSwitches
from coach_gym.envs.apps.chrome.product import Product
from coach_gym.envs.phone.app import App, Menu, Screen
from coach_gym.envs.phone.intents import CATEGORY, VIEW, WEB_SEARCH, Intent
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Column, Empty, Icon, IconButton, ListView, Row, Space, TextField

PACKAGE = "com.android.chrome"
SUFFIXES = (".htm", ".html")
DESKTOP_WIDTH = 980  # css pixels of a page that does not ask for the width of the device


class Chrome(App):
    """A browser with one tab."""

    package = PACKAGE
    activity = "com.google.android.apps.chrome.Main"
    role = f"{CATEGORY}APP_BROWSER"
    label = "Chrome"
    icon = "google_chrome"
    color = "#1a73e8"

    def main(self) -> Screen:
        """Opens an empty tab."""
        return Tab()

    def open(self, intent: Intent) -> bool:
        """Shows a web address or a file of HTML in place of the page before. Back leads to the app that asked."""
        address = intent.data
        if intent.action == WEB_SEARCH:
            address = f"https://www.google.com/search?q={quote_plus(intent.extra('query'))}"
        web = address.startswith(("http:", "https:"))
        html = intent.type == "text/html" or intent.data.lower().endswith(SUFFIXES)
        if intent.action not in (VIEW, WEB_SEARCH) or not (web or (html and intent.data.startswith("file:"))):
            return False
        caller = self.phone.foreground
        if PACKAGE in self.phone.stacks:
            self.phone.stop(PACKAGE)
        self.phone.launch(PACKAGE)
        tab = cast(Tab, self.phone.top)
        tab.caller = caller if caller != PACKAGE else ""
        tab.go_to(address)
        return True


class Tab(Screen):
    """The address bar, and the page below it."""

    def __init__(self) -> None:
        super().__init__()
        self.address = TextInput()
        self.page: Page | None = None
        self.shown = ""  # the address of what is shown
        self.caller = ""  # package of the app that asked for it

    def build(self) -> View:
        """Shows the address bar and the page."""
        field = TextField(
            self.address, "Search or type URL", "url_bar", self._enter, 1, flex=1, bg=theme.SURFACE_VARIANT, radius=22,
            max_lines=1,
        )  # fmt: skip
        bar = Row(
            [
                IconButton("home_outline", "Home", self._home, "home_button"),
                field,
                IconButton("dots_vertical", "More options", self._menu, "menu_button"),
            ],
            gap=2, pad=(4, 5, 4, 5),
        )  # fmt: skip
        return Column([bar, self._body()])

    def _body(self) -> View:
        if self.page is None and self.shown:
            return Empty("This site can't be reached\n\nERR_FILE_NOT_FOUND or ERR_INTERNET_DISCONNECTED", "web_off")
        if self.page is None:
            return Column([Icon("google_chrome", 72, theme.OUTLINE)], flex=1, justify="center", align="center")
        fits = self.page.mobile or isinstance(self.page, Article)  # text is enlarged to a legible size
        scale = 1.0 if fits else self.phone.width / self.phone.density / DESKTOP_WIDTH
        content = Column(self.page.views(scale), pad=8 * scale)
        return ListView([content, Space(24)], self.shown, cls="android.webkit.WebView", text=self.page.title)

    def go_to(self, address: str) -> None:
        """Shows the page at an address."""
        data = None
        if address.startswith("file://"):
            data = self.phone.storage.read(real(unquote(address.removeprefix("file://"))))
        self.page = None if data is None else read(data)
        self.address.set(address)
        self.shown = address

    def on_back(self) -> bool:
        """Leaves the page, for the app that asked for it if there is one."""
        showing, caller = bool(self.shown), self.caller
        self._home()
        if showing and caller in self.phone.stacks:
            self.phone.launch(caller)
        return showing

    def _home(self) -> None:
        self.page, self.shown, self.caller = None, "", ""
        self.address.set("")

    def _enter(self) -> None:
        if self.address.text.strip():
            self.go_to(self.address.text.strip())

    def _menu(self) -> None:
        self.push(Menu([("New tab", self._home), ("Reload", self._reload)]))

    def _reload(self) -> None:
        if self.shown:
            self.go_to(self.shown)


def read(data: bytes) -> Page:
    """Returns the page that a file of HTML describes."""
    document = Document(data)
    article = Article(document.title, document.mobile, document.blocks)
    try:
        for kind in (Maze, Product, Drawing, PictureButtons, PictureSwitches):
            if page := kind.read(document):
                return page
        return article
    except (ValueError, IndexError, TypeError, RecursionError):  # the constants do not hold what their names promise
        return article


APP = Chrome
