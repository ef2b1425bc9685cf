"""The windows on the screen: screens and dialogs of apps, bars, keyboard, message, notification shade.

Windows are built and laid out once and kept until something changes. Pixels, the accessibility tree and the targets
of touches all come from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from coach_gym.envs.phone.app import Screen
from coach_gym.envs.phone.settings import font_scale
from coach_gym.envs.phone.system import bars, clipboard, keyboard, power_menu, shade
from coach_gym.envs.phone.system.host import SystemHost
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.accessibility import nodes
from coach_gym.envs.phone.toolkit.directions import DOWN, nearest
from coach_gym.envs.phone.toolkit.layout import Layout, scroll_what_is_too_high
from coach_gym.envs.phone.toolkit.paint import Command, commands, intersect
from coach_gym.envs.phone.toolkit.view import Align, Justify, Rect, ScrollState, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, Row, Space, Text
from coach_gym.ui import Node

SYSTEM = "com.android.systemui"
TABLET = 600  # dp; the width from which a screen is a tablet's
_PLACES: dict[str, Justify] = {"top": "start", "center": "center", "bottom": "end"}  # of dialogs


@dataclass
class Window:
    """A laid-out tree of views on the screen.

    Attributes:
        root: The views.
        rect: Its place on the screen.
        package: The app it belongs to.
        layout: The layout that placed the views.
        decor: Whether agents do not read it as text: bars and keyboard.
        hidden: Whether it lies behind a dialog: seen, but neither read nor touched.
        touchable: Whether it takes touches.
        dims: Whether it darkens what is behind it.
    """

    root: View
    rect: Rect
    package: str
    layout: Layout
    decor: bool = False
    hidden: bool = False
    touchable: bool = True
    dims: bool = False

    @cached_property
    def drawing(self) -> list[Command]:
        """The drawing commands, back to front."""
        dim = [Command("dim", self.rect, self.rect, "#000000")] if self.dims else []
        return dim + commands(self.root, self.layout, self.rect)

    @cached_property
    def nodes(self) -> list[Node]:
        """The accessibility nodes."""
        return nodes(self.root, self.package, self.rect, self.decor)


class Windows:
    """What a phone shows at the moment."""

    def __init__(self, phone: SystemHost) -> None:
        self.stale = True
        self._phone = phone
        self._windows: list[Window] = []
        self._fixed: dict[Any, Window] = {}  # bars and keyboard pages, which rarely change

    def drawing(self) -> list[Command]:
        """Returns the drawing commands of all windows, back to front."""
        return [command for window in self._current() for command in window.drawing]

    def accessibility(self) -> Node:
        """Returns a root node with the nodes of every window that can be read."""
        children = [node for window in self._current() if not window.hidden for node in window.nodes]
        return Node(
            cls="android.widget.FrameLayout", package=self._phone.top.window_package or self._phone.foreground,
            bounds=(0, 0, self._phone.width, self._phone.height), children=children,
        )  # fmt: skip

    def touchable(self) -> list[tuple[View, Rect]]:
        """Returns the windows that take touches, the front-most first."""
        windows = [window for window in reversed(self._current()) if window.touchable and not window.hidden]
        return [(window.root, window.rect) for window in windows]

    def focusable(self) -> list[View]:
        """Returns the visible views that keys such as TAB can give the focus: those of the front window, in order."""
        return _focusable(self._current())

    def focused_view(self) -> View | None:
        """Returns the text field with the cursor, or None if it is not on the screen."""
        return self._field_of(self._current())

    def field_below(self, field: View) -> TextInput | None:
        """Returns the text of the nearest visible field below one, or None if there is no field."""
        below = nearest([view for view in self.focusable() if view.input is not None], field, DOWN)
        return None if below is field else below.input

    def _field_of(self, windows: list[Window]) -> View | None:
        focus = self._phone.focus
        if focus is None:
            return None
        views = (view for window in windows if not window.hidden for view in window.root.walk())
        return next((view for view in views if view.input is focus), None)

    # building

    def _current(self) -> list[Window]:
        while self.stale:  # again, if the app in front has failed
            with self._phone.running():
                self._windows = self._build()
                self.stale = False
        return self._windows

    def _build(self) -> list[Window]:
        phone = self._phone
        px = self.measures.px
        width, height = phone.width, phone.height
        status, navigation = px(bars.STATUS_HEIGHT), px(bars.NAVIGATION_HEIGHT)
        keys = self._keyboard() if phone.keyboard_shown else None
        bottom = keys.rect[1] if keys else height - navigation
        windows = self._app_windows((0, status, width, bottom))
        if phone.focus is not None and self._field_of(windows) is None:  # the field has gone, and the keyboard with it
            phone.focus = None
            keys, bottom = None, height - navigation
            windows = self._app_windows((0, status, width, bottom))
        if phone.focus is not None:
            self._mark_caret(windows)
        elif phone.highlight is not None:
            self._mark_highlight(windows)
        if keys and phone.editing:
            windows.append(self._toolbar(windows, bottom))
        if phone.message is not None:
            windows.append(self._message(phone.message[0], (0, bottom - px(64), width, bottom)))
        windows.append(self._bar("status", (0, 0, width, status)))
        windows += [keys] if keys else []
        windows.append(self._bar("navigation", (0, height - navigation, width, height)))
        if phone.shade:
            windows = [replace(window, hidden=not window.decor) for window in windows]
            menu = phone.shade == power_menu.SHOWN
            front = power_menu.build(phone) if menu else shade.build(phone)
            windows.append(self._window(front, (0, status, width, height - navigation), SYSTEM))
            windows[-1].dims = menu
        return windows

    def _mark_caret(self, windows: list[Window]) -> None:
        """Draws the cursor, which stays while the keyboard is hidden."""
        field = self._field_of(windows)
        if field is not None:
            field.caret = field.focused = True
            field.border = theme.PRIMARY

    def _mark_highlight(self, windows: list[Window]) -> None:
        """Draws a frame around the view that has the focus by a key."""
        views = _focusable(windows)
        if (number := self._phone.highlight) is not None and number < len(views):
            views[number].focused, views[number].border = True, theme.PRIMARY

    def _app_windows(self, rect: Rect) -> list[Window]:
        """Returns the top full screen of the app in front, and the dialogs above it."""
        stack = self._phone.stack
        base = max(i for i, screen in enumerate(stack) if not screen.dialog)
        windows = []
        for screen in stack[base:]:
            root = self._dialog(screen) if screen.dialog else Column([_flexible(screen.build())], bg=theme.SURFACE)
            window = self._window(root, rect, screen.window_package or screen.app.package, screen.scrolls)
            if rect[3] - rect[1] < window.layout.px(theme.SHORT):
                scroll_what_is_too_high(window.root, window.layout, rect)
            window.dims = screen.dialog and screen.placement != "top"  # menus do not
            windows.append(window)
        for window in windows[:-1]:
            window.hidden = True
        return windows

    def _dialog(self, screen: Screen) -> View:
        """Returns a dialog's card on a scrim that closes it when touched."""
        card = screen.build()
        narrow, wide = (220, 280) if screen.placement == "top" else (320, 440)
        card.width = card.width or (wide if self._phone.width >= TABLET * self._phone.density else narrow)
        card.on_tap = card.on_tap or _nothing
        card.border = theme.OUTLINE
        justify = _PLACES[screen.placement]
        align: Align = "end" if screen.placement == "top" else "center"
        beside = _closing(screen) if screen.cancelable else _nothing
        return Column([card], justify=justify, align=align, pad=(8, 8, 8, 8), on_tap=beside)

    def _message(self, text: str, rect: Rect) -> Window:
        bar = Column([Text(text, 14, "#ffffff", max_lines=2, id="snackbar_text")], bg="#313033", radius=6, pad=12)
        window = self._window(Column([Space(flex=1), bar, Space(8)], pad=(8, 0, 8, 0)), rect, self._phone.foreground)
        window.touchable = False
        return window

    def _toolbar(self, windows: list[Window], bottom: int) -> Window:
        """Returns the toolbar right above the field with the cursor, or the keyboard; below it at the screen's top."""
        field = self._field_of(windows)
        px, phone = self.measures.px, self._phone
        top = (field.bounds[1] if field else 0) - px(46)
        if top < px(bars.STATUS_HEIGHT) and field:
            top = field.bounds[3] + px(2)
        top = min(top, bottom - px(46))
        buttons = [Button(label, partial(then, phone), kind="text") for label, then in self._editing()]
        bar = Row(buttons, bg=theme.SURFACE, border=theme.OUTLINE)
        return self._window(bar, (px(16), top, px(16 + 78 * len(buttons)), top + px(44)), phone.foreground)

    def _editing(self) -> list[tuple[str, Callable[[SystemHost], None]]]:
        """Returns what can be done with the text of the field with the cursor."""
        text, selected = (focus.text, focus.selected) if (focus := self._phone.focus) else ("", "")
        cut = [("Cut", clipboard.cut), ("Copy", clipboard.copy)] if selected else []
        return [*cut, ("Paste", clipboard.paste), *([("Select all", clipboard.select_all)] if selected != text else [])]

    def _keyboard(self) -> Window:
        phone = self._phone
        layout = self.measures
        bottom = phone.height - layout.px(bars.NAVIGATION_HEIGHT)
        rect = (0, bottom - layout.px(keyboard.height(phone)), phone.width, bottom)
        return self._kept(("keyboard", phone.keyboard), lambda: keyboard.build(phone), rect, keyboard.PACKAGE)

    def _bar(self, name: str, rect: Rect) -> Window:
        phone = self._phone
        if name == "navigation":
            return self._kept(name, lambda: bars.navigation(phone), rect, SYSTEM)
        return self._kept((name, bars.status_key(phone)), lambda: bars.status(phone), rect, SYSTEM)

    def _kept(self, key: Any, build: Callable[[], View], rect: Rect, package: str) -> Window:
        key = (key, rect, self.font_scale)
        window = self._fixed.get(key)
        if window is None:
            if len(self._fixed) > 64:
                self._fixed.clear()
            window = self._fixed[key] = self._window(build(), rect, package)
            window.decor = True
        return window

    def _window(
        self, root: View, rect: Rect, package: str, scrolls: dict[str, ScrollState] | None = None
    ) -> Window:
        layout = self._layout({} if scrolls is None else scrolls)
        return Window(layout.run(root, rect), rect, package, layout)

    @property
    def font_scale(self) -> float:
        """Size of texts relative to the default."""
        return font_scale(self._phone.storage.settings)

    @property
    def measures(self) -> Layout:
        """Converts lengths and sizes of fonts to pixels."""
        return self._layout({})

    def _layout(self, scrolls: dict[str, ScrollState]) -> Layout:
        return Layout(self._phone.density, scrolls, self.font_scale)


def _focusable(windows: list[Window]) -> list[View]:
    """Returns what can have the focus in the front window that is neither a bar nor the keyboard."""
    front = [window for window in windows if window.touchable and not window.hidden and not window.decor][-1]
    views = (view for view in front.root.walk() if view.enabled and view.important and (view.on_tap or view.input))
    return [view for view in views if intersect(view.bounds, front.rect) is not None]


def _flexible(view: View) -> View:
    view.flex = 1
    return view


def _closing(screen: Screen) -> Callable[[], None]:
    def close() -> None:
        if not screen.on_back():
            screen.pop()

    return close


def _nothing() -> None:
    """Absorbs touches beside the parts of a dialog's card."""
