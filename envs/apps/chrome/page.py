"""Web pages as the browser shows them, and what they look like. Lengths are in css pixels, `scale` dp each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Text

SUCCESS = "Success!"
HEADINGS = {"h1": 32, "h2": 24, "h3": 19, "h4": 16, "h5": 13, "h6": 11}


@dataclass
class Page(ABC):
    """A page that was opened.

    Attributes:
        title: What the tab shows.
        mobile: Whether the page fits itself to the width of the device. Others are shown as wide as on a desktop.
    """

    title: str
    mobile: bool

    @abstractmethod
    def views(self, scale: float) -> list[View]:
        """Returns what the page looks like now."""


@dataclass
class Article(Page):
    """A text: its blocks as (tag, text)."""

    blocks: list[tuple[str, str]]

    def views(self, scale: float) -> list[View]:
        """Shows the blocks one below the other."""
        return [block(tag, text, scale) for tag, text in self.blocks]


def block(tag: str, text: str, scale: float) -> View:
    """A paragraph, a heading or an item of a list."""
    size = HEADINGS.get(tag, 16) * scale
    bullet = "• " if tag == "li" else ""
    return Text(bullet + text, size, bold=tag in HEADINGS, pad=(0, 8 * scale, 0, 8 * scale))


def button(
    label: str, on_tap: Callable[[], Any], scale: float, size: float = 14, pad: tuple[float, float] = (10, 5)
) -> View:
    """A push button of a page; `pad` is across and along the text."""
    across, along = pad[0] * scale, pad[1] * scale
    return View(
        "android.widget.Button", text=label, on_tap=on_tap, size=size * scale, align="center", bg="#efefef",
        border="#767676", radius=3 * scale, pad=(across, along, across, along),
    )  # fmt: skip
