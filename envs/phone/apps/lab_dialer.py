"""The Phone app of AndroidLab's phone: a keypad, and the screen of a call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.apps.lab_contacts_data import pretty
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, Fab, Grid, IconButton, Row, Scaffold, Space, Text

if TYPE_CHECKING:
    from coach_gym.envs.phone.phone import Phone

PACKAGE = "com.google.android.dialer"


class Dialer(App):
    package = PACKAGE
    activity = "com.google.android.dialer.extensions.GoogleDialtactsActivity"
    label = "Phone"
    icon = "phone"
    color = "#1a73e8"

    def main(self) -> Screen:
        return Keypad()


def call(phone: Phone, number: str, name: str = "") -> None:
    """Calls a number, as other apps ask for."""
    phone.open_screen(PACKAGE, Call(number, name))


class Keypad(Screen):
    """Digits to type and a button to call them."""

    def __init__(self) -> None:
        super().__init__()
        self.number = ""

    def build(self) -> View:
        keys = [Button(key, partial(self._type, key), kind="tonal", height=56) for key in "123456789*0#"]
        erase = IconButton("backspace_outline", "Backspace", self._erase)
        shown = Row([Text(pretty(self.number), 30, flex=1, id="digits"), erase], pad=(24, 8, 16, 8))
        start = Row([Fab("phone", "Call", self._call)], justify="center", pad=(0, 12, 0, 24))
        return Scaffold("Phone", Column([Space(flex=1), shown, Grid(keys, 3, 8, (40, 0, 40, 0)), start]))

    def _type(self, key: str) -> None:
        self.number += key

    def _erase(self) -> None:
        self.number = self.number[:-1]

    def _call(self) -> None:
        if self.number:
            self.push(Call(self.number))


class Call(Screen):
    """A call that goes out. Nobody answers."""

    def __init__(self, number: str, name: str = "") -> None:
        super().__init__()
        self.number, self.name = number, name

    def build(self) -> View:
        texts = [
            Text("Calling…", 14, theme.SECONDARY, align="center"),
            Text(self.name or pretty(self.number), 28, align="center", id="contactgrid_contact_name"),
            Text(pretty(self.number) if self.name else "", 14, theme.SECONDARY, align="center"),
        ]
        end = IconButton(
            "phone_hangup", "End call", self.pop, "incall_end_call", "#ffffff", bg="#d93025", radius=24, pad=(12,) * 4
        )
        return Column([Space(80), *texts, Space(flex=1), Row([end], justify="center"), Space(48)], 8)


APP = Dialer
