"""The soft keyboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coach_gym.envs.phone.system.host import SystemHost
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Row

PACKAGE = "com.google.android.inputmethod.latin"
ROW, SHORT_ROW = 46, 30  # dp; the height of a row of keys, and where the screen is short
PAGES = {
    "lower": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "upper": ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"),
    "symbols": ("1234567890", "@#$_&-+()/", "*\"':;!?=%"),
}


def height(phone: SystemHost) -> int:
    """Returns the height in dp."""
    return 4 * _row(phone) + 32


def _row(phone: SystemHost) -> int:
    return ROW if phone.height >= theme.SHORT * phone.density else SHORT_ROW


def build(phone: SystemHost) -> View:
    """Returns the current page of keys: letters, capitals, or digits and signs."""
    first, second, third = PAGES[phone.keyboard]
    turn = "lower" if phone.keyboard == "upper" else "upper"
    rows = [
        [_letter(phone, c) for c in first],
        [_letter(phone, c) for c in second],
        [
            _special("apple_keyboard_shift", "Shift", partial(_turn, phone, turn)),
            *(_letter(phone, c) for c in third),
            _special("backspace_outline", "Delete", partial(phone.key, "DEL")),
        ],
        [
            _key("ABC" if phone.keyboard == "symbols" else "?123", "Symbol keyboard", partial(_page, phone), 1.5),
            _letter(phone, ","),
            _key(" ", "Space", partial(_insert, phone, " "), 4.5),
            _letter(phone, "."),
            _special("keyboard_return", "Enter", partial(phone.key, "ENTER")),
        ],
    ]
    return Column([Row(row, gap=4, justify="center", height=_row(phone)) for row in rows], gap=6, pad=6, bg="#dfe3ea")


def _letter(phone: SystemHost, character: str) -> View:
    return _key(character, character, partial(_insert, phone, character), 1)


def _key(face: str, desc: str, on_tap: Callable[[], object], share: float) -> View:
    return View(
        "android.inputmethodservice.Keyboard$Key", text=face, desc=desc, on_tap=on_tap, flex=share, height=44, size=17,
        align="center", bg=theme.SURFACE if share == 1 else "#c9cfd9", radius=5,
    )  # fmt: skip


def _special(icon: str, desc: str, on_tap: Callable[[], object]) -> View:
    return View(
        "android.inputmethodservice.Keyboard$Key", icon=icon, desc=desc, on_tap=on_tap, flex=1.5, height=44, size=20,
        bg="#c9cfd9", radius=5,
    )  # fmt: skip


def _insert(phone: SystemHost, character: str) -> None:
    if phone.focus is not None:
        phone.focus.insert(character)
    if phone.keyboard == "upper":
        phone.keyboard = "lower"


def _turn(phone: SystemHost, page: str) -> None:
    phone.keyboard = "lower" if phone.keyboard == "symbols" else page


def _page(phone: SystemHost) -> None:
    phone.keyboard = "lower" if phone.keyboard == "symbols" else "symbols"
