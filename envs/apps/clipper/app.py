"""Clipper gives other programs access to the clipboard by broadcasts (`clipper.get`, `clipper.set`)."""

from __future__ import annotations

from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.intents import CANCELED, OK, Answer, Intent
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Card, Column, ListView, Scaffold, Text


class Clipper(App):
    """Lets other programs read and set the clipboard by broadcasts."""

    package = "ca.zgrs.clipper"
    activity = "ca.zgrs.clipper.Main"
    label = "Clipper"
    icon = "clipboard_text_outline"
    color = "#5f6368"

    def main(self) -> Screen:
        """Opens the only screen."""
        return Clipboard()

    def received(self, intent: Intent) -> Answer | None:
        """Returns or sets the clipboard, which Android shows only to the app in front."""
        if intent.action not in ("clipper.get", "clipper.set", "get", "set"):
            return None
        if self.phone.foreground != self.package:
            return CANCELED, None
        if intent.action.endswith("get"):
            return (OK, self.phone.clipboard) if self.phone.clipboard else (CANCELED, "")
        if "text" not in intent.extras:
            return CANCELED, 'No text is provided. Use -e text "text to be pasted"'
        self.phone.clipboard = intent.extra("text")
        return OK, "Text is copied into clipboard."


class Clipboard(Screen):
    """Shows what is on the clipboard."""

    def build(self) -> View:
        """Shows the text below an explanation."""
        parts = [
            Text("Other programs read and set the clipboard while this screen is shown.", 14, theme.SECONDARY),
            Card([Text(self.phone.clipboard or "The clipboard is empty", 16, id="clipboard_text")]),
        ]
        return Scaffold("Clipper", ListView([Column(parts, gap=16, pad=16)]))


APP = Clipper
