"""Markor's editor, and sharing the text of notes."""

from __future__ import annotations

from coach_gym.envs.phone.app import Menu, Screen
from coach_gym.envs.phone.intents import EXTRA_TEXT, SEND, Intent
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import IconButton, ListView, Scaffold, TextField

MESSENGER = "Simple SMS Messenger", "com.simplemobiletools.smsmessenger"  # label and package
EDITOR_ID = "document__fragment__edit__highlighting_editor"


class Editor(Screen):
    """One note as text, saved by the button and when the screen is left.

    Args:
        path: The file.
        data: What it holds; None if there is no such file.
    """

    def __init__(self, path: str, data: bytes | None) -> None:
        super().__init__()
        self.path = path
        self.saved, self.encoding = decoded(data)
        self.input = TextInput(self.saved)

    def build(self) -> View:
        """Shows the text."""
        field = TextField(self.input, "Note text", EDITOR_ID, lines=8, flex=1, border=None)
        actions = [
            IconButton("content_save_outline", "Save", self._save, "action_save"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        return Scaffold(self.path.rpartition("/")[2], ListView([field]), self.leave, actions)

    def on_back(self) -> bool:
        """Saves."""
        self._save()
        return False

    def _save(self) -> None:
        if self.input.text != self.saved:
            self.saved = self.input.text
            self.phone.storage.write(self.path, encoded(self.saved, self.encoding))

    def _more(self) -> None:
        self.push(Menu([
            ("Jump to top", lambda: self._jump(0)),
            ("Jump to bottom", lambda: self._jump(len(self.input.text))),
            ("Select all", self._select_all),
            ("Paste", self._paste),
            ("Share", self._share),
        ]))  # fmt: skip

    def _jump(self, position: int) -> None:
        self.input.move(position)
        self.focus(self.input)

    def _select_all(self) -> None:
        self.input.select_all()
        self.focus(self.input)

    def _paste(self) -> None:
        self.input.insert(self.phone.clipboard)
        self.focus(self.input)

    def _share(self) -> None:
        self._save()
        self.push(ShareSheet(self.saved))


class ShareSheet(Menu):
    """What can be done with a text outside the app."""

    def __init__(self, text: str) -> None:
        super().__init__([(MESSENGER[0], self._send), ("Copy to clipboard", self._copy)], "bottom")
        self.text = text

    def _send(self) -> None:
        self.phone.start(Intent(SEND, type="text/plain", package=MESSENGER[1], extras={EXTRA_TEXT: self.text}))

    def _copy(self) -> None:
        self.phone.clipboard = self.text


def decoded(data: bytes | None) -> tuple[str, str]:
    """Returns a file as text, and its encoding.

    What is not UTF-8 is taken for Latin-1, in which any bytes are a text: saving an edit loses none of the others.
    """
    data = data or b""
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def encoded(text: str, encoding: str) -> bytes:
    """Returns a text in an encoding, or in UTF-8 if that lacks one of its letters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode()
