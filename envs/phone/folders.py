"""Folders of the shared storage, as the apps that manage files show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from coach_gym.envs.phone.app import Choice, Screen
from coach_gym.envs.phone.pages import SelectionPage
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.toolkit.view import TextInput

SHARED = "/storage/emulated/0"
DOWNLOADS = f"{SHARED}/Download"
DEVICE = "sdk_gphone_x86_64"  # what AndroidWorld's phones call their shared storage
MAX_NAME = 255  # bytes


class Entry(NamedTuple):
    """One row of a folder's list; the size is in bytes, 0 for a folder."""

    path: str
    folder: bool
    modified: datetime
    size: int

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.path.rpartition("/")[2]

    @property
    def extension(self) -> str:
        """In small letters and without the dot; empty if there is none."""
        stem, dot, extension = self.name.rpartition(".")
        return extension.lower() if dot and stem and not self.folder else ""


SortKey = Callable[[Entry], Any]


def by_name(entry: Entry) -> Any:
    """Sorts by name, whatever the case."""
    return entry.name.casefold()


def by_date(entry: Entry) -> Any:
    """Sorts by the time of the last change."""
    return entry.modified


def by_size(entry: Entry) -> Any:
    """Sorts by size."""
    return entry.size


def by_type(entry: Entry) -> Any:
    """Sorts by extension, then by name."""
    return entry.extension, entry.name.casefold()


def entries(storage: Storage, folder: str) -> list[Entry]:
    """What is in a folder; hidden names are left out."""
    return [_entry(storage, f"{folder}/{name}") for name in storage.listdir(folder) if not name.startswith(".")]


def _entry(storage: Storage, path: str) -> Entry:
    folder = storage.is_dir(path)
    return Entry(path, folder, storage.modified(path), 0 if folder else storage.size(path))


def search(storage: Storage, folder: str, words: str) -> Iterator[Entry]:
    """Entries at any depth below a folder whose name has `words` in it, whatever the case."""
    for entry in entries(storage, folder):
        if words.casefold() in entry.name.casefold():
            yield entry
        if entry.folder:
            yield from search(storage, entry.path, words)


def folder_name(path: str) -> str:
    """What a folder is called on screens."""
    return DEVICE if path == SHARED else path.rpartition("/")[2]


def is_name(name: str) -> bool:
    """Whether a file can be called `name`."""
    return bool(name) and "/" not in name and name not in (".", "..") and len(name.encode()) <= MAX_NAME


def name_error(storage: Storage, folder: str, name: str) -> str:
    """Why nothing new in a folder can be called `name`; empty if it can."""
    if not is_name(name):
        return "That name can't be used"
    return f"{name} already exists" if storage.exists(f"{folder}/{name}") else ""


def free_path(storage: Storage, folder: str, name: str) -> str:
    """A path in a folder for something called `name`: with a number if the name is taken."""
    stem, dot, extension = name.rpartition(".")
    stem, extension = (stem, dot + extension) if stem else (name, "")
    path, number = f"{folder}/{name}", 0
    while storage.exists(path):
        number += 1
        path = f"{folder}/{stem} ({number}){extension}"
    return path


def move_into(storage: Storage, paths: list[str], folder: str) -> None:
    """Moves files and folders into a folder; what lies there already, or above it, stays."""
    for path in paths:
        if path.rpartition("/")[0] != folder and not f"{folder}/".startswith(f"{path}/"):
            storage.move(path, free_path(storage, folder, path.rpartition("/")[2]))


def copy_into(storage: Storage, paths: list[str], folder: str) -> None:
    """Copies files and folders into a folder."""
    for path in paths:
        if not f"{folder}/".startswith(f"{path}/"):
            storage.copy(path, free_path(storage, folder, path.rpartition("/")[2]))


