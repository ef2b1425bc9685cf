"""Android's question where a new file is to be saved, and under what name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coach_gym.envs.apps.files.app import DEVICE, DOWNLOADS
from coach_gym.envs.phone.app import Menu, Screen
from coach_gym.envs.phone.folders import SHARED, entries, free_path
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Button,
    Column,
    Empty,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)


class SaveDocument(Screen):
    """Folders to walk through, a name to change, and SAVE. It starts in Downloads.

    Args:
        name: the name that is proposed.
        then: called with the path of the file to write: a bound method or a partial of one.
    """

    def __init__(self, name: str, then: Callable[[str], None]) -> None:
        super().__init__()
        self.folder, self.name, self.then = DOWNLOADS, TextInput(name), then

    def build(self) -> View:
        found = [entry for entry in entries(self.phone.storage, self.folder) if entry.folder]
        rows = [ListItem(e.name, "", partial(self._enter, e.path), leading=Icon("folder")) for e in found]
        title = DEVICE if self.folder == SHARED else "Downloads" if self.folder == DOWNLOADS else self._name
        bar = Row([IconButton("menu", "Show roots", self._roots), Text(title, 19, max_lines=1, flex=1)], gap=4)
        field = Column([TextField(self.name, "File name", "title", self._save)], flex=1)
        bottom = Row([field, Button("SAVE", self._save, kind="text")], gap=6, pad=(12, 6, 12, 6))
        body = ListView(rows, key=self.folder) if rows else Empty("No items", "folder_open_outline")
        return Scaffold(bar, body, bottom=bottom)

    @property
    def _name(self) -> str:
        return self.folder.rpartition("/")[2]

    def _roots(self) -> None:
        roots = [("Downloads", partial(self._enter, DOWNLOADS)), (DEVICE, partial(self._enter, SHARED))]
        self.push(Menu(roots, "bottom"))

    def _enter(self, folder: str) -> None:
        self.folder = folder

    def on_back(self) -> bool:
        if self.folder in (SHARED, DOWNLOADS):
            return False
        self.folder = self.folder.rpartition("/")[0]
        return True

    def _save(self) -> None:
        name = self.name.text.strip()
        if not name or "/" in name or name in (".", ".."):
            self.notify("That name can't be used")
            return
        self.pop()
        self.then(free_path(self.phone.storage, self.folder, name))
