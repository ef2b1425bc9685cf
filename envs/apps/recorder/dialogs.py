"""Audio Recorder's dialogs: a question before something is deleted or copied, and one for a record's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coach_gym.envs.apps.recorder import data
from coach_gym.envs.phone.app import Confirm, Prompt, Screen
from coach_gym.envs.phone.folders import is_name
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Action, Button, Checkbox, Column, ListItem, Text, TextField

Renamed = Callable[[str], Any]
"""What is told the new path of a record."""


class Question(Confirm):
    """A question with the answers Yes and No."""

    title_id = "dialog_title"

    def __init__(self, text: str, then: Action, title: str = "Warning!") -> None:
        super().__init__(title, text, "Yes", then, "No")

    def content(self) -> Sequence[View]:
        """Returns the question."""
        return [Text(self.text, 14, theme.SECONDARY, pad=(20, 2, 20, 8), id="dialog_content")]

    def buttons(self) -> Sequence[View]:
        """Returns the two answers."""
        return [
            Button(self.no, self.closing(), "dialog_negative_btn", "text"),
            Button(self.yes, self.closing(self.then), "dialog_positive_btn", "text"),
        ]


class NameDialog(Prompt):
    """A question for a new name for a record; without an answer it keeps its name.

    Args:
        path: The record.
        renamed: Called with its new path if it gets one.
        recorded: Whether it was just recorded; then the user can say that this is not to be asked again.
    """

    title_id = "dialog_title"

    def __init__(self, path: str, renamed: Renamed, recorded: bool = False) -> None:
        super().__init__("New name", self._rename, data.title(path), yes="Save")
        self.path, self.renamed, self.recorded, self.asks_no_more = path, renamed, recorded, False
        self.input.select_all()

    def content(self) -> Sequence[View]:
        """Returns the text field, and after a recording a box."""
        field = TextField(self.input, id="input_name", on_submit=self.closing(self.finish))
        return [Column([field], pad=(20, 4, 20, 8)), *([self._box()] if self.recorded else [])]

    def _box(self) -> View:
        box = Checkbox(self.asks_no_more, None)
        return ListItem(
            "Don't ask again", on_tap=self._toggle, leading=box, min_height=theme.TOUCH, pad=(12, 0, 16, 0),
            id="check_box",
        )  # fmt: skip

    def _toggle(self) -> None:
        self.asks_no_more = not self.asks_no_more
        data.change(self.phone.storage, **{data.ASKS_NAME: not self.asks_no_more})

    def buttons(self) -> Sequence[View]:
        """Returns the buttons that cancel and accept."""
        return [
            Button(self.no, self.closing(), "dialog_negative_btn", "text"),
            Button(self.yes, self.closing(self.finish), "dialog_positive_btn", "text"),
        ]

    def _rename(self, text: str) -> None:
        """Renames the record, unless only the case of letters differs."""
        name = text[: data.LONGEST_NAME].replace(":", "_").strip() + data.extension(self.path)
        folder, _, old = self.path.rpartition("/")
        storage = self.phone.storage
        if name.casefold() == old.casefold():
            return
        if name == data.extension(self.path) or not is_name(name):
            self.notify("Failed to rename the record!")
        elif storage.exists(f"{folder}/{name}"):
            self.notify("File with this name already exists!")
        else:
            storage.move(self.path, f"{folder}/{name}")
            self.renamed(f"{folder}/{name}")


def ask_name(screen: Screen, path: str, renamed: Renamed, recorded: bool = False) -> None:
    """Asks for a new name for a record. See `NameDialog`."""
    dialog = NameDialog(path, renamed, recorded)
    screen.push(dialog)
    screen.focus(dialog.input)