def size_text(size: int) -> str:
    """A file size as Android writes it: ``512 B``, ``2.05 kB``, ``14 kB``, ``3.20 MB``."""
    if size < 1000:
        return f"{size} B"
    value, unit = (size / 1e3, "kB") if size < 999_500 else (size / 1e6, "MB")
    return f"{value:.2f} {unit}" if value < 9.995 else f"{value:.0f} {unit}"


def may_create(screen: Screen, folder: str, name: str) -> bool:
    """Whether something new in a folder can be called `name`; if not, a screen says why."""
    error = name_error(screen.phone.storage, folder, name)
    if error:
        screen.notify(error)
    return not error


def renamed(screen: Screen, path: str, name: str) -> str:
    """Gives a file or folder another name in its folder, if that is free; if not, a screen says why.

    Returns:
        Where it is now.
    """
    folder, _, old = path.rpartition("/")
    if name == old or not may_create(screen, folder, name):
        return path
    screen.phone.storage.move(path, f"{folder}/{name}")
    return f"{folder}/{name}"


class FolderScreen(SelectionPage[str]):
    """A screen that shows one folder at a time, lets some entries be selected, and searches below it.

    Args:
        root: the highest folder that can be shown; the first one shown.
    """

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = self.folder = root
        self.query: TextInput | None = None
        self.sort: SortKey = by_name
        self.descending = False

    def listed(self) -> list[Entry]:
        """The entries to show: of the folder or, during a search, those found; folders first."""
        storage = self.phone.storage
        words = self.query.text.strip() if self.query else ""
        found = search(storage, self.folder, words) if words else entries(storage, self.folder)
        in_order = sorted(sorted(found, key=by_name), key=self.sort, reverse=self.descending)
        return sorted(in_order, key=lambda entry: not entry.folder)

    def sort_by(self, sort: SortKey, descending: bool = False) -> None:
        """Puts the entries into another order."""
        self.sort, self.descending = sort, descending

    def ask_order(self, orders: Mapping[str, tuple[SortKey, bool]]) -> None:
        """Asks for one of some orders: what is compared, and whether the largest comes first, by label."""
        current = next(label for label, order in orders.items() if order == (self.sort, self.descending))
        self.push(Choice("Sort by", list(orders), lambda label: self.sort_by(*orders[label]), current))

    def enter(self, folder: str) -> None:
        """Shows another folder."""
        self.folder, self.query, self.selected = folder, None, []

    def select_all(self) -> None:
        """Selects all entries that are listed."""
        self.selected = [entry.path for entry in self.listed()]

    def start_search(self) -> None:
        """Shows an empty search field with the cursor in it."""
        self.query = TextInput()
        self.focus(self.query)

    def end_search(self) -> None:
        """Shows the folder again."""
        self.query = None

    def ask_rename(self) -> None:
        """Asks for another name for what is selected."""
        path = self.selected[0]
        self.ask("Rename", lambda name: self._rename(path, name), path.rpartition("/")[2], "Name")

    def _rename(self, path: str, name: str) -> None:
        renamed(self, path, name.strip())
        self.unselect()

    def delete_selected(self) -> None:
        """Deletes what is selected, folders with all that is in them."""
        for path in self.selected:
            self.phone.storage.remove(path)
        self.unselect()

    def move_selected(self, folder: str) -> None:
        """Moves what is selected into a folder."""
        move_into(self.phone.storage, self.selected, folder)
        self.unselect()

    def copy_selected(self, folder: str) -> None:
        """Copies what is selected into a folder."""
        copy_into(self.phone.storage, self.selected, folder)
        self.unselect()

    def up(self) -> None:
        """Shows the folder above, if it may."""
        if not self.at_root:
            self.enter(self.folder.rpartition("/")[0])

    @property
    def at_root(self) -> bool:
        """Whether no higher folder can be shown."""
        return self.folder == self.root

    def on_back(self) -> bool:
        if super().on_back():
            return True
        if self.query is not None:
            self.end_search()
        elif not self.at_root:
            self.up()
        else:
            return False
        return True
