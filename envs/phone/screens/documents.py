"""Android's own screens for choosing a folder, and a place and name for a new file. Any app may push them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coach_gym.envs.phone.app import Menu, Screen
from coach_gym.envs.phone.folders import DEVICE, DOWNLOADS, SHARED, entries, folder_name, free_path, is_name
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
    Space,
    Text,
    TextField,
)


class FolderWalk(Screen):
    """A folder's folders to walk through.

    Args:
        folder: The first one shown.
        then: Called with a path at the end.
    """

    tops: tuple[str, ...] = (SHARED,)  # where Back leaves the screen

    def __init__(self, folder: str, then: Callable[[str], None]) -> None:
        super().__init__()
        self.folder, self.then = folder, then

    def rows(self) -> list[View]:
        """Rows that lead into the folders below."""
        folders = [entry for entry in entries(self.phone.storage, self.folder) if entry.folder]
        return [ListItem(e.name, "", partial(self.enter, e.path), leading=Icon("folder")) for e in folders]

    def enter(self, folder: str) -> None:
        """Shows another folder."""
        self.folder = folder

    def on_back(self) -> bool:
        """Goes up a folder, or leaves the screen at the first one."""
        if self.folder in self.tops:
            return False
        self.folder = self.folder.rpartition("/")[0]
        return True


class Destination(FolderWalk):
    """Asks for a folder of the shared storage. `then` is called with it.

    Args:
        verb: The label of the button that takes the folder shown, such as "MOVE".
    """

    def __init__(self, verb: str, then: Callable[[str], None]) -> None:
        super().__init__(SHARED, then)
        self.verb = verb

    def build(self) -> View:
        """Returns the folders and the button that takes this one."""
        buttons = [Button("CANCEL", self.pop, kind="text"), Button(self.verb, self._finish, kind="text")]
        bar = Row([Space(flex=1), *buttons], gap=6, pad=(12, 6, 12, 6))
        return Scaffold(folder_name(self.folder), ListView(self.rows(), key=self.folder), self.leave, bottom=bar)

    def _finish(self) -> None:
        self.pop()
        self.then(self.folder)


class SaveDocument(FolderWalk):
    """Asks where to save a new file, and under what name. It starts in Downloads. `then` is called with the path.

    Args:
        name: The name that is proposed.
    """

    tops = (SHARED, DOWNLOADS)

    def __init__(self, name: str, then: Callable[[str], None]) -> None:
        super().__init__(DOWNLOADS, then)
        self.name = TextInput(name)

    def build(self) -> View:
        """Returns the folders, the name and the button that saves."""
        rows = self.rows()
        title = "Downloads" if self.folder == DOWNLOADS else folder_name(self.folder)
        bar = Row([IconButton("menu", "Show roots", self._roots), Text(title, 19, max_lines=1, flex=1)], gap=4)
        field = Column([TextField(self.name, "File name", "title", self._save)], flex=1)
        bottom = Row([field, Button("SAVE", self._save, kind="text")], gap=6, pad=(12, 6, 12, 6))
        body = ListView(rows, key=self.folder) if rows else Empty("No items", "folder_open_outline")
        return Scaffold(bar, body, bottom=bottom)

    def _roots(self) -> None:
        roots = [("Downloads", lambda: self.enter(DOWNLOADS)), (DEVICE, lambda: self.enter(SHARED))]
        self.push(Menu(roots, "bottom"))

    def _save(self) -> None:
        name = self.name.text.strip()
        if is_name(name):
            self.pop()
            self.then(free_path(self.phone.storage, self.folder, name))
        else:
            self.notify("That name can't be used")
