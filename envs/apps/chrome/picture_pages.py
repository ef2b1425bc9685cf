"""Web pages whose buttons and switches are pictures. They take one answer, for which they give a receipt."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from functools import partial

from coach_gym.envs.apps.chrome.html import Document
from coach_gym.envs.apps.chrome.page import Page, button
from coach_gym.envs.apps.chrome.script import constant
from coach_gym.envs.phone.media import pictures
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Action, Column, Grid, Row, Text

BUTTON, SWITCH = 96, 72  # sides of a picture
PIXELS = 96  # of a picture before it is scaled to the screen


@dataclass
class PictureButtons(Page):
    """Buttons without names, of which one is pressed.

    Attributes:
        heading: What stands above them.
        pictures: A JPEG or PNG file for each.
        receipts: What the page shows once a button was pressed, for each.
        receipt: That of the one that was pressed.
    """

    heading: str
    pictures: list[bytes]
    receipts: list[str]
    receipt: str = ""

    @classmethod
    def read(cls, document: Document) -> PictureButtons | None:
        """The buttons that a script makes from `PICTURES` and `RECEIPTS`."""
        pictures, receipts = constant(document.script, "PICTURES"), constant(document.script, "RECEIPTS")
        if pictures is None or receipts is None:
            return None
        if len(receipts) != len(pictures):
            raise ValueError("every button needs a receipt")
        files = [binascii.a2b_base64(picture) for picture in pictures]
        return cls(document.title, document.mobile, document.labels("p")[0], files, [str(text) for text in receipts])

    def press(self, number: int) -> None:
        """Takes the answer."""
        self.receipt = self.receipts[number]

    def views(self, scale: float) -> list[View]:
        if self.receipt:
            return [_receipt(self.receipt, scale)]
        cells = [_picture(data, BUTTON, partial(self.press, i), scale) for i, data in enumerate(self.pictures)]
        rows = Column([Grid(cells, 3, 12 * scale)], width=(3 * BUTTON + 24) * scale)
        return [_heading(self.heading, scale), Row([rows], justify="center")]


@dataclass
class PictureSwitches(Page):
    """Rows with a name and a picture, which changes when it is touched.

    Attributes:
        heading: What stands above them.
        rows: Name, picture at first and picture once changed of each; JPEG or PNG files.
        receipts: What the page shows once saved, by the sum of 2 ** row over the changed rows.
        save: Label of the button that saves.
        changed: The sum of 2 ** row over the changed rows.
        receipt: What was given for saving.
    """

    heading: str
    rows: list[tuple[str, bytes, bytes]]
    receipts: list[str]
    save: str
    changed: int = 0
    receipt: str = ""

    @classmethod
    def read(cls, document: Document) -> PictureSwitches | None:
        """The switches that a script makes from `SWITCHES` and `RECEIPTS`."""
        switches, receipts = constant(document.script, "SWITCHES"), constant(document.script, "RECEIPTS")
        if switches is None or receipts is None:
            return None
        if len(receipts) != 1 << len(switches):
            raise ValueError("every state needs a receipt")
        rows = [(str(name), binascii.a2b_base64(a), binascii.a2b_base64(b)) for name, a, b in switches]
        heading, save = document.labels("p")[0], document.labels("button")[0]
        return cls(document.title, document.mobile, heading, rows, [str(text) for text in receipts], save)

    def touch(self, row: int) -> None:
        """Changes a switch."""
        self.changed ^= 1 << row

    def hand_in(self) -> None:
        """Takes the answer."""
        self.receipt = self.receipts[self.changed]

    def views(self, scale: float) -> list[View]:
        if self.receipt:
            return [_receipt(self.receipt, scale)]
        save = button(self.save, self.hand_in, scale, 18, (24, 10))
        rows = [self._row(number, scale) for number in range(len(self.rows))]
        return [_heading(self.heading, scale), *rows, Row([save], justify="center", pad=(0, 16 * scale, 0, 0))]

    def _row(self, number: int, scale: float) -> View:
        name, first, second = self.rows[number]
        shown = second if self.changed >> number & 1 else first
        picture = _picture(shown, SWITCH, partial(self.touch, number), scale)
        label = Text(name, 18 * scale, flex=1)
        return Row([label, picture], align="center", pad=(12 * scale, 4 * scale, 24 * scale, 0))


def _picture(data: bytes, side: float, on_tap: Action, scale: float) -> View:
    shown, side = pictures.thumbnail(data, PIXELS), side * scale
    return View("android.widget.Button", image=shown, bg="#efefef", on_tap=on_tap, width=side, height=side)


def _heading(text: str, scale: float) -> View:
    return Text(text, 16 * scale, align="center", pad=(0, 8 * scale, 0, 16 * scale))


def _receipt(receipt: str, scale: float) -> View:
    return Text(f"Receipt: {receipt}", 24 * scale, align="center", pad=(0, 40 * scale, 0, 0))
