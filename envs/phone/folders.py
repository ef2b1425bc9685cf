"""Folders of the shared storage, as file managers show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from coach_gym.envs.phone.app import Choice, Screen
from coach_gym.envs.phone.screens.pages import SelectionPage
from coach_gym.envs.phone.storage import LONGEST, Storage
from coach_gym.envs.phone.toolkit.view import TextInput

SHARED = "/storage/emulated/0"
DOWNLOADS = f"{SHARED}/Download"
DEVICE = "sdk_gphone_x86_64"  # what AndroidWorld's phones call their shared storage
MAX_NAME = 255  # bytes


class Entry(NamedTuple):
    """One row of a folder's list.

    Attributes:
        path: Absolute path.
        folder: Whether it is a folder.
        modified: When it was last changed.
        size: Size in bytes; 0 for a folder.
    """

    path: str
    folder: bool
    modified: datetime
    size: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def extension(self) -> str:
        """The extension in lower case, without the dot; empty if there is none."""
        stem, dot, extension = self.name.rpartition(".")
        return extension.lower() if dot and stem and not self.folder else ""


SortKey = Callable[[Entry], Any]


def by_name(entry: Entry) -> Any:
    """Orders by name, ignoring case."""
    return entry.name.casefold()


def by_date(entry: Entry) -> Any:
    """Orders by the time of the last change."""
    return entry.modified


def by_size(entry: Entry) -> Any:
    """Orders by size."""
    return entry.size


def by_type(entry: Entry) -> Any:
    """Orders by extension, then by name."""
    return entry.extension, entry.name.casefold()


def entries(storage: Storage, folder: str) -> list[Entry]:
    """Returns the contents of a folder, without hidden names."""
    return [_entry(storage, f"{folder}/{name}") for name in storage.listdir(folder) if not name.startswith(".")]


def _entry(storage: Storage, path: str) -> Entry:
    folder = storage.is_dir(path)
    return Entry(path, folder, storage.modified(path), 0 if folder else storage.size(path))


def search(storage: Storage, folder: str, words: str) -> Iterator[Entry]:
    """Yields the entries at any depth below a folder whose name contains `words`, ignoring case."""
    for entry in entries(storage, folder):
        if words.casefold() in entry.name.casefold():
            yield entry
        if entry.folder:
            yield from search(storage, entry.path, words)


def folder_name(path: str) -> str:
    """Returns the label of a folder."""
    return DEVICE if path == SHARED else path.rpartition("/")[2]


def is_name(name: str) -> bool:
    """Returns whether a file can have this name."""
    return bool(name) and "/" not in name and name not in (".", "..") and len(name.encode()) <= MAX_NAME


def name_error(storage: Storage, folder: str, name: str) -> str:
    """Returns why nothing new in a folder can have this name; empty if it can."""
    if not is_name(name):
        return "That name can't be used"
    if len(f"{folder}/{name}") > LONGEST:
        return "That name is too long"
    return f"{name} already exists" if storage.exists(f"{folder}/{name}") else ""


def free_path(storage: Storage, folder: str, name: str) -> str:
    """Returns a path in a folder for a name; a number is added if the name is taken."""
    stem, dot, extension = name.rpartition(".")
    stem, extension = (stem, dot + extension) if stem else (name, "")
    path, number = f"{folder}/{name}", 0
    while storage.exists(path):
        number += 1
        path = f"{folder}/{stem} ({number}){extension}"
    return path


def move_into(storage: Storage, paths: list[str], folder: str) -> None:
    """Moves files and folders into a folder. What is already there, or contains the folder, stays."""
    for path in paths:
        if path.rpartition("/")[0] != folder and not f"{folder}/".startswith(f"{path}/"):
            storage.move(path, free_path(storage, folder, path.rpartition("/")[2]))


def copy_into(storage: Storage, paths: list[str], folder: str) -> None:
    """Copies files and folders into a folder."""
    for path in paths:
        if not f"{folder}/".startswith(f"{path}/"):
            storage.copy(path, free_path(storage, folder, path.rpartition("/")[2]))


def size_text(size: int) -> str:
    """Returns a file size as Android writes it: `512 B`, `2.05 kB`, `14 kB`, `3.20 MB`."""
    if size < 1000:
        return f"{size} B"
    value, unit = (size / 1e3, "kB") if size < 999_500 else (size / 1e6, "MB")
    return f"{value:.2f} {unit}" if value < 9.995 else f"{value:.0f} {unit}"


def may_create(screen: Screen, folder: str, name: str) -> bool:
    """Returns whether something new in a folder can have this name; if not, tells the user why."""
    error = name_error(screen.phone.storage, folder, name)
    if error:
        screen.notify(error)
    return not error


def renamed(screen: Screen, path: str, name: str) -> str:
    """Renames a file or folder if the name is free; if not, tells the user why.

    Returns:
        The path it has now.
    """
    folder, _, old = path.rpartition("/")
    if name == old or not may_create(screen, folder, name):
        return path
    screen.phone.storage.move(path, f"{folder}/{name}")
    return f"{folder}/{name}"


class FolderScreen(SelectionPage[str]):
    """A screen that shows one folder at a time, with a selection and a search below the folder.

    Args:
        root: The highest folder that can be shown, and the first one shown.

    Attributes:
        folder: The folder that is shown.
        selected: Paths of the selected entries.
        query: The search field; None while there is no search.
        sort: What entries are ordered by.
        descending: Whether the largest comes first.
    """

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = self.folder = root
        self.query: TextInput | None = None
        self.sort: SortKey = by_name
        self.descending = False

    def listed(self) -> list[Entry]:
        """Returns the entries to show, folders first: those of the folder, or those found by the search."""
        storage = self.phone.storage
        words = self.query.text.strip() if self.query else ""
        found = search(storage, self.folder, words) if words else entries(storage, self.folder)
        in_order = sorted(sorted(found, key=by_name), key=self.sort, reverse=self.descending)
        return sorted(in_order, key=lambda entry: not entry.folder)

    def sort_by(self, sort: SortKey, descending: bool = False) -> None:
        """Changes the order."""
        self.sort, self.descending = sort, descending

    def ask_order(self, orders: Mapping[str, tuple[SortKey, bool]]) -> None:
        """Asks for one of several orders, given by label: the key, and whether the largest comes first."""
        current = next(label for label, order in orders.items() if order == (self.sort, self.descending))
        self.push(Choice("Sort by", list(orders), lambda label: self.sort_by(*orders[label]), current))

    def enter(self, folder: str) -> None:
        """Shows another folder."""
        self.folder, self.query, self.selected = folder, None, []

    def select_all(self) -> None:
        """Selects every listed entry."""
        self.selected = [entry.path for entry in self.listed()]

    def start_search(self) -> None:
        """Shows an empty search field with the cursor in it."""
        self.query = TextInput()
        self.focus(self.query)

    def end_search(self) -> None:
        """Shows the folder again."""
        self.query = None

    def ask_rename(self) -> None:
        """Asks for a new name for the selected entry."""
        path = self.selected[0]
        self.ask("Rename", lambda name: self._rename(path, name), path.rpartition("/")[2], "Name")

    def _rename(self, path: str, name: str) -> None:
        renamed(self, path, name.strip())
        self.unselect()

    def delete_selected(self) -> None:
        """Deletes the selected entries, folders with their contents."""
        for path in self.selected:
            self.phone.storage.remove(path)
        self.unselect()

    def move_selected(self, folder: str) -> None:
        """Moves the selected entries into a folder."""
        move_into(self.phone.storage, self.selected, folder)
        self.unselect()

    def copy_selected(self, folder: str) -> None:
        """Copies the selected entries into a folder."""
        copy_into(self.phone.storage, self.selected, folder)
        self.unselect()

    def up(self) -> None:
        """Shows the folder above, unless this is the root."""
        if not self.at_root:
            self.enter(self.folder.rpartition("/")[0])

    @property
    def at_root(self) -> bool:
        """Whether no higher folder can be shown."""
        return self.folder == self.root

    def on_back(self) -> bool:
        """Ends the selection or the search, or goes up; at the root the screen is left."""
        if super().on_back():
            return True
        if self.query is not None:
            self.end_search()
        elif not self.at_root:
            self.up()
        else:
            return False
        return True
