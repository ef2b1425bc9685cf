"""Chrome: shows web pages that lie on the phone (read by `html`); there is no web to be reached."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import cast
from urllib.parse import unquote

import numpy as np
from PIL import Image, ImageDraw

from coach_gym.envs.apps.chrome import html
from coach_gym.envs.apps.chrome.html import SUCCESS, Article, Drawing, Maze, Page, Product, Stroke
from coach_gym.envs.phone.app import App, Host, Menu, Screen
from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Empty,
    Grid,
    Icon,
    IconButton,
    ListView,
    Row,
    Space,
    Text,
    TextField,
)

PACKAGE = "com.android.chrome"
SUFFIXES = ("htm", "html")
HEADINGS = {"h1": 32, "h2": 24, "h3": 19, "h4": 16, "h5": 13, "h6": 11}
BUTTON = "#efefef"
MOVES = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}
CANVAS = 300  # css pixels


class Chrome(App):
    package = PACKAGE
    activity = "com.google.android.apps.chrome.Main"
    label = "Chrome"
    icon = "google_chrome"
    color = "#1a73e8"

    def main(self) -> Screen:
        return Tab()

    def open(self, intent: Intent) -> bool:
        """Shows a page: a web address, or a file of HTML."""
        web = intent.data.startswith(("http:", "https:"))
        page = intent.data.startswith("file:") and (intent.type == "text/html" or intent.data.endswith(SUFFIXES))
        if intent.action != VIEW or not (web or page):
            return False
        show(self.phone, intent.data)
        return True


def open_page(phone: Host, path: str) -> None:
    """Shows a file in Chrome, as other apps ask for."""
    show(phone, f"file://{path}")


def show(phone: Host, address: str) -> None:
    """Goes to an address in Chrome; pages opened before are left. Back leads to the app that was in front."""
    caller = phone.foreground
    if PACKAGE in phone.stacks:
        phone.stop(PACKAGE)
    phone.launch(PACKAGE)
    tab = cast(Tab, phone.top)
    tab.caller = caller if caller != PACKAGE else ""
    tab.go_to(address)


class Tab(Screen):
    """The address bar, and the page below it."""

    def __init__(self) -> None:
        super().__init__()
        self.address = TextInput()
        self.page: Page | None = None
        self.shown = ""  # the address of what is shown
        self.caller = ""  # package of the app that asked for it

    def build(self) -> View:
        looks = {"bg": theme.SURFACE_VARIANT, "radius": 22, "max_lines": 1}
        field = TextField(self.address, "Search or type URL", "url_bar", self._enter, 1, flex=1, **looks)
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
        width = self.phone.width / self.phone.density
        fits = self.page.mobile or isinstance(self.page, Article)  # texts are enlarged until they can be read
        scale = 1.0 if fits else width / html.DESKTOP_WIDTH
        content = Column(_show(self.page, scale), pad=8 * scale)
        return ListView([content, Space(24)], self.shown, cls="android.webkit.WebView", text=self.page.title)

    def go_to(self, address: str) -> None:
        """Shows what lies at an address."""
        data = None
        if address.startswith("file://"):
            data = self.phone.storage.read(real(unquote(address.removeprefix("file://"))))
        self.page = None if data is None else html.read(data)
        self.address.set(address)
        self.shown = address

    def on_back(self) -> bool:
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


# pages; lengths are in css pixels, `scale` dp each


def _show(page: Page, scale: float) -> list[View]:
    match page:
        case Maze():
            return _maze(page, scale)
        case Product():
            return _product(page, scale)
        case Drawing():
            return _drawing(page, scale)
        case Article():
            return [_block(tag, text, scale) for tag, text in page.blocks]
    return []


def _block(tag: str, text: str, scale: float) -> View:
    size = HEADINGS.get(tag, 16) * scale
    bullet = "• " if tag == "li" else ""
    return Text(bullet + text, size, bold=tag in HEADINGS, pad=(0, 8 * scale, 0, 8 * scale))


def _button(label: str, on_tap: partial, scale: float, size: float = 14, pad: tuple[float, float] = (10, 5)) -> View:
    across, along = pad[0] * scale, pad[1] * scale
    return View(
        "android.widget.Button", text=label, on_tap=on_tap, size=size * scale, align="center", bg=BUTTON,
        border="#767676", radius=3 * scale, pad=(across, along, across, along),
    )  # fmt: skip


def _maze(page: Maze, scale: float) -> list[View]:
    if page.solved:
        return [_block("h1", SUCCESS, scale)]
    rows = [
        Row([_cell(page, row, column, scale) for column in range(len(page.grid[row]))]) for row in range(len(page.grid))
    ]
    buttons = [
        _button(name, partial(page.move, *way), scale, page.font, (page.font, page.font / 2))
        for name, way in MOVES.items()
    ]
    return [*rows, Row(buttons, gap=5 * scale, pad=(0, 10 * scale, 0, 0))]


def _cell(page: Maze, row: int, column: int, scale: float) -> View:
    color = {html.WALL: "#000000", html.GOAL: "#008000"}.get(page.grid[row][column], "#ffffff")
    side, here = (page.side + 2) * scale, (row, column) == (page.row, page.column)
    return View(
        "android.widget.TextView", text="X" if here else "", size=side / 2, align="center", width=side, height=side,
        bg=color, border="#000000",
    )  # fmt: skip


def _product(page: Product, scale: float) -> list[View]:
    gap = Space(50 * scale)
    if page.number is not None:
        number = Text(str(page.number), 48 * scale, align="center", pad=(0, 0, 0, 20 * scale), id="number")
        button = _button(page.button, partial(page.click), scale, 24, (20, 10))
        return [gap, number, Row([button], justify="center")]
    field = View(
        "android.widget.EditText", input=page.answer, text=page.answer.text, hint=page.hint, id="answer",
        size=18 * scale, pad=(5 * scale,) * 4, width=220 * scale, border="#767676", on_submit=partial(page.check),
    )  # fmt: skip
    form = Row([field, _button(page.submit, partial(page.check), scale, 18)], gap=6 * scale, justify="center")
    result = [Text(SUCCESS, 24 * scale, bold=True, align="center", pad=(0, 20 * scale, 0, 0))] if page.solved else []
    return [gap, form, *result]


def _drawing(page: Drawing, scale: float) -> list[View]:
    tiles = [View(bg=color, width=50 * scale, height=50 * scale, important=False) for color in page.wanted]
    canvas = View(
        image=drawn(page.strokes, page.width), width=CANVAS * scale, height=CANVAS * scale, id="canvas", on_tap=_dot,
        on_drag=partial(_draw, page),
    )  # fmt: skip
    framed = View(children=[canvas], pad=(1, 1, 1, 1), border="#000000", important=False)
    colors = [
        View(
            "android.widget.Button", bg=color, width=30 * scale, height=30 * scale, on_tap=partial(_choose, page, color)
        )
        for color in page.palette
    ]
    clear, submit = page.buttons
    buttons = [
        _button(clear, partial(_clear, page), scale),
        _button(submit, partial(_submit, page), scale),
    ]
    palette = Column([Grid(colors, 8, 6 * scale)], width=288 * scale)
    return [
        Row(tiles, gap=10 * scale, justify="center", pad=(0, 5 * scale, 0, 5 * scale)),
        Row([framed], justify="center"),
        Text(page.heading, 14 * scale, align="center", pad=(0, 14 * scale, 0, 10 * scale)),
        Row([palette], justify="center"),
        Row(buttons, gap=10 * scale, justify="center", pad=(0, 14 * scale, 0, 10 * scale)),
        *([Text(SUCCESS, 14 * scale, align="center", id="result")] if page.solved else []),
    ]


def _choose(page: Drawing, color: str) -> None:
    page.color = color


def _draw(page: Drawing, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.strokes += ((page.color, start, end),)


def _dot() -> None:
    """A finger that does not move draws nothing."""


def _clear(page: Drawing) -> None:
    page.strokes = ()


def _submit(page: Drawing) -> None:
    """All wanted colours must be on the canvas."""
    pixels = drawn(page.strokes, page.width).reshape(-1, 3)
    page.solved = all((pixels == _rgb(color)).all(axis=1).any() for color in page.wanted)


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


@lru_cache(maxsize=32)
def drawn(strokes: tuple[Stroke, ...], width: int) -> np.ndarray:
    """The canvas with its lines, so many css pixels wide: H x W x 3 uint8."""
    image = Image.new("RGB", (CANVAS, CANVAS), "#ffffff")
    pen = ImageDraw.Draw(image)
    for color, start, end in strokes:
        pen.line([(x * CANVAS, y * CANVAS) for x, y in (start, end)], color, width)
    return np.asarray(image)


APP = Chrome
